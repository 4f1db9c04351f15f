#include "device/backend.hpp"

#include <fmt/format.h>

#include "device/collectives/collectives.hpp"

namespace moxzi::device {

byte_string backend::new_group(fault& why) {
  why = {device_errc::op_unsupported, fmt::format("{} has no group of its own", info().kind)};
  return {};
}

std::unique_ptr<collectives> backend::join_group(byte_view, uint32_t, uint32_t, fault& why) {
  why = {device_errc::op_unsupported, fmt::format("{} has no group of its own", info().kind)};
  return nullptr;
}

} // namespace moxzi::device
