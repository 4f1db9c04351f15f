#include "base/nearest.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace moxzi {

namespace {

// What one changed letter costs; only its case changed costs half.
constexpr size_t letter = 2;

char lower(char x) {
  return x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x;
}

// Optimal string alignment distance, in halves of a letter.
size_t edit_distance(std::string_view x, std::string_view y) {
  std::vector<size_t> before(y.size() + 1), above(y.size() + 1), row(y.size() + 1);
  for (size_t j = 0; j <= y.size(); ++j) above[j] = j * letter;
  for (size_t i = 1; i <= x.size(); ++i) {
    row[0] = i * letter;
    for (size_t j = 1; j <= y.size(); ++j) {
      const auto p = x[i - 1], q = y[j - 1];
      const size_t cost = p == q ? 0 : lower(p) == lower(q) ? letter / 2 : letter;
      row[j] = std::min({above[j] + letter, row[j - 1] + letter, above[j - 1] + cost});
      if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + letter);
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
    const auto longer = std::max(name.size(), candidate.size());
    const auto bound = std::max<size_t>(1, longer / 3) * letter;
    if (distance <= bound && distance < longer * letter && (!best || distance < best_distance)) {
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
