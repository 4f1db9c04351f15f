// What libFuzzer calls, for each input of a fuzzer whose inputs are held to a time.

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fuzz/timing/timed_input.hpp"

extern char** environ;

namespace {

namespace fs = std::filesystem;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

/// Beside this program, which is `fuzz_NAME`.
fs::path timing_program() {
  const auto self = fs::read_symlink("/proc/self/exe");
  return self.parent_path() / ("time_" + self.filename().string().substr(sizeof("fuzz_") - 1));
}

/// The child's status when it has ended; libFuzzer's clock interrupts the wait.
int status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) != child)
    if (errno != EINTR) give_up("nothing to wait for");
  return status;
}

bool is_slow_without_sanitizers(const uint8_t* data, size_t size) {
  static const auto program = timing_program().string();
  static auto path = (fs::temp_directory_path() / ("input-" + std::to_string(getpid()))).string();
  std::ofstream{path, std::ios::binary}.write(reinterpret_cast<const char*>(data),
                                              static_cast<std::streamsize>(size));
  char* argv[] = {const_cast<char*>(program.c_str()), path.data(), nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, program.c_str(), nullptr, nullptr, argv, environ) != 0) {
    give_up(program + " cannot be started");
  }
  const int status = status_of(child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) give_up(program + " did not time an input");
  fs::remove(path);
  return WEXITSTATUS(status) == 1;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace moxzi::fuzz;
  if (input_ms(data, size) > input_ms_max && is_slow_without_sanitizers(data, size)) {
    give_up("an input of " + std::to_string(size) + " bytes takes more than "
            + std::to_string(static_cast<int>(input_ms_max)) + " ms");
  }
  return 0;
}
