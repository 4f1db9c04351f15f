#pragma once

#include <deque>
#include <map>
#include <memory>

#include <spdlog/spdlog.h>

#include "actors/management/device_interface.hpp"
#include "actors/messages.hpp"
#include "base/clock.hpp"
#include "base/entropy.hpp"
#include "device/messages.hpp"
#include "persist/journal.hpp"

namespace moxzi::actors::management {

/// What the management canister works with. Journal, clock and entropy outlive it.
struct management_setup {
  device::device_worker_actor device; ///< none: device calls are rejected with MXD001
  persist::journal* journal = nullptr;
  const clock* time = nullptr;
  entropy* randomness = nullptr;
  std::shared_ptr<spdlog::logger> log;
};

/// Management with what the device worker tells it.
using management_self = management_actor::extend<caf::reacts_to<device::device_answer_ptr>>;

/// The state of MANAGEMENT, the canister `aaaaa-aa`. Every method has one point: before it nothing
/// changes, after it nothing can fail. For the device's methods it is the worker's answer; the
/// record follows at once, before the caller learns of it.
class management_state {
public:
  using self_pointer = management_self::stateful_pointer<management_state>;

  static inline const char* name = "management"; ///< for logs

  explicit management_state(self_pointer self) : self_(self) {
    // nop
  }

  management_self::behavior_type make_behavior(management_setup setup);

private:
  /// A device call that the worker has.
  struct pending_call {
    deliver_request what;
    device_request request; ///< without the inputs' data
  };

  // -- verbs
  void call(deliver_request& what);
  void call_device(deliver_request& what);
  /// Sends the worker a request; what only the worker needs of it is moved out.
  void ask_device(const byte_string& owner, device_request& request);
  void finish(const device::device_answer& answer);
  void lose_device();
  void record(const pending_call& call, const device::run_reply& reply, byte_string bytes);
  void give_randomness(const deliver_request& what);
  void answer(const deliver_request& what, call_answer value);

  self_pointer self_;
  management_setup setup_;
  supervisor_actor supervisor_; ///< whom to ask about actors
  bool had_device_ = false;
  device_interface interface_;
  std::deque<pending_call> pending_;      ///< the worker answers in order
  std::map<principal, uint64_t> records_; ///< of each owner
};

/// Starts the management canister.
management_actor spawn_management(caf::actor_system& system, management_setup setup);

} // namespace moxzi::actors::management
