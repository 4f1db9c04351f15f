// libmoxzi_cuda.so: a GPU as a device.

#include <charconv>
#include <exception>

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <torch/headeronly/version.h>

#include "device/aten/backend.hpp"
#include "device/cuda/chains.hpp"
#include "device/cuda/draw_words.hpp"
#include "device/cuda/nccl_group.hpp"

namespace moxzi::device::aten {

namespace {

class graph final : public recording {
public:
  void replay() override {
    graph_.replay();
  }
  at::cuda::CUDAGraph graph_;
};

/// One GPU, with a stream of its own.
class gpu final : public aten_place {
public:
  explicit gpu(int index)
      : device_(at::kCUDA, static_cast<c10::DeviceIndex>(index)),
        stream_(c10::cuda::getStreamFromPool(false, static_cast<c10::DeviceIndex>(index))),
        kernels_(index) {
    // nop
  }

  at::Device device() const override {
    return device_;
  }

  void enter(const std::function<void()>& work) override {
    c10::cuda::CUDAStreamGuard current(stream_);
    work();
    // Host memory that was handed over for a copy is the caller's again, and a failed kernel is
    // reported by the call that launched it.
    stream_.synchronize();
  }

  chain_function make_chain(const pointwise_chain& what) override {
    return cuda::make_chain(what, kernels_);
  }

  words_function words() override {
    return cuda::make_words(kernels_);
  }

  std::unique_ptr<recording> record(const std::function<void()>& work) override {
    auto made = std::make_unique<graph>();
    made->graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    bool whole = true;
    try {
      work();
    } catch (const c10::Error&) {
      whole = false; // it waits for the device, or copies from the host
    }
    try {
      made->graph_.capture_end();
    } catch (const c10::Error&) {
      whole = false;
    }
    cudaGetLastError(); // a capture that failed leaves its mark
    return whole ? std::move(made) : nullptr;
  }

  byte_string new_group(fault& why) override {
    return cuda::new_nccl_group(why);
  }
  std::unique_ptr<collectives> join_group(byte_view id, uint32_t size, uint32_t rank,
                                          fault& why) override {
    return cuda::join_nccl_group(id, size, rank, stream_, why);
  }

private:
  at::Device device_;
  c10::cuda::CUDAStream stream_;
  cuda::kernels kernels_;
};

std::string reason(cudaError_t code) {
  return fmt::format("{} (CUDA error {})", cudaGetErrorString(code), static_cast<int>(code));
}

/// The number in `cuda:N`; `cuda` alone is the first.
std::optional<int> index_of(std::string_view kind) {
  const auto colon = kind.find(':');
  if (colon == std::string_view::npos) return 0;
  const auto digits = kind.substr(colon + 1);
  int index = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (failed != std::errc{} || end != digits.data() + digits.size() || index < 0)
    return std::nullopt;
  return index;
}

/// The driver's own words if there is no such GPU, else null.
std::unique_ptr<backend> open(const backend_options& options, std::string& why) {
  const auto index = index_of(options.kind);
  if (!index) {
    why = fmt::format("'{}' is no kind of device; cuda:N wanted", options.kind);
    return nullptr;
  }
  int count = 0;
  if (auto code = cudaGetDeviceCount(&count); code != cudaSuccess) {
    why = reason(code);
    return nullptr;
  }
  if (*index >= count) {
    why = fmt::format("{} (this machine has {} of them, counted from 0)",
                      reason(cudaErrorInvalidDevice), count);
    return nullptr;
  }
  cudaDeviceProp properties{};
  if (auto code = cudaGetDeviceProperties(&properties, *index); code != cudaSuccess) {
    why = reason(code);
    return nullptr;
  }
  backend_info info;
  info.kind = fmt::format("cuda:{}", *index);
  info.name = properties.name;
  info.version = fmt::format("libtorch " TORCH_VERSION ", CUDA {}.{}", CUDART_VERSION / 1000,
                             CUDART_VERSION % 1000 / 10);
  info.memory_bytes = properties.totalGlobalMem;
  info.parameter_types = {elem::f32, elem::f64};
  // Products in full f32: the tolerances that are promised do not hold with fewer bits.
  at::globalContext().setAllowTF32CuBLAS(false);
  at::globalContext().setAllowTF32CuDNN(false);
  // Kernels that give the same digits every time, where there are such.
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(false);
  at::globalContext().lazyInitDevice(at::kCUDA);
  auto place = std::make_unique<gpu>(*index);
  // The first kernel shows whether the library has code for this card.
  place->enter([&place] {
    c10::InferenceMode no_gradients;
    at::zeros({1}, at::TensorOptions().device(place->device())).add_(1);
  });
  return make_backend(std::move(place), std::move(info));
}

} // namespace

} // namespace moxzi::device::aten

extern "C" {

__attribute__((visibility("default"))) uint32_t moxzi_device_plugin_version() {
  return moxzi::device::plugin_version;
}

__attribute__((visibility("default"))) moxzi::device::backend*
moxzi_device_open(const moxzi::device::backend_options* options, std::string* why) {
  try {
    return moxzi::device::aten::open(*options, *why).release();
  } catch (const c10::Error& e) {
    *why = e.what_without_backtrace();
  } catch (const std::exception& e) {
    *why = e.what();
  }
  return nullptr;
}

} // extern "C"
