#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/call.hpp"
#include "actors/cycles.hpp"
#include "net/http_counters.hpp"

namespace moxzi::actors {

/// What became of a call.
enum class call_outcome : uint8_t {
  replied,
  rejected, ///< by the actor's own code
  trapped,  ///< it failed while it ran
  refused,  ///< it never ran: no such method, queue full, stopped, …
};

call_outcome outcome_of(const call_answer& answer) noexcept;

/// What an execution took.
struct execution_cost {
  uint64_t duration_ns = 0;
  uint64_t instructions = 0;
  std::optional<uint64_t> dirty_pages; ///< that it changed, if it was committed
};

/// What one actor counts. Belongs to the actor; two actors have two.
class actor_meters {
public:
  virtual ~actor_meters() = default;
  /// The actor's code has this method: refused calls of it count under its name.
  virtual void know(std::string_view method) = 0;
  /// A call of `method` was answered.
  virtual void answered(std::string_view method, call_outcome outcome) = 0;
  /// An execution has ended.
  virtual void executed(const execution_cost& cost) = 0;
  /// So much has been charged until now.
  virtual void charged(cycles total) = 0;
};

/// What an actor is like at the moment.
struct actor_gauges {
  std::string name; ///< or its principal's text
  uint64_t waiting = 0;
  uint64_t heap_bytes = 0;
  uint64_t stable_bytes = 0;
  double cycles = 0; ///< balance
};

/// The metrics of a node, for Prometheus. Names and labels are in docs/operations.md. The number of
/// labels is bounded: actors and methods beyond the bound are counted together, as `other`.
/// Thread-safe.
class host_metrics {
public:
  host_metrics();
  ~host_metrics();
  host_metrics(const host_metrics&) = delete;
  host_metrics& operator=(const host_metrics&) = delete;

  /// The meters of an actor; valid as long as this.
  std::unique_ptr<actor_meters> meters_of(const std::string& actor);

  /// A call of a device method, `moxzi_device_run` for one, and how long the device took.
  void note_device_call(std::string_view method, uint64_t duration_ns);

  /// All metrics as text (Prometheus' exposition format 0.0.4), with what only this moment shows.
  std::string text(const std::vector<actor_gauges>& actors, const net::http_numbers& http);

private:
  class registry;
  std::unique_ptr<registry> registry_;
};

} // namespace moxzi::actors
