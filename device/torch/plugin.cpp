// libmoxzi_torch.so: the processor as a device.

#include <algorithm>
#include <exception>
#include <fstream>
#include <new>
#include <thread>

#include <ATen/Version.h>
#include <c10/core/InferenceMode.h>
#include <torch/headeronly/version.h>
#include <unistd.h>

#include "device/aten/host.hpp"
#include "device/ops/table.hpp"
#include "device/pointwise/chain.hpp"
#include "device/torch/gemm.hpp"
#include "device/torch/kernels.hpp"
#include "device/torch/optimizer.hpp"

namespace moxzi::device::torch {

kernel_function find_kernel(op id, elem type) noexcept {
  if (auto* kernel = find_shape_kernel(id)) return kernel;
  if (auto* kernel = find_picking_kernel(id)) return kernel;
  // Half precision has no loops of our own that compute.
  if (type == elem::f16 || type == elem::bf16) return aten::find_host_kernel(id);
  for (auto find : {find_linear_kernel, find_matmul_kernel, find_indexing_kernel,
                    find_normalisation_kernel, find_attention_kernel, find_conv_kernel,
                    find_pooling_kernel, find_loss_kernel, find_recurrent_kernel})
    if (auto* kernel = find(id)) return kernel;
  if (auto* kernel = find_reduction_kernel(id, type)) return kernel;
  if (auto* kernel = find_random_kernel(id)) return kernel;
  return aten::find_host_kernel(id);
}

namespace {

const host_kernels kernels{.find = find_kernel,
                           .add = add,
                           .finite = finite,
                           .bound = bound,
                           .sum_of_squares = sum_of_squares,
                           .step = step};

/// Tells libtorch how many threads this plan has, and stops what it throws.
class cpu_executable final : public executable {
public:
  cpu_executable(std::unique_ptr<executable> body, uint32_t threads)
      : body_(std::move(body)), threads_(threads) {
    // nop
  }

  std::optional<fault> run(const run_arguments& with, run_results& out) override {
    try {
      c10::InferenceMode no_gradients;
      use_threads(threads_);
      return body_->run(with, out);
    } catch (const std::bad_alloc&) {
      return fault{device_errc::out_of_memory, "the host has no memory left"};
    } catch (const std::exception& e) {
      return fault{device_errc::device_failed, e.what()};
    }
  }

  uint64_t memory_bytes() const noexcept override {
    return body_->memory_bytes();
  }

private:
  std::unique_ptr<executable> body_;
  uint32_t threads_;
};

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name"))
      if (auto at = line.find(": "); at != std::string::npos) return line.substr(at + 2);
  return "processor";
}

class cpu_backend final : public backend {
public:
  explicit cpu_backend(uint32_t threads) {
    info_.kind = "cpu";
    info_.name = processor_name();
    info_.version = "libtorch " TORCH_VERSION;
    info_.memory_bytes = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)))
                         * static_cast<uint64_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
    info_.threads = threads;
    info_.parameter_types = {elem::f32, elem::f64};
  }

  const backend_info& info() const noexcept override {
    return info_;
  }

  bool supports(op id) const noexcept override {
    if (id == chain_op) return true;
    auto* how = find_row(id);
    if (!how) return false;
    if (how->runs == row_runs::pointwise) return pointwise::find_f32(id) != nullptr;
    return how->runs != row_runs::kernel || find_kernel(id, elem::f32);
  }

  buffer_ptr allocate(uint64_t bytes, fault& why) override {
    return allocate_host(bytes, why);
  }

  std::optional<fault> write(buffer& to, uint64_t offset, byte_view from) override {
    std::copy(from.begin(), from.end(), static_cast<char*>(to.data) + offset);
    return std::nullopt;
  }

  std::optional<fault> read(const buffer& from, uint64_t offset, uint64_t bytes,
                            byte_string& to) override {
    try {
      to.assign(static_cast<const char*>(from.data) + offset, bytes);
      return std::nullopt;
    } catch (const std::exception& e) {
      return fault{device_errc::out_of_memory, e.what()};
    }
  }

  std::unique_ptr<executable> prepare(const plan& what, fault& why) override {
    try {
      const uint32_t threads = what.parallel ? info_.threads : 1;
      auto body = make_host_executable(what, kernels, threads, why);
      if (!body) return nullptr;
      return std::make_unique<cpu_executable>(std::move(body), threads);
    } catch (const std::exception& e) {
      why = {device_errc::out_of_memory, e.what()};
      return nullptr;
    }
  }

private:
  backend_info info_;
};

} // namespace

} // namespace moxzi::device::torch

extern "C" {

__attribute__((visibility("default"))) uint32_t moxzi_device_plugin_version() {
  return moxzi::device::plugin_version;
}

__attribute__((visibility("default"))) moxzi::device::backend*
moxzi_device_open(const moxzi::device::backend_options* options, std::string* why) {
  try {
    const uint32_t all = std::max(1u, std::thread::hardware_concurrency());
    return new moxzi::device::torch::cpu_backend(options->threads ? options->threads : all);
  } catch (const std::exception& e) {
    *why = e.what();
    return nullptr;
  }
}

} // extern "C"
