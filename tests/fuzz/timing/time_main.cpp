// time_NAME FILE…: how long the fuzzer NAME takes for each input, without sanitizers; exit code 1
// if one takes too long. The best of a few attempts counts: what the input cannot help (a cold
// cache, the other half of the core) only ever adds.

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/fuzz/timing/timed_input.hpp"

int main(int argc, char** argv) {
  using namespace moxzi::fuzz;
  constexpr int attempts_max = 5;
  bool is_slow = false;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file{argv[i], std::ios::binary};
    if (!file) {
      std::fprintf(stderr, "%s: cannot be read\n", argv[i]);
      return 2;
    }
    const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    double best_ms = 0;
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
      const auto ms = input_ms(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
      best_ms = attempt == 0 ? ms : std::min(best_ms, ms);
      if (best_ms <= input_ms_max) break;
    }
    std::printf("%s: %zu bytes, %.1f ms\n", argv[i], bytes.size(), best_ms);
    is_slow = is_slow || best_ms > input_ms_max;
  }
  return is_slow ? 1 : 0;
}
