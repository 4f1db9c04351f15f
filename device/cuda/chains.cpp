#include "device/cuda/chains.hpp"

#include "device/pointwise/gpu_source.hpp"

namespace moxzi::device::cuda {

namespace {

pointwise::gpu_arguments arguments_of(const aten::aten_call& call) {
  pointwise::gpu_arguments with;
  auto& shape = call.outputs[0];
  with.elements = shape.numel();
  with.rank = shape.dim();
  for (int64_t i = 0; i < shape.dim(); i++) with.sizes[static_cast<size_t>(i)] = shape.size(i);
  for (size_t n = 0; n < call.inputs.size(); n++) {
    auto& x = call.inputs[n];
    with.inputs[n] = x.const_data_ptr();
    if (x.is_contiguous()) continue;
    with.gaps |= uint64_t{1} << n;
    for (int64_t i = 0; i < x.dim(); i++) with.strides[n][static_cast<size_t>(i)] = x.stride(i);
  }
  for (size_t n = 0; n < call.outputs.size(); n++) with.outputs[n] = call.outputs[n].data_ptr();
  return with;
}

std::vector<elem> elems_of(const std::vector<at::Tensor>& tensors) {
  std::vector<elem> out;
  for (auto& x : tensors) out.push_back(aten::elem_of(x.scalar_type()));
  return out;
}

} // namespace

aten::chain_function make_chain(const pointwise_chain& what, kernels& on) {
  // Which elements its tensors have is known with the first call.
  return [&on, &what, kernel = cudaKernel_t{}](const aten::aten_call& call) mutable {
    if (call.outputs[0].numel() == 0) return;
    if (!kernel)
      kernel = on.find(pointwise::gpu_source(what, elems_of(call.inputs), elems_of(call.outputs)),
                       "chain");
    auto with = arguments_of(call);
    on.launch(kernel, with.elements, with);
  };
}

} // namespace moxzi::device::cuda
