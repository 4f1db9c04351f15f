#include "device/cuda/chains.hpp"

#include <algorithm>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include "device/cuda/compiler.hpp"
#include "device/pointwise/gpu_source.hpp"

namespace moxzi::device::cuda {

namespace {

constexpr int threads_of_a_block = 256;
constexpr int blocks_of_a_processor = 8;

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

chain_kernels::chain_kernels(int device) {
  cudaDeviceProp properties{};
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  architecture_ = fmt::format("compute_{}{}", properties.major, properties.minor);
  blocks_max_ = properties.multiProcessorCount * blocks_of_a_processor;
}

chain_kernels::~chain_kernels() {
  for (auto& [source, kept] : kernels_) cudaLibraryUnload(kept.first);
}

cudaKernel_t chain_kernels::kernel_of(const std::string& source) {
  const auto found = kernels_.find(source);
  if (found != kernels_.end()) return found->second.second;
  std::string why;
  const auto ptx = compile(source, architecture_, why);
  TORCH_CHECK(!ptx.empty(), why);
  std::pair<cudaLibrary_t, cudaKernel_t> made;
  C10_CUDA_CHECK(
    cudaLibraryLoadData(&made.first, ptx.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  C10_CUDA_CHECK(cudaLibraryGetKernel(&made.second, made.first, "chain"));
  kernels_.emplace(source, made);
  return made.second;
}

aten::chain_function chain_kernels::make(const pointwise_chain& what) {
  // Which elements its tensors have is known with the first call.
  return [this, &what, kernel = cudaKernel_t{}](const aten::aten_call& call) mutable {
    if (call.outputs[0].numel() == 0) return;
    if (!kernel)
      kernel =
        kernel_of(pointwise::gpu_source(what, elems_of(call.inputs), elems_of(call.outputs)));
    auto with = arguments_of(call);
    void* parameters[] = {&with};
    const auto blocks = std::clamp<int64_t>(
      (with.elements + threads_of_a_block - 1) / threads_of_a_block, 1, blocks_max_);
    C10_CUDA_CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel),
                                    dim3(static_cast<unsigned>(blocks)), dim3(threads_of_a_block),
                                    parameters, 0, c10::cuda::getCurrentCUDAStream()));
  };
}

} // namespace moxzi::device::cuda
