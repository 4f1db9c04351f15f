#include "tests/fuzz/timing/timed_input.hpp"

#include <ctime>

namespace moxzi::fuzz {

namespace {

double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

} // namespace

double input_ms(const uint8_t* data, size_t size) {
  const auto begin = thread_ms();
  check_input(data, size);
  return thread_ms() - begin;
}

} // namespace moxzi::fuzz
