#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

/// What the programs that time training steps have in common.
namespace moxzi::perf {

inline double now_us() {
  const auto t = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(t).count();
}

[[noreturn]] inline void give_up(const std::string& why) {
  fmt::print(stderr, "bench: {}\n", why);
  std::exit(1);
}

/// What is printed in the end. The median leaves out the first tenth of the steps.
struct measured {
  std::vector<double> times_us;
  std::vector<double> losses;
  uint64_t memory_bytes = 0; ///< that the plan holds, where it is known

  void print(std::string_view mode) const {
    std::vector<double> sorted(times_us.begin() + static_cast<ptrdiff_t>(times_us.size() / 10),
                               times_us.end());
    std::sort(sorted.begin(), sorted.end());
    const auto n = sorted.size();
    fmt::print(
      "{{\"mode\":\"{}\",\"steps\":{},\"min_us\":{:.1f},\"median_us\":{:.1f},"
      "\"p90_us\":{:.1f},\"first\":{:.6f},\"at200\":{:.6f},\"last\":{:.6f},\"memory_bytes\":{}}}\n",
      mode, losses.size(), sorted[0], sorted[n / 2], sorted[n * 9 / 10], losses.front(),
      losses[std::min<size_t>(199, losses.size() - 1)], losses.back(), memory_bytes);
  }
};

} // namespace moxzi::perf
