#pragma once

#include <functional>
#include <memory>

#include <ATen/ATen.h>

#include "device/aten/kernels.hpp"
#include "device/backend.hpp"

/// A backend made of ATen's operators.
namespace moxzi::device::aten {

/// Work that was recorded on a device and can be launched again as a whole.
class recording {
public:
  virtual ~recording() = default;
  virtual void replay() = 0;
};

/// The device on which ATen is to work.
class aten_place {
public:
  virtual ~aten_place() = default;
  virtual at::Device device() const = 0;
  /// Runs `work` with the device and its stream made current; what is launched is in order.
  virtual void enter(const std::function<void()>& work) = 0;
  /// Makes a chain of pointwise operations ready; null if this place runs none.
  virtual chain_function make_chain(const pointwise_chain& what) = 0;
  /// Draws the words of Philox; null where ATen's operators are to.
  virtual words_function words() {
    return nullptr;
  }
  /// Records what `work` launches, without running it; null if that can't be done here, or with
  /// this work. Called inside `enter`.
  virtual std::unique_ptr<recording> record(const std::function<void()>& work) = 0;
  /// As the backend's.
  virtual byte_string new_group(fault& why) = 0;
  virtual std::unique_ptr<collectives> join_group(byte_view id, uint32_t size, uint32_t rank,
                                                  fault& why) = 0;
};

/// Makes the backend. `info` describes the place.
std::unique_ptr<backend> make_backend(std::unique_ptr<aten_place> place, backend_info info);

} // namespace moxzi::device::aten
