#pragma once

#include <map>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

namespace moxzi::device::cuda {

/// Kernels of one GPU, compiled when they are first asked for and kept by their code.
class kernels {
public:
  explicit kernels(int device);
  ~kernels();
  kernels(const kernels&) = delete;
  kernels& operator=(const kernels&) = delete;

  /// The kernel `name` of `source`, which defines no other; throws what ATen throws.
  cudaKernel_t find(const std::string& source, const char* name);
  /// Launches on the current stream for so many elements; each thread takes every so-manieth.
  /// `arguments` is passed by value, and laid out as in the source.
  template <class Arguments>
  void launch(cudaKernel_t kernel, int64_t elements, Arguments& arguments) const {
    void* parameters[] = {&arguments};
    launch(kernel, elements, parameters);
  }

private:
  void launch(cudaKernel_t kernel, int64_t elements, void** parameters) const;

  std::string architecture_;
  int blocks_max_ = 1;
  std::map<std::string, std::pair<cudaLibrary_t, cudaKernel_t>> kept_; ///< by source
};

} // namespace moxzi::device::cuda
