#include "device/cuda/kernels.hpp"

#include <algorithm>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include "device/cuda/compiler.hpp"

namespace moxzi::device::cuda {

namespace {

constexpr int threads_of_a_block = 256;
constexpr int blocks_of_a_processor = 8;

} // namespace

kernels::kernels(int device) {
  cudaDeviceProp properties{};
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  architecture_ = fmt::format("compute_{}{}", properties.major, properties.minor);
  blocks_max_ = properties.multiProcessorCount * blocks_of_a_processor;
}

kernels::~kernels() {
  for (auto& [source, kept] : kept_) cudaLibraryUnload(kept.first);
}

cudaKernel_t kernels::find(const std::string& source, const char* name) {
  const auto found = kept_.find(source);
  if (found != kept_.end()) return found->second.second;
  std::string why;
  const auto ptx = compile(source, architecture_, why);
  TORCH_CHECK(!ptx.empty(), why);
  std::pair<cudaLibrary_t, cudaKernel_t> made;
  C10_CUDA_CHECK(
    cudaLibraryLoadData(&made.first, ptx.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  C10_CUDA_CHECK(cudaLibraryGetKernel(&made.second, made.first, name));
  kept_.emplace(source, made);
  return made.second;
}

void kernels::launch(cudaKernel_t kernel, int64_t elements, void** parameters) const {
  const auto blocks =
    std::clamp<int64_t>((elements + threads_of_a_block - 1) / threads_of_a_block, 1, blocks_max_);
  C10_CUDA_CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel),
                                  dim3(static_cast<unsigned>(blocks)), dim3(threads_of_a_block),
                                  parameters, 0, c10::cuda::getCurrentCUDAStream()));
}

} // namespace moxzi::device::cuda
