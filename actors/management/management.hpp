#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "actors/host_metrics.hpp"
#include "actors/keys/key_ring.hpp"
#include "actors/management/chunk_store.hpp"
#include "actors/management/device_interface.hpp"
#include "actors/management/management_call.hpp"
#include "actors/management/method_types.hpp"
#include "actors/messages.hpp"
#include "actors/prices.hpp"
#include "base/clock.hpp"
#include "base/entropy.hpp"
#include "device/messages.hpp"
#include "net/outcall.hpp"
#include "persist/journal.hpp"

namespace moxzi::actors::management {

/// What the management canister works with. Journal, clock, entropy and outcalls outlive it.
struct management_setup {
  device::device_worker_actor device; ///< none: device calls are rejected with MXD001
  persist::journal* journal = nullptr;
  const clock* time = nullptr;
  entropy* randomness = nullptr;
  std::shared_ptr<spdlog::logger> log;
  net::outcall_client* outcalls = nullptr; ///< none: `http_request` is rejected
  sha256_hash seed{};                      ///< of the keys that are signed with
  principal subnet;                        ///< this node as a subnet of one
  principal node;                          ///< and as its node
  std::string version;                     ///< of this program
  bool charging = false;                   ///< off: nothing costs anything
  price_table prices;
  uint64_t device_cycles_per_ms = 0;
  host_metrics* metrics = nullptr; ///< none: nothing is counted
};

/// An outcall's outcome, from the client's thread.
struct outcall_made {
  uint64_t number = 0;
  std::shared_ptr<const result<net::outcall_response>> outcome;
};

/// Management with what those tell it whom it asks.
using management_self =
  management_actor::extend<caf::reacts_to<device::device_answer_ptr>, caf::reacts_to<managed>,
                           caf::reacts_to<outcall_made>, caf::reacts_to<call_response>>;

/// The state of MANAGEMENT, the canister `aaaaa-aa`. Every method has one point: before it nothing
/// changes, after it nothing can fail. For the device's methods it is the worker's answer; the
/// record follows at once, before the caller learns of it. For the methods about canisters it is
/// the canister's own answer.
class management_state {
public:
  using self_pointer = management_self::stateful_pointer<management_state>;

  static inline const char* name = "management"; ///< for logs

  explicit management_state(self_pointer self) : self_(self) {
    // nop
  }

  management_self::behavior_type make_behavior(management_setup setup);

  // -- methods (management_methods.cpp has the table) ---------------------------

  /// Keeps the caller's version, which it may say; refuses the call if it is another one.
  bool is_version(const call_ptr& call, const std::optional<uint64_t>& said);

  // management_canisters.cpp
  void create_canister(const call_ptr& call, const create_canister_args& args);
  void create_provisional(const call_ptr& call, const provisional_create_args& args);
  void top_up_provisional(const call_ptr& call, const provisional_top_up_args& args);
  void deposit_cycles(const call_ptr& call, const canister_args& args);
  void install_code(const call_ptr& call, install_code_args args);
  void install_chunked_code(const call_ptr& call, install_chunked_code_args args);
  void uninstall_code(const call_ptr& call, const versioned_canister_args& args);
  void upload_chunk(const call_ptr& call, upload_chunk_args args);
  void clear_chunk_store(const call_ptr& call, const canister_args& args);
  void list_chunks(const call_ptr& call, const canister_args& args);
  void start_canister(const call_ptr& call, const canister_args& args);
  void stop_canister(const call_ptr& call, const canister_args& args);
  void delete_canister(const call_ptr& call, const canister_args& args);
  void update_settings(const call_ptr& call, const update_settings_args& args);
  // management_status.cpp
  void show_status(const call_ptr& call, const canister_args& args);
  void show_info(const call_ptr& call, const canister_info_args& args);
  void show_metadata(const call_ptr& call, canister_metadata_args args);
  void show_logs(const call_ptr& call, const fetch_canister_logs_args& args);
  void take_snapshot(const call_ptr& call, const take_snapshot_args& args);
  void load_snapshot(const call_ptr& call, const load_snapshot_args& args);
  void delete_snapshot(const call_ptr& call, const delete_snapshot_args& args);
  void list_snapshots(const call_ptr& call, const canister_args& args);
  void list_canisters(const call_ptr& call);
  // management_keys.cpp
  void give_randomness(const call_ptr& call);
  void show_ecdsa_key(const call_ptr& call, ecdsa_public_key_args args);
  void show_schnorr_key(const call_ptr& call, schnorr_public_key_args args);
  void sign_ecdsa(const call_ptr& call, sign_with_ecdsa_args args);
  void sign_schnorr(const call_ptr& call, sign_with_schnorr_args args);
  // management_outcalls.cpp
  void make_outcall(const call_ptr& call, http_request_args args);
  // management_node.cpp
  void show_node_metrics(const call_ptr& call, const node_metrics_history_args& args);
  void show_subnet(const call_ptr& call, const subnet_info_args& args);

private:
  /// A device call that the worker has.
  struct pending_call {
    call_ptr call;
    device_request request; ///< without the inputs' data
  };
  /// An outcall that has no answer yet.
  struct open_outcall {
    call_ptr call;
    std::optional<http_transform> transform;
    uint64_t response_bytes_max = 0;
  };
  using answer_handler = std::function<void(managed&)>;

