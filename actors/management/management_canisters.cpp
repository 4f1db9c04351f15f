#include <algorithm>
#include <utility>

#include "actors/management/management.hpp"
#include "actors/management/numbers.hpp"
#include "actors/management/settings.hpp"

// Canisters: making them, their code, their life, their settings. The actor itself checks who may
// ask and does what is asked; here the question is put, and the answer passed on.

namespace moxzi::actors::management {

namespace {

/// What a canister that is made without saying so opens with, as on local replicas.
constexpr uint128 provisional_cycles = 100'000'000'000'000u;

/// Why the management canister itself refuses what an argument says.
rejection bad_argument(const call_ptr& call, std::string_view why) {
  return rejected(reject_code::canister_reject, "MX408",
                  fmt::format("{}: {}", call->method(), why));
}

lifecycle::install_code to_request(const canister_install_mode& mode, byte_string module,
                                   byte_string argument) {
  lifecycle::install_code out;
  switch (mode.kind) {
    case install_kind::reinstall:
      out.mode = lifecycle::install_mode::reinstall;
      break;
    case install_kind::upgrade:
      out.mode = lifecycle::install_mode::upgrade;
      break;
    default:
      break;
  }
  const auto flags = mode.flags.value_or(upgrade_flags{});
  out.skip_pre_upgrade = flags.skip_pre_upgrade.value_or(false);
  if (flags.wasm_memory_persistence) {
    const bool keeps = *flags.wasm_memory_persistence == memory_persistence::keep;
    out.heap = keeps ? lifecycle::heap_policy::keep : lifecycle::heap_policy::replace;
  }
  out.module = std::move(module);
  out.argument = std::move(argument);
  return out;
}

} // namespace

void management_state::ask(const principal& target, std::optional<principal> sender,
                           lifecycle::request what, answer_handler then,
                           std::optional<uint64_t> sender_version) {
  const auto token = ++tokens_;
  asked_.emplace(token, std::move(then));
  manage_actor message;
  message.target = target;
  message.sender = std::move(sender);
  message.sender_version = sender_version;
  message.what = std::move(what);
  message.token = token;
  message.reply_to = caf::actor_cast<manager_actor>(self_);
  send_to_supervisor(std::move(message));
}

void management_state::take_answer(managed& what) {
  const auto at = asked_.find(what.token);
  if (at == asked_.end()) return;
  const auto then = std::move(at->second);
  asked_.erase(at);
  then(what);
}

void management_state::ask_to(const call_ptr& call, const principal& target,
                              lifecycle::request what, std::function<void()> when_done) {
  ask(
    target, call->caller(), std::move(what),
    [this, call, when_done = std::move(when_done)](managed& got) {
      if (const auto* why = std::get_if<rejection>(&got.answer)) return refuse(call, *why);
      if (when_done) when_done();
      reply_nothing(call);
    },
    call->sender_version);
}

// -- making -------------------------------------------------------------------

void management_state::make_canister(const call_ptr& call,
                                     const candid::form<canister_id_reply>& form, create_actor what,
                                     cycles attached) {
  const auto token = ++tokens_;
  what.token = token;
  what.sender = call->caller();
  what.sender_version = call->sender_version;
  what.reply_to = caf::actor_cast<manager_actor>(self_);
  asked_.emplace(token, [this, call, &form, attached](managed& got) {
    if (const auto* why = std::get_if<rejection>(&got.answer)) {
      call->available = attached;
      return refuse(call, *why);
    }
    reply(call, form, {got.target});
  });
  send_to_supervisor(std::move(what));
}

void management_state::create_canister(const call_ptr& call, const create_canister_args& args) {
  auto settings = to_change(args.settings.value_or(canister_settings{}));
  if (!settings) return refuse(call, bad_argument(call, settings.error().message));
  const auto attached = call->available;
  if (!take_fee(call, {setup_.prices.create_canister})) return;
  create_actor what;
  what.settings = *std::move(settings);
  what.balance = std::exchange(call->available, {});
  make_canister(call, method_types::get().create_canister.reply, std::move(what), attached);
}

void management_state::create_provisional(const call_ptr& call,
                                          const provisional_create_args& args) {
  auto settings = to_change(args.settings.value_or(canister_settings{}));
  if (!settings) return refuse(call, bad_argument(call, settings.error().message));
  create_actor what;
  what.settings = *std::move(settings);
  what.balance = {provisional_cycles};
  if (args.amount) {
    const auto amount = to_cycles(*args.amount);
    if (!amount) return refuse(call, bad_argument(call, "amount: more than 128 bits"));
    what.balance = *amount;
  }
  what.id = args.specified_id;
  // What is attached has nothing to do with it, and goes back.
  make_canister(call, method_types::get().provisional_create.reply, std::move(what),
                call->available);
}

// -- cycles -------------------------------------------------------------------

void management_state::top_up_provisional(const call_ptr& call,
                                          const provisional_top_up_args& args) {
  const auto amount = to_cycles(args.amount);
  if (!amount) return refuse(call, bad_argument(call, "amount: more than 128 bits"));
  ask_to(call, args.canister_id, lifecycle::deposit{*amount});
}

void management_state::deposit_cycles(const call_ptr& call, const canister_args& args) {
  ask_to(call, args.canister_id, lifecycle::deposit{call->available},
         [call] { call->available = {}; });
}

// -- code ---------------------------------------------------------------------

void management_state::install(const call_ptr& call, const principal& target,
                               lifecycle::install_code what) {
  ask_to(call, target, std::move(what));
}

void management_state::install_code(const call_ptr& call, install_code_args args) {
  install(call, args.canister_id,
          to_request(args.mode, std::move(args.wasm_module), std::move(args.arg)));
}

void management_state::install_chunked_code(const call_ptr& call, install_chunked_code_args args) {
  const auto store = args.store_canister.value_or(args.target_canister);
  with_chunks_of(call, store, [this, call, store, args = std::move(args)]() mutable {
    std::vector<byte_string> hashes;
    for (auto& one : args.chunk_hashes_list) hashes.push_back(std::move(one.hash));
    auto module = chunks_.assemble(store, hashes, args.wasm_module_hash);
    if (!module) return refuse(call, bad_argument(call, module.error().message));
    install(call, args.target_canister, to_request(args.mode, *std::move(module), args.arg));
  });
}

void management_state::uninstall_code(const call_ptr& call, const versioned_canister_args& args) {
  ask_to(call, args.canister_id, lifecycle::uninstall_code{},
         [this, id = args.canister_id] { chunks_.clear(id); });
}

// -- chunks -------------------------------------------------------------------

void management_state::with_chunks_of(const call_ptr& call, const principal& id,
                                      std::function<void()> then) {
  ask(id, std::nullopt, lifecycle::read_info{}, [this, call, id, then](managed& got) {
    if (const auto* why = std::get_if<rejection>(&got.answer)) return refuse(call, *why);
    const auto& controllers = std::get<lifecycle::info>(got.answer).controllers;
    const bool may =
      call->caller() == id || std::ranges::find(controllers, call->caller()) != controllers.end();
    if (may) return then();
    refuse(call, rejected(reject_code::canister_error, "MX512",
                          fmt::format("{}: {} is no controller of {}", call->method(),
                                      call->caller().to_text(), id.to_text())));
  });
}

void management_state::upload_chunk(const call_ptr& call, upload_chunk_args args) {
  const auto id = args.canister_id;
  with_chunks_of(call, id, [this, call, args = std::move(args)] {
    const auto hash = chunks_.add(args.canister_id, args.chunk);
    if (!hash) return refuse(call, bad_argument(call, hash.error().message));
    reply(call, method_types::get().upload_chunk.reply, {byte_string{as_bytes(*hash)}});
  });
}

void management_state::clear_chunk_store(const call_ptr& call, const canister_args& args) {
  with_chunks_of(call, args.canister_id, [this, call, id = args.canister_id] {
    chunks_.clear(id);
    reply_nothing(call);
  });
}

void management_state::list_chunks(const call_ptr& call, const canister_args& args) {
  with_chunks_of(call, args.canister_id, [this, call, id = args.canister_id] {
    std::vector<chunk_hash> hashes;
    for (const auto& hash : chunks_.list(id)) hashes.push_back({byte_string{as_bytes(hash)}});
    reply(call, method_types::get().stored_chunks.reply, hashes);
  });
}

// -- life ---------------------------------------------------------------------

void management_state::start_canister(const call_ptr& call, const canister_args& args) {
  ask_to(call, args.canister_id, lifecycle::start{});
}

void management_state::stop_canister(const call_ptr& call, const canister_args& args) {
  ask_to(call, args.canister_id, lifecycle::stop{});
}

void management_state::delete_canister(const call_ptr& call, const canister_args& args) {
  ask_to(call, args.canister_id, lifecycle::remove{},
         [this, id = args.canister_id] { chunks_.clear(id); });
}

void management_state::update_settings(const call_ptr& call, const update_settings_args& args) {
  auto settings = to_change(args.settings);
  if (!settings) return refuse(call, bad_argument(call, settings.error().message));
  ask_to(call, args.canister_id, lifecycle::change_settings{*std::move(settings)});
}

} // namespace moxzi::actors::management
