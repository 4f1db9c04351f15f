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
  run_program out{space_, what.what().request};
  out.request.inputs = std::move(inputs);
  return out;
}

run_program device_handle::to_read(const std::vector<std::string>& names) const {
  program_builder p;
  answers wanted;
  for (auto& name : names) wanted.tensors.push_back(p.param(name));
  // Nothing here can be wrong: each value is of this builder.
  return {space_, p.answering(wanted)->request};
}

} // namespace moxzi::device
