#pragma once

#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace moxzi::actors::testing {

/// What this process holds in memory.
inline size_t resident_bytes() {
  std::ifstream statm{"/proc/self/statm"};
  size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace moxzi::actors::testing
