#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/limits.hpp"
#include "base/result.hpp"
#include "device/backend.hpp"
#include "device/contents.hpp"
#include "device/program.hpp"

namespace moxzi::device {

/// Limits and seed of one device.
struct core_options {
  uint64_t seed = 0;         ///< of the initial values
  uint64_t memory_bytes = 0; ///< 0 = 80 % of the device's, or no limit where that is unknown
  uint64_t owner_bytes = 0;  ///< per owner; 0 = no limit of its own
  size_t plans_max = 256;    ///< kept plans
  /// Bytes of one answer; the default is what an actor's reply may have.
  uint64_t reply_bytes_max = limits::reply_bytes_max;
};

/// What the plan cache did.
struct cache_counters {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t evictions = 0;
  uint64_t plans = 0; ///< kept now
  uint64_t bytes = 0; ///< device memory of those
};

/// A run that was checked and whose plan is ready. Valid until anything else is asked of the core
/// that made it; `execute` uses it up.
class prepared_run {
public:
  prepared_run() noexcept;
  prepared_run(prepared_run&&) noexcept;
  prepared_run& operator=(prepared_run&&) noexcept;
  ~prepared_run();

  /// True if it runs on several threads.
  bool parallel() const noexcept;
  plan_description describe() const noexcept;
  /// How long the plan took lately, as told by `measured`; before the first run guessed by its
  /// cost: 0, or very long.
  uint64_t expected_ns() const noexcept;
  /// Tells how long the execution took.
  void measured(uint64_t ns) noexcept;

  struct state;

private:
  friend class device_core;
  std::unique_ptr<state> state_;
};

/// The state of a device: spaces of named parameters and optimizers, one per owner, and the plans.
/// Every method checks first, then changes; on an error nothing has changed. Not thread safe: one
/// thread at a time, though it need not always be the same.
class device_core {
public:
  device_core(std::unique_ptr<backend> on, core_options options);
  device_core(device_core&&) noexcept;
  ~device_core();

  /// Makes the parameters: all, or none.
  result<void> define_params(byte_view owner, const std::vector<param_spec>& params);
  result<void> define_optimizer(byte_view owner, const optimizer_spec& optimizer);
  /// `prepare`, then `execute`.
  result<run_reply> run(byte_view owner, const run_request& request);
  /// Checks the request and finds or makes its plan. The request must outlive what is returned.
  result<prepared_run> prepare(byte_view owner, const run_request& request);
  result<run_reply> execute(prepared_run& what);
  /// Reads parameters, in the order of the names.
  result<std::vector<tensor>> read(byte_view owner, const read_request& request);
  /// Writes all entries, in order, or none. Optimizers keep what they remember.
  result<void> write(byte_view owner, const std::vector<write_entry>& entries);
  /// Forgets all that is named, or nothing. A parameter leaves the optimizers that list it; one
  /// that is left with none goes too.
  result<void> remove(byte_view owner, const delete_request& request);
  /// Renames parameters, all at once: two may change names. Optimizers go on with them.
  result<void> rename(byte_view owner, const std::vector<rename_entry>& entries);
  result<space_listing> list(byte_view owner) const;
  device_description describe(byte_view owner) const;
  void drop_space(byte_view owner);

  const backend_info& info() const noexcept;
  cache_counters cache() const noexcept;
  /// Device memory in use: contents of all spaces and plans; and that of one owner's space.
  uint64_t memory_bytes() const noexcept;
  uint64_t memory_bytes(byte_view owner) const noexcept;

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace moxzi::device
