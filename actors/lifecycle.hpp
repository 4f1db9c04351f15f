#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "actors/cycles.hpp"
#include "actors/module_parts.hpp"
#include "actors/prices.hpp"
#include "actors/principal.hpp"
#include "base/actor_limits.hpp"
#include "base/bytes.hpp"
#include "base/digest.hpp"
#include "base/reject.hpp"

/// The life of a hosted actor: what can be asked of it, beside its own methods, and what it
/// answers. Names and rules are those of the management canister (Internet Computer interface
/// specification, "The IC management canister"). Plain values, no CAF; `actors/messages.hpp` has
/// the envelopes.
///
/// Every request is answered once, in the order taken; those that change something take effect
/// between two executions and are inputs in the actor's record. A request has one point: before it
/// nothing has changed, after it nothing fails.
namespace moxzi::actors::lifecycle {

// -- settings ------------------------------------------------------------------

/// Who may see something of an actor beside its controllers. The numbers are stored.
enum class visibility : uint8_t { controllers = 0, everyone = 1, allowed_viewers = 2 };

/// The same with the viewers that are allowed.
struct audience {
  visibility who = visibility::controllers;
  std::vector<principal> viewers; ///< with `allowed_viewers`
  bool operator==(const audience&) const = default;
};

/// The settings of an actor.
struct settings {
  std::vector<principal> controllers;
  uint64_t compute_allocation = 0;         ///< percent; accepted and kept, nothing is reserved
  uint64_t memory_allocation = 0;          ///< bytes; accepted and kept
  uint64_t freezing_threshold = 2'592'000; ///< seconds; accepted and kept, idling costs nothing
  cycles reserved_cycles_limit{5'000'000'000'000u};
  uint64_t wasm_memory_limit = 0;     ///< bytes of heap; 0 = only the host's own limit
  uint64_t wasm_memory_threshold = 0; ///< `canister_on_low_wasm_memory` runs below; 0 = never
  audience logs;
  audience snapshots;                                       ///< who may list them
  audience status;                                          ///< the actor itself always may
  uint64_t log_bytes_max = limits::actor_log_bytes_default; ///< 0 = no log
  cycles call_cycles_min;                                   ///< of calls by other actors
  std::map<std::string, std::string> environment;
  bool operator==(const settings&) const = default;
};

/// Some of the settings, each in place of the old one. What is out of bounds is refused as a whole.
struct settings_change {
  std::optional<std::vector<principal>> controllers; ///< at most 10
  std::optional<uint64_t> compute_allocation;        ///< at most 100
  std::optional<uint64_t> memory_allocation;         ///< at most 2^48
  std::optional<uint64_t> freezing_threshold;
  std::optional<cycles> reserved_cycles_limit;
  std::optional<uint64_t> wasm_memory_limit; ///< at most 2^48
  std::optional<uint64_t> wasm_memory_threshold;
  std::optional<audience> logs; ///< at most 10 viewers each
  std::optional<audience> snapshots;
  std::optional<audience> status;
  std::optional<uint64_t> log_bytes_max; ///< 0, or 4 KiB to 2 MiB
  std::optional<cycles> call_cycles_min;
  std::optional<std::map<std::string, std::string>> environment; ///< at most 20, 128 bytes each
  bool operator==(const settings_change&) const = default;
};

/// What is out of bounds in a change; empty if nothing.
std::string fault_of(const settings_change& change);
/// Puts what the change has in place of what `current` has.
void apply(const settings_change& change, settings& current);

// -- requests ------------------------------------------------------------------

/// What becomes of the code that is there. The numbers are stored.
enum class install_mode : uint8_t { install = 0, reinstall = 1, upgrade = 2 };

/// What becomes of the heap in an upgrade. The numbers are stored.
enum class heap_policy : uint8_t {
  unsaid = 0, ///< kept if both modules keep their heaps; refused if only the old one does
  keep = 1,
  replace = 2,
};

/// Puts code in place: `install` where there is none, `reinstall` from nothing, `upgrade` with what
/// is stable kept. Fails as a whole; the old code and state then go on.
struct install_code {
  install_mode mode = install_mode::install;
  bool skip_pre_upgrade = false;
  heap_policy heap = heap_policy::unsaid;
  byte_string module; ///< wasm, or gzip of it
  byte_string argument = byte_string{"DIDL\0\0", 6};
  /// The interface in place of the module's own (the manifest's `.did`); host only.
  std::optional<std::string> did;
};

/// Takes code and state away; open calls are rejected.
struct uninstall_code {
  bool operator==(const uninstall_code&) const = default;
};
/// Takes calls again; waiting `stop`s fail with MX511.
struct start {
  bool operator==(const start&) const = default;
};
/// No new calls; answered when all open ones have ended, or with MX206 after
/// `limits::stop_timeout_ns` (the actor then goes on stopping).
struct stop {
  bool operator==(const stop&) const = default;
};
/// Only a stopped actor can be deleted (MX510). Its cycles are lost.
struct remove {
  bool operator==(const remove&) const = default;
};
struct change_settings {
  settings_change what;
  bool operator==(const change_settings&) const = default;
};
/// Cycles for the actor; anyone may.
struct deposit {
  cycles amount;
  bool operator==(const deposit&) const = default;
};
/// Keeps code and state; `replace` names an older snapshot that goes.
struct take_snapshot {
  std::optional<byte_string> replace;
  bool uninstall = false;
  bool operator==(const take_snapshot&) const = default;
};
/// Goes back to one of its snapshots (else MX305).
struct load_snapshot {
  byte_string id;
  bool operator==(const load_snapshot&) const = default;
};
struct delete_snapshot {
  byte_string id;
  bool operator==(const delete_snapshot&) const = default;
};
/// New prices, or charging switched on or off; host only.
struct change_prices {
  bool charging = false;
  price_table prices;
  bool operator==(const change_prices&) const = default;
};

// These change nothing and leave no record.
struct read_status {};
/// At most `changes` of the latest changes; anyone may.
struct read_info {
  uint64_t changes = 0;
};
/// A custom section `icp:public NAME`, or `icp:private NAME` for controllers.
struct read_metadata {
  std::string name;
};
/// The log's lines from number `from` on.
struct read_log {
  uint64_t from = 0;
};
struct list_snapshots {};

using request = std::variant<install_code, uninstall_code, start, stop, remove, change_settings,
                             deposit, take_snapshot, load_snapshot, delete_snapshot, change_prices,
                             read_status, read_info, read_metadata, read_log, list_snapshots>;

/// True if the first type is one of the others.
template <class T, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<T, Others> || ...);

