#include <algorithm>

#include "shapescript/lower/costing.hpp"

namespace shapescript {

namespace device = moxzi::device;

namespace {

// The first axis that the devices split by its name.
std::optional<uint32_t> split_axis_of(const device_info& devices,
                                      const std::vector<std::string>& axes) {
  const auto& split = devices.split;
  for (uint32_t i = 0; i < axes.size(); ++i)
    if (std::find(split.begin(), split.end(), axes[i]) != split.end()) return i;
  return std::nullopt;
}

device::placement place_of_input(const device_info& devices, const lowered_input& what) {
  if (what.gradient) return place_of_parameter(devices, what.axes);
  if (what.examples && what.batch) return {device::placed::split, *what.batch};
  if (const auto axis = split_axis_of(devices, what.axes)) return {device::placed::split, *axis};
  if (what.batch) return {device::placed::split, *what.batch};
  return {};
}

} // namespace

device::placement place_of_parameter(const device_info& devices,
                                     const std::vector<std::string>& axes) {
  if (devices.count < 2) return {};
  if (const auto axis = split_axis_of(devices, axes)) return {device::placed::split, *axis};
  // A single number has no shares.
  if (devices.shard_params && !axes.empty()) return {device::placed::sharded};
  return {};
}

device::split_request split_request_of(const typed_tree& program, const lowered& code) {
  const auto& devices = program.devices;
  device::split_request how;
  how.devices = static_cast<uint32_t>(devices.count);
  if (devices.count < 2) return how;
  for (const auto& one : code.inputs) how.inputs.push_back(place_of_input(devices, one));
  for (const auto& one : code.parameters)
    if (const auto place = place_of_parameter(devices, one.axes);
        place.how != device::placed::whole)
      how.parameters[one.name] = place;
  how.wanted = code.split_dims;
  for (const auto& one : code.gradients) {
    device::split_need need{one.at, one.origin};
    // The gradient of a parameter of which a device has its part alone is needed in those parts.
    if (const auto found = how.parameters.find(one.path); found != how.parameters.end()) {
      need.shards = true;
      if (found->second.how == device::placed::split) need.dim = found->second.dim;
    }
    how.needs.push_back(need);
  }
  for (const auto one : code.results) how.needs.push_back({one, code.result_origin});
  for (const auto& call : code.python)
    for (const auto one : call.arguments) how.needs.push_back({one, call.origin});
  return how;
}

} // namespace shapescript
