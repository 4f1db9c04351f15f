#include "device/cuda/compiler.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <nvrtc.h>

namespace moxzi::device::cuda {

namespace {

void expect(nvrtcResult got) {
  if (got != NVRTC_SUCCESS)
    throw std::runtime_error(fmt::format("NVRTC: {}", nvrtcGetErrorString(got)));
}

/// Destroys a program when it goes out of scope.
struct program_guard {
  nvrtcProgram program = nullptr;
  ~program_guard() {
    nvrtcDestroyProgram(&program);
  }
};

} // namespace

std::string compile(const std::string& source, const std::string& architecture) {
  program_guard made;
  expect(nvrtcCreateProgram(&made.program, source.c_str(), "chain.cu", 0, nullptr, nullptr));
  const auto target = "--gpu-architecture=" + architecture;
  const char* options[] = {target.c_str(), "--std=c++17", "-default-device"};
  if (const auto got = nvrtcCompileProgram(made.program, 3, options); got != NVRTC_SUCCESS) {
    size_t size = 0;
    expect(nvrtcGetProgramLogSize(made.program, &size));
    std::string log(size, '\0');
    expect(nvrtcGetProgramLog(made.program, log.data()));
    throw std::runtime_error(fmt::format("NVRTC: {}: {}", nvrtcGetErrorString(got), log));
  }
  size_t size = 0;
  expect(nvrtcGetPTXSize(made.program, &size));
  std::string ptx(size, '\0');
  expect(nvrtcGetPTX(made.program, ptx.data()));
  return ptx;
}

} // namespace moxzi::device::cuda
