#pragma once

#include <map>
#include <memory>
#include <string>

#include <cuda_runtime_api.h>

#include "device/aten/kernels.hpp"

namespace moxzi::device::cuda {

/// Chains of pointwise operations as kernels of one GPU, compiled when they are first launched and
/// kept by their code.
class chain_kernels {
public:
  explicit chain_kernels(int device);
  ~chain_kernels();
  chain_kernels(const chain_kernels&) = delete;
  chain_kernels& operator=(const chain_kernels&) = delete;

  /// Launches on the current stream. Neither the chain nor this may go away before the function.
  aten::chain_function make(const pointwise_chain& what);

private:
  cudaKernel_t kernel_of(const std::string& source);

  std::string architecture_;
  int blocks_max_ = 1;
  std::map<std::string, std::pair<cudaLibrary_t, cudaKernel_t>> kernels_; ///< by source
};

} // namespace moxzi::device::cuda
