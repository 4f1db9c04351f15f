#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace moxzi {

void assertion_failed(const char* condition, const char* file, int line, std::string_view values) {
  fmt::print(stderr, "{}:{}: assertion failed: {} {}\n", file, line, condition, values);
  std::fflush(stderr);
  std::abort();
}

} // namespace moxzi
