#include "shapescript/report/diagnostic.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace shapescript {

const label& diagnostic::primary() const {
  const auto found =
    std::find_if(labels.begin(), labels.end(), [](const label& one) { return one.primary; });
  moxzi_assert(found != labels.end(), "code={}", code);
  return *found;
}

void sort_by_place(std::vector<diagnostic>& all) {
  std::stable_sort(all.begin(), all.end(), [](const diagnostic& x, const diagnostic& y) {
    return x.primary().where.begin < y.primary().where.begin;
  });
}

std::span<const registered_code> all_codes() noexcept {
  static constexpr registered_code codes[] = {
#define CODE(code, title) {#code, title},
#include "shapescript/report/diagnostic.def"
#undef CODE
  };
  return codes;
}

} // namespace shapescript
