#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <spdlog/spdlog.h>

#include "actors/daemon/actor_loader.hpp"
#include "actors/daemon/node_pages.hpp"
#include "actors/host_metrics.hpp"
#include "actors/messages.hpp"
#include "base/clock.hpp"
#include "base/digest.hpp"
#include "net/messages.hpp"

namespace moxzi::actors {

/// An actor of the manifest, as it was last put in place.
struct kept_actor {
  manifest_actor entry;
  principal id;
  sha256_hash file{}; ///< of the module's file
  std::optional<std::string> did;
  lifecycle::settings_change settings;
};

/// What is kept of an actor that was put in place.
kept_actor kept_of(const loaded_actor& actor, const host_defaults& defaults);

/// The module that the keeper asked for, or why there is none.
struct module_made {
  uint64_t token = 0;
  result<prepared_code> code;
};

/// The manifest is to be read again.
using reload_atom = caf::atom_constant<caf::atom("reload")>;

/// KEEPER: answers for the node: pages, commands, the manifest.
using keeper_actor = net::keeper_actor::extend<
  // The answer to one of its requests about an actor.
  caf::reacts_to<managed>,
  // From the compiler's thread.
  caf::reacts_to<module_made>,
  // From the daemon: this actor was put in place.
  caf::reacts_to<kept_actor>,
  // From the daemon: upgrades what has changed, starts what is new.
  caf::reacts_to<reload_atom>,
  // Ends.
  caf::reacts_to<stop_atom>>;

/// What the keeper works with. All of it outlives it.
struct keeper_setup {
  supervisor_actor supervisor;
  code_factory* factory = nullptr;
  host_metrics* metrics = nullptr;
  const clock* time = nullptr;
  std::string manifest; ///< its path
  host_defaults defaults;
  node_facts facts;
  std::function<net::http_numbers()> http;
  std::shared_ptr<spdlog::logger> log;
};

/// The state of the KEEPER.
class keeper_state {
public:
  using self_pointer = keeper_actor::stateful_pointer<keeper_state>;

  static inline const char* name = "keeper"; ///< for logs

  explicit keeper_state(self_pointer self) : self_(self) {
    // nop
  }

  keeper_actor::behavior_type make_behavior(keeper_setup setup);

private:
  using request_ptr = net::node_request_ptr;
  using on_answer = std::function<void(lifecycle::answer&)>;
  using on_module = std::function<void(result<prepared_code>&)>;
  using statuses = std::vector<lifecycle::status>;

  // -- verbs
  void answer(const request_ptr& what);
  void answer_for(const request_ptr& what, const principal& id);
  void tell_all(const request_ptr& what, std::function<void(statuses)> tell);
  void tell_did(const request_ptr& what, const principal& id);
  void tell_logs(const request_ptr& what, const principal& id);
  void command(const request_ptr& what, const principal& id);
  /// Ends a command, and says so in the log.
  void end_command(const request_ptr& what, byte_string page);
  void fail_command(const request_ptr& what, const rejection& why);
  void top_up(const request_ptr& what, const principal& id);
  void install_again(const request_ptr& what, const principal& id);
  void reload();
  void change(kept_actor& known, const manifest_actor& entry);
  void upgrade(const kept_actor& known);
  void begin(const manifest_actor& entry);

  /// Asks the actor in the name of whoever sent the request: this machine's programs stand for the
  /// host, others are nobody.
  void ask(const principal& target, bool is_host, lifecycle::request what, on_answer then);
  void ask(const principal& target, bool is_host, lifecycle::install_code what, prepared_code code,
           on_answer then);
  /// Reads an entry's files and makes its code.
  void load(const manifest_actor& entry, std::function<void(result<loaded_actor>)> then);
  void install(const loaded_actor& actor, lifecycle::install_mode mode, bool is_host,
               on_answer then);

  const kept_actor* find(const principal& id) const;
  std::optional<principal> resolve(const std::string& name_or_id) const;

  self_pointer self_;
  keeper_setup setup_;
  std::map<std::string, kept_actor> kept_; ///< by name
  std::map<uint64_t, on_answer> asked_;
  std::map<uint64_t, on_module> loading_;
  uint64_t tokens_ = 0;
};

/// The keeper, keeping nobody yet. It reads files: to be spawned detached.
keeper_actor::behavior_type keeper(keeper_state::self_pointer self, keeper_setup setup);

} // namespace moxzi::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::module_made)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::actors::kept_actor)