  // -- calls
  void call(deliver_request& what);
  /// Answers a call with a value of the method's result type.
  template <class T>
  void reply(const call_ptr& call, const candid::form<T>& form, const T& what) {
    writer out;
    out.raw(method_types::get().service.find(call->method())->results.header);
    form.append(out, what);
    finish(call, reply_value{out.take()});
  }
  /// Answers a call of a method without results.
  void reply_nothing(const call_ptr& call);
  void refuse(const call_ptr& call, rejection why);
  void finish(const call_ptr& call, call_answer value);

  // -- cycles
  /// What is really asked for: nothing where nothing is charged.
  cycles asked(cycles price) const noexcept;
  /// Is the price attached? Refuses the call if not.
  bool has_fee(const call_ptr& call, cycles price);
  /// Takes it, if so.
  bool take_fee(const call_ptr& call, cycles price);

  // -- canisters
  /// Asks the supervisor something about a canister; `sender` as in `manage_actor`.
  void ask(const principal& target, std::optional<principal> sender, lifecycle::request what,
           answer_handler then, std::optional<uint64_t> sender_version = {});
  /// The same for the caller, who gets an empty reply when it is done.
  void ask_to(const call_ptr& call, const principal& target, lifecycle::request what,
              std::function<void()> when_done = {});
  void take_answer(managed& what);
  /// Now, or once the supervisor is known.
  template <class Message>
  void send_to_supervisor(Message what) {
    if (supervisor_) return self_->send(supervisor_, std::move(what));
    early_.push_back([this, what = std::move(what)] { self_->send(supervisor_, what); });
  }
  void meet(const supervisor_actor& who);
  /// `attached` goes back if there is no new canister.
  void make_canister(const call_ptr& call, const candid::form<canister_id_reply>& form,
                     create_actor what, cycles attached);
  void install(const call_ptr& call, const principal& target, lifecycle::install_code what);
  /// Goes on if the caller may use the canister's chunks.
  void with_chunks_of(const call_ptr& call, const principal& id, std::function<void()> then);

  // -- device
  void call_device(const call_ptr& call);
  /// Sends the worker a request; what only the worker needs of it is moved out.
  void ask_device(const byte_string& owner, device_request& request);
  void end_device_call(const device::device_answer& answer);
  void lose_device();
  void record(const pending_call& from, const device::run_reply& reply, byte_string bytes,
              cycles cost);
  cycles device_cost(uint64_t device_ns) const noexcept;

  // -- the rest
  void end_outcall(const outcall_made& what);
  void transform(uint64_t number, const open_outcall& open, const net::outcall_response& response);
  void take_transformed(const call_response& what);
  byte_string draw();
  void show_key(const call_ptr& call, const candid::form<public_key_reply>& form,
                const keys::key_place& where);
  /// Refuses the call if not.
  bool is_our_subnet(const call_ptr& call, const principal& id);

  self_pointer self_;
  management_setup setup_;
  supervisor_actor supervisor_;
  std::vector<std::function<void()>> early_; ///< to be sent to it
  std::optional<keys::key_ring> keys_;
  chunk_store chunks_;
  uint64_t tokens_ = 0;
  std::map<uint64_t, answer_handler> asked_; ///< by token
  uint64_t outcalls_ = 0;
  std::map<uint64_t, open_outcall> open_outcalls_;
  bool had_device_ = false;
  device_interface interface_;
  std::deque<pending_call> pending_;      ///< the worker answers in order
  std::map<principal, uint64_t> records_; ///< of each owner
};

/// Starts the management canister.
management_actor spawn_management(caf::actor_system& system, management_setup setup);

} // namespace moxzi::actors::management

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::management::outcall_made)
