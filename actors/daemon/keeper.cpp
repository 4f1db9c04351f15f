#include "actors/daemon/keeper.hpp"

#include <chrono>
#include <utility>

#include "actors/build/files.hpp"
#include "actors/harden.hpp"
#include "actors/http_status.hpp"
#include "base/limits.hpp"
#include "base/nearest.hpp"

namespace moxzi::actors {

namespace {

// CAF holds both sides of a request until its time-out, also at the end.
constexpr std::chrono::milliseconds list_patience{300};

void answer_text(const net::node_request& what, std::string type, byte_string body) {
  what.sink->answer({.content_type = std::move(type), .body = std::move(body)});
}

void answer_json(const net::node_request& what, byte_string body) {
  what.sink->answer({.body = std::move(body)});
}

void refuse(const net::node_request& what, const rejection& why) {
  what.sink->answer(http_refusal(why));
}

const char* word_of(net::node_question what) noexcept {
  using q = net::node_question;
  switch (what) {
    case q::upgrade:
      return "upgrade";
    case q::reinstall:
      return "reinstall";
    case q::stop:
      return "stop";
    case q::start:
      return "start";
    case q::topup:
      return "topup";
    default:
      return "question";
  }
}

rejection no_section(const std::string& name) {
  return rejected(reject_code::destination_invalid, "MX306",
                  fmt::format("the actor's module has no section '{}' that may be read", name));
}

} // namespace

kept_actor kept_of(const loaded_actor& actor, const host_defaults& defaults) {
  return {actor.entry, actor.id, actor.file, actor.did, settings_of(actor.entry, defaults)};
}

keeper_actor::behavior_type keeper_state::make_behavior(keeper_setup setup) {
  setup_ = std::move(setup);
  harden(self_, setup_.log);
  return {
    [this](const request_ptr& what) { answer(what); },
    [this](managed& what) {
      const auto at = asked_.find(what.token);
      if (at == asked_.end()) return;
      const auto then = std::move(at->second);
      asked_.erase(at);
      then(what.answer);
    },
    [this](module_made& what) {
      const auto at = loading_.find(what.token);
      if (at == loading_.end()) return;
      const auto then = std::move(at->second);
      loading_.erase(at);
      then(what.code);
    },
    [this](kept_actor& what) { kept_.insert_or_assign(what.entry.name, std::move(what)); },
    [this](reload_atom) { reload(); },
    [this](stop_atom) { self_->quit(); },
  };
}

// -- pages ---------------------------------------------------------------------

void keeper_state::answer(const request_ptr& what) {
  using q = net::node_question;
  switch (what->what) {
    case q::metrics:
      return tell_all(what, [this, what](statuses all) {
        std::vector<actor_gauges> gauges;
        for (const auto& one : all)
          gauges.push_back({one.name.empty() ? one.id.to_text() : one.name, one.waiting,
                            one.heap_bytes, one.stable_bytes,
                            static_cast<double>(one.balance.value)});
        answer_text(*what, "text/plain; version=0.0.4; charset=utf-8",
                    setup_.metrics->text(gauges, setup_.http()));
      });
    case q::status:
      return tell_all(what, [this, what](const statuses& all) {
        answer_json(
          *what, status_page(setup_.facts, setup_.time->monotonic_ns(), all.size(), setup_.http()));
      });
    case q::actors:
      return tell_all(what,
                      [what](statuses all) { answer_json(*what, actors_page(std::move(all))); });
    default:
      break;
  }
  if (const auto id = resolve(what->actor)) return answer_for(what, *id);
  std::vector<std::string_view> names;
  for (const auto& [known, _] : kept_) names.emplace_back(known);
  refuse(*what, rejected(reject_code::destination_invalid, "MX301",
                         fmt::format("no actor '{}' is hosted here{}", what->actor,
                                     did_you_mean(what->actor, names))));
}

void keeper_state::answer_for(const request_ptr& what, const principal& id) {
  using q = net::node_question;
  switch (what->what) {
    case q::actor:
      return ask(id, true, lifecycle::read_status{}, [what](lifecycle::answer& answer) {
        if (const auto* status = std::get_if<lifecycle::status>(&answer))
          return answer_json(*what, actor_page(*status));
        refuse(*what, std::get<rejection>(answer));
      });
    case q::did:
      return tell_did(what, id);
    case q::logs:
      return tell_logs(what, id);
    case q::metadata:
      return ask(
        id, false, lifecycle::read_metadata{what->section}, [what](lifecycle::answer& answer) {
          if (auto* found = std::get_if<lifecycle::metadata>(&answer))
            return answer_text(*what, "application/octet-stream", std::move(found->contents));
          refuse(*what, no_section(what->section));
        });
    default:
      return command(what, id);
  }
}

// The status of all actors; those that go meanwhile are left out.
void keeper_state::tell_all(const request_ptr& what, std::function<void(statuses)> tell) {
  struct page {
    statuses found;
    size_t open = 0;
    std::function<void(statuses)> tell;
  };
  self_->request(setup_.supervisor, list_patience, list_atom::value)
    .then(
      [this, tell = std::move(tell)](const actor_list& list) {
        if (list.entries.empty()) return tell({});
        auto all = std::make_shared<page>(page{{}, list.entries.size(), tell});
        for (const auto& [_, id] : list.entries)
          ask(id, true, lifecycle::read_status{}, [all](lifecycle::answer& answer) {
            if (auto* status = std::get_if<lifecycle::status>(&answer))
              all->found.push_back(std::move(*status));
            if (--all->open == 0) all->tell(std::move(all->found));
          });
      },
      [what](const caf::error&) {
        refuse(*what, rejected(reject_code::sys_transient, "MX208",
                               "the node is too busy to list its actors; ask again later"));
      });
}

void keeper_state::tell_did(const request_ptr& what, const principal& id) {
  if (const auto* known = find(id); known != nullptr && known->did)
    return answer_text(*what, "text/plain; charset=utf-8", *known->did);
  ask(id, true, lifecycle::read_metadata{"candid:service"}, [what](lifecycle::answer& answer) {
    if (auto* found = std::get_if<lifecycle::metadata>(&answer))
      return answer_text(*what, "text/plain; charset=utf-8", std::move(found->contents));
    refuse(*what, no_section("candid:service"));
  });
}

void keeper_state::tell_logs(const request_ptr& what, const principal& id) {
  ask(id, what->is_local, lifecycle::read_log{what->from}, [what](lifecycle::answer& answer) {
    if (const auto* lines = std::get_if<std::vector<lifecycle::log_line>>(&answer))
      return answer_json(*what, log_page(*lines, what->from));
    refuse(*what, std::get<rejection>(answer));
  });
}

// -- commands ------------------------------------------------------------------

void keeper_state::command(const request_ptr& what, const principal& id) {
  using q = net::node_question;
  const auto done = [this, what](std::string page) {
    return [this, what, page = std::move(page)](lifecycle::answer& answer) {
      if (const auto* why = std::get_if<rejection>(&answer)) return fail_command(what, *why);
      end_command(what, page);
    };
  };
  setup_.log->info("command what={} actor={} local={}", word_of(what->what), what->actor,
                   what->is_local);
  switch (what->what) {
    case q::stop:
      return ask(id, what->is_local, lifecycle::stop{}, done(R"({"status":"stopped"})"));
    case q::start:
      return ask(id, what->is_local, lifecycle::start{}, done(R"({"status":"running"})"));
    case q::topup:
      return top_up(what, id);
    default:
      return install_again(what, id);
  }
}

void keeper_state::end_command(const request_ptr& what, byte_string page) {
  setup_.log->info("command_done what={} actor={}", word_of(what->what), what->actor);
  answer_json(*what, std::move(page));
}

void keeper_state::fail_command(const request_ptr& what, const rejection& why) {
  setup_.log->warn("command_failed what={} actor={} error_code={} reason={}", word_of(what->what),
                   what->actor, why.error_code, json_quote(why.message));
  refuse(*what, why);
}

// These cycles come from nowhere: that is for the actor's controllers.
void keeper_state::top_up(const request_ptr& what, const principal& id) {
  cycles amount;
  for (const char digit : what->cycles)
    amount.value = amount.value * 10 + static_cast<unsigned>(digit - '0');
  const auto deposit = [this, what, id, amount](lifecycle::answer& allowed) {
    if (const auto* why = std::get_if<rejection>(&allowed)) return fail_command(what, *why);
    ask(id, true, lifecycle::deposit{amount}, [this, what, id](lifecycle::answer& answer) {
      if (const auto* why = std::get_if<rejection>(&answer)) return fail_command(what, *why);
      ask(id, true, lifecycle::read_status{}, [this, what](lifecycle::answer& now) {
        if (const auto* status = std::get_if<lifecycle::status>(&now))
          return end_command(what, fmt::format(R"({{"cycles":"{}"}})", decimal(status->balance)));
        fail_command(what, std::get<rejection>(now));
      });
    });
  };
  ask(id, what->is_local, lifecycle::read_status{}, deposit);
}

// The module's file as it is now.
void keeper_state::install_again(const request_ptr& what, const principal& id) {
  const auto* known = find(id);
  if (known == nullptr)
    return fail_command(what, rejected(reject_code::destination_invalid, "MX302",
                                       fmt::format("actor '{}' is not in the manifest, so there is "
                                                   "no file to install it from",
                                                   what->actor)));
  const bool is_upgrade = what->what == net::node_question::upgrade;
  const auto put = [this, what, is_upgrade](const result<loaded_actor>& actor) {
    if (!actor)
      return fail_command(what,
                          rejected(reject_code::canister_error, "MX505", actor.error().message));
    const auto mode =
      is_upgrade ? lifecycle::install_mode::upgrade : lifecycle::install_mode::reinstall;
    install(*actor, mode, what->is_local, [this, what, actor = *actor](lifecycle::answer& answer) {
      if (const auto* why = std::get_if<rejection>(&answer)) return fail_command(what, *why);
      const auto hash = actor.code.code->hash();
      end_command(what, fmt::format(R"({{"module_hash":"{}"}})", to_hex(as_bytes(hash))));
    });
  };
  // Who may not do it learns that before a file is read.
  ask(id, what->is_local, lifecycle::read_status{},
      [this, what, entry = known->entry, put](lifecycle::answer& allowed) {
        if (const auto* why = std::get_if<rejection>(&allowed)) return fail_command(what, *why);
        load(entry, put);
      });
}

// -- requests ------------------------------------------------------------------

void keeper_state::ask(const principal& target, bool is_host, lifecycle::request what,
                       on_answer then) {
  manage_actor request;
  request.target = target;
  if (!is_host) request.sender = principal::anonymous();
  request.what = std::move(what);
  request.token = ++tokens_;
  request.reply_to = caf::actor_cast<manager_actor>(self_);
  asked_.emplace(request.token, std::move(then));
  self_->send(setup_.supervisor, std::move(request));
}

void keeper_state::ask(const principal& target, bool is_host, lifecycle::install_code what,
                       prepared_code code, on_answer then) {
  manage_actor request;
  request.target = target;
  if (!is_host) request.sender = principal::anonymous();
  request.what = std::move(what);
  request.code = std::move(code);
  request.token = ++tokens_;
  request.reply_to = caf::actor_cast<manager_actor>(self_);
  asked_.emplace(request.token, std::move(then));
  self_->send(setup_.supervisor, std::move(request));
}

void keeper_state::load(const manifest_actor& entry,
                        std::function<void(result<loaded_actor>)> then) {
  auto wasm = read_module(entry);
  if (!wasm) return then(wasm.error());
  const auto file = sha256(*wasm);
  const auto token = ++tokens_;
  loading_.emplace(token, [entry, file, then = std::move(then)](result<prepared_code>& code) {
    then(code ? finish_actor(entry, *std::move(code), file)
              : result<loaded_actor>{refused_module(entry, code.error())});
  });
  setup_.factory->prepare(*std::move(wasm),
                          [self = keeper_actor{self_}, token](result<prepared_code> code) {
                            caf::anon_send(self, module_made{token, std::move(code)});
                          });
}

void keeper_state::install(const loaded_actor& actor, lifecycle::install_mode mode, bool is_host,
                           on_answer then) {
  lifecycle::install_code install;
  install.mode = mode;
  install.argument = actor.install_argument;
  install.did = actor.did;
  ask(actor.id, is_host, std::move(install), actor.code,
      [this, actor, then = std::move(then)](lifecycle::answer& answer) {
        if (!std::holds_alternative<rejection>(answer))
          kept_.insert_or_assign(actor.name, kept_of(actor, setup_.defaults));
        then(answer);
      });
}

const kept_actor* keeper_state::find(const principal& id) const {
  for (const auto& [_, actor] : kept_)
    if (actor.id == id) return &actor;
  return nullptr;
}

std::optional<principal> keeper_state::resolve(const std::string& name_or_id) const {
  if (const auto at = kept_.find(name_or_id); at != kept_.end()) return at->second.id;
  auto parsed = principal::from_text(name_or_id);
  if (!parsed || parsed->is_management()) return std::nullopt;
  return *std::move(parsed);
}

keeper_actor::behavior_type keeper(keeper_state::self_pointer self, keeper_setup setup) {
  return self->state.make_behavior(std::move(setup));
}

} // namespace moxzi::actors
