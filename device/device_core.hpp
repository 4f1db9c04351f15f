#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "device/backend.hpp"
#include "device/program.hpp"

namespace moxzi::device {

/// Limits and seed of one device.
struct core_options {
  uint64_t seed = 0;         ///< of the initial values
  uint64_t memory_bytes = 0; ///< 0 = 80 % of the device's, or no limit where that is unknown
  uint64_t owner_bytes = 0;  ///< per owner; 0 = no limit of its own
  size_t plans_max = 256;    ///< kept plans
};

/// What the plan cache did.
struct cache_counters {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t evictions = 0;
  uint64_t plans = 0; ///< kept now
  uint64_t bytes = 0; ///< device memory of those
};

/// The state of a device: spaces of named parameters and optimizers, one per owner, and the plans.
/// Every method checks first, then changes; on an error nothing has changed. Not thread safe.
class device_core {
public:
  device_core(std::unique_ptr<backend> on, core_options options);
  ~device_core();

  /// Makes the parameters: all, or none.
  result<void> define_params(byte_view owner, const std::vector<param_spec>& params);
  result<void> define_optimizer(byte_view owner, const optimizer_spec& optimizer);
  result<run_reply> run(byte_view owner, const run_request& request);
  void drop_space(byte_view owner);

  /// How heavy the request will be, as far as is known without running it: true if its plan wants
  /// several threads (or is not made yet and is not plainly small).
  bool is_heavy(byte_view owner, const run_request& request) const;

  const backend_info& info() const noexcept;
  cache_counters cache() const noexcept;
  /// Device memory in use, and that of one owner.
  uint64_t memory_bytes() const noexcept;
  uint64_t memory_bytes(byte_view owner) const noexcept;

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace moxzi::device
