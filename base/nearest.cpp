#include "base/nearest.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace moxzi {

namespace {

// Optimal string alignment distance.
size_t edit_distance(std::string_view x, std::string_view y) {
  std::vector<size_t> before(y.size() + 1), above(y.size() + 1), row(y.size() + 1);
  for (size_t j = 0; j <= y.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= x.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= y.size(); ++j) {
      const size_t cost = x[i - 1] == y[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + cost});
      if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[y.size()];
}

} // namespace

std::optional<std::string_view> nearest(std::string_view name,
                                        std::span<const std::string_view> known) {
  constexpr size_t name_bytes_max = 128; // longer ones are no typing mistake
  std::optional<std::string_view> best;
  size_t best_distance = 0;
  if (name.size() > name_bytes_max) return best;
  for (const auto candidate : known) {
    if (candidate.size() > name_bytes_max) continue;
    const auto distance = edit_distance(name, candidate);
    const auto bound = std::max<size_t>(1, std::max(name.size(), candidate.size()) / 3);
    if (distance <= bound && (!best || distance < best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  const auto best = nearest(name, known);
  return best ? fmt::format("; did you mean '{}'?", *best) : std::string{};
}

} // namespace moxzi
