// Calls of the device's methods: a reader that has seen other calls answers as a fresh one does,
// and what was read is written to a message that reads the same. The first byte chooses the method.

#include <array>
#include <cstdlib>

#include "actors/management/device_interface.hpp"

using namespace moxzi;
using namespace moxzi::actors::management;

namespace {

constexpr std::array<std::string_view, 3> methods = {"moxzi_device_params",
                                                     "moxzi_device_optimizer", "moxzi_device_run"};

/// What was read, as bytes of a fixed form; else the refusal.
std::string outcome(device_interface& reader, std::string_view method, byte_view argument) {
  const auto got = reader.decode(method, argument);
  return got ? encode_argument(*got) : got.error().message;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static device_interface experienced;
  device_interface fresh;
  const auto method = methods[data[0] % methods.size()];
  const byte_view argument{reinterpret_cast<const char*>(data) + 1, size - 1};
  const auto first = outcome(fresh, method, argument);
  if (outcome(experienced, method, argument) != first) std::abort();
  if (first.starts_with("DIDL") && outcome(fresh, method, first) != first) std::abort();
  return 0;
}
