#pragma once

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

/// The state of MANAGEMENT, the canister `aaaaa-aa`. Every method has one point: before it nothing
/// changes, after it nothing can fail. For the device's methods it is the worker's answer; the
/// record follows at once, before the caller learns of it.
class management_state {
public:
  using self_pointer = management_actor::stateful_pointer<management_state>;

  static inline const char* name = "management"; ///< for logs

  explicit management_state(self_pointer self) : self_(self) {
    // nop
  }

  management_actor::behavior_type make_behavior(management_setup setup);

private:
  struct pending_call; // a device call that the worker has

  // -- verbs
  void call(deliver_request& what);
  void call_device(deliver_request& what);
  void finish(pending_call& call, const device::device_answer& answer);
  void record(const pending_call& call, const device::run_reply& reply, byte_string bytes);
  void give_randomness(const deliver_request& what);
  void answer(const deliver_request& what, call_answer value);

  self_pointer self_;
  management_setup setup_;
  device_interface interface_;
  std::map<principal, uint64_t> records_; ///< of each owner
};

/// The management canister.
management_actor::behavior_type management(management_state::self_pointer self,
                                           management_setup setup);

} // namespace moxzi::actors::management
