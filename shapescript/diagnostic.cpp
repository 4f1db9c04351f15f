#include "shapescript/diagnostic.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace shapescript {

const label& diagnostic::primary() const {
  const auto found =
    std::find_if(labels.begin(), labels.end(), [](const label& one) { return one.primary; });
  moxzi_assert(found != labels.end(), "code={}", code);
  return *found;
}

} // namespace shapescript
