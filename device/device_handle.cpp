#include "device/device_handle.hpp"

namespace moxzi::device {

prepare_program device_handle::to_prepare(const runnable& what) const {
  prepare_program out{space_, what.request};
  for (auto& type : what.inputs) {
    tensor input{byte_string(static_cast<size_t>(type.dims.elements()) * size_of(type.type), '\0'),
                 type.type,
                 {}};
    for (auto size : type.dims.sizes()) input.dims.push_back(static_cast<uint32_t>(size));
    out.request.inputs.push_back(std::move(input));
  }
  return out;
}

run_program device_handle::to_run(const compiled_program& what, std::vector<tensor> inputs) const {
  if (!what) return {space_, {}};
  run_program out{space_, what.what().request, what.shared()};
  out.request.inputs = std::move(inputs);
  return out;
}

} // namespace moxzi::device
