#include "device/aten/backend.hpp"

#include <c10/core/InferenceMode.h>

#include "base/assert.hpp"
#include "device/aten/executable.hpp"
#include "device/collectives/collectives.hpp"
#include "device/ops/table.hpp"
#include "device/pointwise/chain.hpp"

namespace moxzi::device::aten {

namespace {

/// Runs `work` on the device; what ATen throws becomes a fault.
template <class Work>
std::optional<fault> guarded(aten_place& place, const Work& work) {
  try {
    place.enter([&work] {
      c10::InferenceMode no_gradients;
      work();
    });
    return std::nullopt;
  } catch (const c10::OutOfMemoryError& e) {
    return fault{device_errc::out_of_memory, e.what_without_backtrace()};
  } catch (const c10::Error& e) {
    return fault{device_errc::device_failed, e.what_without_backtrace()};
  } catch (const std::bad_alloc&) {
    return fault{device_errc::out_of_memory, "the host has no memory left"};
  } catch (const std::exception& e) {
    return fault{device_errc::device_failed, e.what()};
  }
}

class aten_buffer final : public buffer {
public:
  aten_buffer(at::Tensor memory, uint64_t size) : memory_(std::move(memory)) {
    bytes = size;
    data = size > 0 ? memory_.data_ptr() : nullptr;
  }

  at::Tensor part(uint64_t offset, uint64_t length) const {
    return memory_.narrow(0, static_cast<int64_t>(offset), static_cast<int64_t>(length));
  }

private:
  at::Tensor memory_;
};

at::Tensor host_bytes(const char* data, uint64_t bytes) {
  return at::from_blob(const_cast<char*>(data), {static_cast<int64_t>(bytes)},
                       at::TensorOptions().dtype(at::kByte));
}

class guarded_executable final : public executable {
public:
  guarded_executable(std::shared_ptr<aten_place> place, std::unique_ptr<aten_executable> body)
      : place_(std::move(place)), body_(std::move(body)) {
    // nop
  }

  std::optional<fault> run(const run_arguments& with, run_results& out) override {
    std::optional<fault> mine;
    auto thrown = guarded(*place_, [this, &mine, &with, &out] { mine = body_->run(with, out); });
    return thrown ? thrown : mine;
  }

  uint64_t memory_bytes() const noexcept override {
    return body_->memory_bytes();
  }

private:
  std::shared_ptr<aten_place> place_;
  std::unique_ptr<aten_executable> body_;
};

class aten_backend final : public backend {
public:
  aten_backend(std::unique_ptr<aten_place> place, backend_info info)
      : place_(std::move(place)), info_(std::move(info)),
        chains_(place_->make_chain({dtype::f32, {{op::neg, dtype::f32, {0}, {}}}, {0}})
                != nullptr) {
    // nop
  }

  const backend_info& info() const noexcept override {
    return info_;
  }

  bool supports(op id) const noexcept override {
    if (id == chain_op) return chains_;
    auto* how = find_row(id);
    if (!how) return false;
    if (how->runs == row_runs::pointwise) return chains_ && pointwise::find_f32(id) != nullptr;
    return how->runs != row_runs::kernel || find_kernel(id);
  }

  buffer_ptr allocate(uint64_t bytes, fault& why) override {
    buffer_ptr made;
    auto failed = guarded(*place_, [this, bytes, &made] {
      const auto options = at::TensorOptions().dtype(at::kByte).device(place_->device());
      made =
        std::make_shared<aten_buffer>(at::zeros({static_cast<int64_t>(bytes)}, options), bytes);
    });
    if (failed) why = std::move(*failed);
    return made;
  }

  std::optional<fault> write(buffer& to, uint64_t offset, byte_view from) override {
    if (from.empty()) return std::nullopt;
    return guarded(*place_, [&to, offset, from] {
      static_cast<aten_buffer&>(to)
        .part(offset, from.size())
        .copy_(host_bytes(from.data(), from.size()));
    });
  }

  std::optional<fault> read(const buffer& from, uint64_t offset, uint64_t bytes,
                            byte_string& to) override {
    return guarded(*place_, [&from, offset, bytes, &to] {
      to.resize(bytes);
      if (bytes > 0)
        host_bytes(to.data(), bytes)
          .copy_(static_cast<const aten_buffer&>(from).part(offset, bytes));
    });
  }

  byte_string new_group(fault& why) override {
    return place_->new_group(why);
  }

  std::unique_ptr<collectives> join_group(byte_view id, uint32_t size, uint32_t rank,
                                          fault& why) override {
    std::unique_ptr<collectives> made;
    const auto failed = guarded(*place_, [&] { made = place_->join_group(id, size, rank, why); });
    if (failed) why = *failed;
    return made;
  }

  std::unique_ptr<executable> prepare(const plan& what, fault& why) override {
    std::unique_ptr<aten_executable> body;
    auto failed = guarded(*place_, [this, &what, &body] {
      for (auto& one : what.instructions)
        moxzi_assert(one.id == chain_op || find_kernel(one.id), "id={}", static_cast<int>(one.id));
      body = std::make_unique<aten_executable>(what, *place_);
    });
    if (failed) {
      why = std::move(*failed);
      return nullptr;
    }
    return std::make_unique<guarded_executable>(place_, std::move(body));
  }

private:
  std::shared_ptr<aten_place> place_;
  backend_info info_;
  bool chains_; ///< whether the place runs pointwise operations
};

} // namespace

std::unique_ptr<backend> make_backend(std::unique_ptr<aten_place> place, backend_info info) {
  return std::make_unique<aten_backend>(std::move(place), std::move(info));
}

} // namespace moxzi::device::aten
