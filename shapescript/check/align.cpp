#include "shapescript/check/align.hpp"

#include <algorithm>

namespace shapescript {

namespace {

constexpr size_t no_place = SIZE_MAX;

std::ptrdiff_t count_named(const std::vector<axis>& axes, size_t end, const std::string& name) {
  return std::count_if(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](const axis& one) { return one.name == name; });
}

} // namespace

alignment align_axes(const std::vector<axis>& longer, const std::vector<axis>& shorter) {
  alignment out;
  out.places.assign(shorter.size(), no_place);
  size_t i = longer.size();
  size_t j = shorter.size();
  size_t passed = 0; // axes of the longer value since the last that met by name
  while (i > 0 && j > 0) {
    const auto& a = longer[i - 1];
    const auto& b = shorter[j - 1];
    const bool named = !b.name.empty();
    if (named && a.name == b.name) {
      if (!(a.size == b.size)) {
        out.unequal = {i - 1, j - 1};
        return out;
      }
      out.places[--j] = --i;
      passed = 0;
      continue;
    }
    // Its namesake further left comes first.
    const bool expected =
      named && count_named(longer, i - 1, b.name) >= count_named(shorter, j, b.name);
    const bool either = !named || a.name.empty();
    if (passed == 0 && either && !expected && a.size == b.size) {
      out.places[--j] = --i;
    } else if (!named) {
      out.nameless = {i - 1, j - 1};
      return out;
    } else {
      --i;
      ++passed;
    }
  }
  out.complete = j == 0;
  return out;
}

std::vector<axis> join_axes(const alignment& how, const std::vector<axis>& longer,
                            const std::vector<axis>& shorter) {
  auto out = longer;
  for (size_t j = 0; j < shorter.size(); ++j)
    if (auto& one = out[how.places[j]]; one.name.empty() && !shorter[j].text().empty())
      one = shorter[j];
  return out;
}

} // namespace shapescript