/// True for a request that changes nothing: answered at once, and not recorded.
template <class Request>
inline constexpr bool only_reads =
  is_one_of<Request, read_status, read_info, read_metadata, read_log, list_snapshots>;

// -- answers -------------------------------------------------------------------

struct done {
  bool operator==(const done&) const = default;
};

/// The numbers are those of `ic0.canister_status`.
enum class run_status : uint8_t { running = 1, stopping = 2, stopped = 3 };

/// What was ever done with an actor, since it was made: for status pages and metrics.
struct counters {
  uint64_t executions = 0; ///< recorded ones
  uint64_t traps = 0;
  uint64_t queries = 0;
  uint64_t query_instructions = 0;
  uint64_t query_bytes_in = 0;  ///< arguments of calls as queries
  uint64_t query_bytes_out = 0; ///< their replies and the texts of their rejections
  uint64_t instructions = 0;
  uint64_t refused = 0; ///< requests that never ran (queue full, stopped, …)
};

struct status {
  std::string name; ///< empty for actors made at run time
  principal id;
  run_status run = run_status::running;
  settings current;
  std::optional<sha256_hash> module_hash; ///< none: no code
  uint64_t version = 0;
  uint64_t heap_bytes = 0;
  uint64_t stable_bytes = 0;
  code_sizes code;
  uint64_t history_bytes = 0;
  uint64_t snapshot_bytes = 0;
  uint64_t log_bytes = 0;
  cycles balance;
  uint64_t waiting = 0;                       ///< requests in its queue
  uint64_t open_contexts = 0;                 ///< calls that are not over
  std::map<std::string, method_mode> methods; ///< without the compiler's own
  std::string install_failure;                ///< why its last installation failed; empty if none
  counters counts;
};

struct snapshot {
  byte_string id; ///< the actor's principal, then a number: unique in a cluster
  uint64_t time_ns = 0;
  uint64_t bytes = 0;
  uint64_t version = 0; ///< of the actor when it was taken
  bool operator==(const snapshot&) const = default;
};

/// One entry of an actor's history.
struct change {
  enum class kind : uint8_t { creation, uninstall, install, reinstall, upgrade, load, controllers };
  uint64_t time_ns = 0;
  uint64_t version = 0;
  principal origin;                       ///< who asked; anonymous for the host
  std::optional<uint64_t> origin_version; ///< of an actor that said it
  kind what = kind::creation;
  sha256_hash module_hash{};                      ///< install, reinstall, upgrade
  std::vector<principal> controllers;             ///< creation, controllers
  std::map<std::string, std::string> environment; ///< creation
  lifecycle::snapshot snapshot;                   ///< load
};

struct info {
  uint64_t changes = 0;       ///< ever made
  std::vector<change> latest; ///< oldest first
  std::optional<sha256_hash> module_hash;
  std::vector<principal> controllers;
};

struct metadata {
  byte_string contents;
};

struct log_line {
  uint64_t number = 0;
  uint64_t time_ns = 0;
  std::string text;
};

/// One answer to one request: `done` for what changes something, the new snapshot alone
/// for `take_snapshot`, and a rejection instead of each.
using answer = std::variant<done, status, info, metadata, std::vector<log_line>,
                            std::vector<snapshot>, rejection>;

} // namespace moxzi::actors::lifecycle
