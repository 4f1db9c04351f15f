#include "device/cuda/compiler.hpp"

#include <fmt/format.h>
#include <nvrtc.h>

namespace moxzi::device::cuda {

namespace {

/// Destroys a program when it goes out of scope.
struct program_guard {
  nvrtcProgram program = nullptr;
  ~program_guard() {
    nvrtcDestroyProgram(&program);
  }
};

/// One of the program's texts: what it is translated to, or the messages.
std::string text_of(nvrtcProgram program, nvrtcResult (*size_of)(nvrtcProgram, size_t*),
                    nvrtcResult (*get)(nvrtcProgram, char*)) {
  size_t size = 0;
  if (size_of(program, &size) != NVRTC_SUCCESS) return {};
  std::string text(size, '\0');
  return get(program, text.data()) == NVRTC_SUCCESS ? text : std::string{};
}

} // namespace

std::string compile(const std::string& source, const std::string& architecture, std::string& why) {
  program_guard made;
  auto got = nvrtcCreateProgram(&made.program, source.c_str(), "chain.cu", 0, nullptr, nullptr);
  const auto target = "--gpu-architecture=" + architecture;
  const char* options[] = {target.c_str(), "--std=c++17", "-default-device"};
  if (got == NVRTC_SUCCESS) got = nvrtcCompileProgram(made.program, 3, options);
  if (got == NVRTC_SUCCESS) return text_of(made.program, nvrtcGetPTXSize, nvrtcGetPTX);
  why = fmt::format("NVRTC: {}: {}", nvrtcGetErrorString(got),
                    text_of(made.program, nvrtcGetProgramLogSize, nvrtcGetProgramLog));
  return {};
}

} // namespace moxzi::device::cuda
