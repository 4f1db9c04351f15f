#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <caf/all.hpp>
#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>

#include "actors/alarm_clock.hpp"
#include "actors/canister_actor.hpp"
#include "actors/harden.hpp"
#include "actors/pool_unit.hpp"
#include "actors/router.hpp"
#include "actors/supervisor.hpp"
#include "actors/wasm/wasm_factory.hpp"
#include "base/clock.hpp"
#include "base/codec.hpp"
#include "persist/memory_journal.hpp"
#include "tests/actors/script_body.hpp"

namespace moxzi::actors::testing {

/// Until a test gives up.
constexpr std::chrono::seconds patience{20};

/// An answer from outside's point of view; waits for it.
class waiting_sink : public net::answer_sink {
public:
  void answer(net::http_answer what) noexcept override {
    const std::lock_guard lock{mutex_};
    ++answers;
    if (!answer_) answer_ = std::move(what);
    changed_.notify_all();
  }
  net::http_answer wait() {
    std::unique_lock lock{mutex_};
    const bool came = changed_.wait_for(lock, patience, [this] { return answer_.has_value(); });
    EXPECT_TRUE(came) << "no answer";
    return answer_.value_or(net::http_answer{0, "", "none"});
  }
  bool has_answer() {
    const std::lock_guard lock{mutex_};
    return answer_.has_value();
  }
  int answers = 0;

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<net::http_answer> answer_;
};

/// A body whose method `spin` never ends by itself, on a thread of its own, as wasm does.
class spinning_body : public script_body {
public:
  ~spinning_body() override {
    {
      const std::lock_guard lock{mutex_};
      given_up_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  std::optional<method_mode> find_method(const std::string& method) const override {
    if (method == "spin") return method_mode::update;
    return script_body::find_method(method);
  }
  void execute(execution_input input, may_call_function may_call,
               std::function<void(execution_output)> done) override {
    if (input.method != "spin") {
      return script_body::execute(std::move(input), std::move(may_call), std::move(done));
    }
    thread_ = std::thread{[this] {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [this] { return given_up_; });
    }};
    done_ = std::move(done); // kept, never called: the execution is given up
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool given_up_ = false;
  std::thread thread_;
  std::function<void(execution_output)> done_;
};

/// The script body with a Candid interface: arguments and replies are one text each.
class text_body : public script_body {
public:
  static constexpr std::string_view did =
    "service : { run : (text) -> (text); look : (text) -> (text) query; }";

  void execute(execution_input input, may_call_function may_call,
               std::function<void(execution_output)> done) override {
    if (input.kind == entry_kind::update || input.kind == entry_kind::query) {
      reader in{byte_view{input.argument}.substr(header.size())};
      input.argument = byte_string{in.bytes()};
    }
    auto output = run(std::move(input), may_call);
    if (output.answer && raw_reply.empty()) {
      if (auto* reply = std::get_if<reply_value>(&*output.answer)) {
        writer out;
        out.raw(header);
        out.bytes(reply->argument);
        reply->argument = out.take();
      }
    } else if (output.answer) {
      output.answer = reply_value{raw_reply};
    }
    done(std::move(output));
  }

  /// Answered instead, if set.
  byte_string raw_reply;

private:
  const byte_string header{"DIDL\0\1\x71", 7};
};

/// What came of an installation.
struct install_report {
  bool installed = false;
  std::string failure; ///< why not
};

/// Bodies that the test made, or wasm.
class fixture_factory : public code_factory {
public:
  explicit fixture_factory(const wasm_pool& pool) {
    wasm_factory_options options;
    options.pool = pool.handle();
    options.compile = [](byte_view wasm) { return engine()->compile(wasm); };
    wasm = std::make_unique<wasm_factory>(std::move(options));
  }
  static const std::shared_ptr<wasm_engine>& engine() {
    static const auto made = *wasm_engine::make();
    return made;
  }
  std::unique_ptr<actor_body> make_body(const principal& self) override {
    const std::lock_guard held{mutex};
    if (const auto at = bodies.find(self); at != bodies.end()) return std::move(at->second);
    return wasm->make_body(self);
  }
  void prepare(byte_string module, std::function<void(result<prepared_code>)> done) override {
    wasm->prepare(std::move(module), std::move(done));
  }

  std::mutex mutex;
  std::map<principal, std::unique_ptr<actor_body>> bodies;
  std::unique_ptr<wasm_factory> wasm;
};

/// A node with real actors, a journal in memory and bodies made by the test.
class hosting_fixture : public ::testing::Test {
protected:
  hosting_fixture()
      : time(make_system_clock()), journal(64u << 20),
        log(std::make_shared<spdlog::logger>("test",
                                             std::make_shared<spdlog::sinks::null_sink_mt>())),
        alarms(*time) {
    config.set("scheduler.max-threads", 2);
    system.emplace(config);
    on_pool.emplace(*system, pool.handle());
    // Stands in for the management canister: answers each call with its method's name.
    management = system->spawn(
      [this](management_actor::pointer self,
             std::shared_ptr<spdlog::logger> logger) -> management_actor::behavior_type {
        harden(self, std::move(logger));
        return {
          [this, self](deliver_request& what) {
            {
              const std::lock_guard held{factory.mutex};
              management_calls.push_back(what.request.method);
            }
            self->send(what.reply_to,
                       call_response{what.request.identity, reply_value{what.request.method},
                                     what.request.attached});
          },
          [](const meet_supervisor&) {},
          [self](stop_atom) { self->quit(); },
        };
      },
      log);
    route = system->spawn(router, callee_actor{management}, log);
  }

  /// The supervisor, made with the settings that stand when it is first asked for.
  supervisor_actor& boss() {
    if (!boss_) {
      supervisor_setup setup;
      setup.router = route;
      setup.management = management;
      setup.services = {route, management, &journal, time.get(), &alarms, unit, &factory, log};
      setup.settings = settings;
      setup.charging = charging;
      setup.prices = prices;
      setup.node = 7;
      boss_ = system->spawn(supervisor, std::move(setup));
    }
    return boss_;
  }

  ~hosting_fixture() override {
    if (!stopped) stop();
    pool.stop();
  }

  /// Makes an actor; waits for its principal.
  lifecycle::answer create(create_actor what) {
    return ask_boss(std::move(what));
  }
  /// Asks the host's own request about an actor, or that of `sender`; waits for the answer.
  lifecycle::answer manage(const principal& id, lifecycle::request what,
                           std::optional<prepared_code> code = {},
                           std::optional<principal> sender = {}) {
    manage_actor ask;
    ask.target = id;
    ask.sender = std::move(sender);
    ask.what = std::move(what);
    ask.code = std::move(code);
    return ask_boss(std::move(ask));
  }
  /// `done`, or the error code.
  static std::string brief(const lifecycle::answer& answer) {
    const auto* why = std::get_if<rejection>(&answer);
    return why != nullptr ? why->error_code : "done";
  }

  /// Starts an actor with this code, or with the body as its own code.
  install_report start_with(const std::string& name, std::optional<prepared_code> code,
                            lifecycle::install_code install) {
    create_actor create_it;
    create_it.name = name;
    create_it.balance = balance;
    EXPECT_EQ(brief(create(std::move(create_it))), "done");
    const auto answer = manage(principal::of_actor(name), std::move(install), std::move(code));
    const auto* why = std::get_if<rejection>(&answer);
    return {why == nullptr, why == nullptr ? "" : why->message};
  }
  install_report start(const std::string& name, std::unique_ptr<script_body> body,
                       byte_string argument = "add 0", std::optional<std::string> did = {}) {
    const auto code = code_of(*body);
    {
      const std::lock_guard held{factory.mutex};
      factory.bodies[principal::of_actor(name)] = std::move(body);
    }
    lifecycle::install_code install;
    install.argument = std::move(argument);
    install.did = std::move(did);
    return start_with(name, prepared_code{code}, std::move(install));
  }
  install_report start(const std::string& name) {
    return start(name, std::make_unique<script_body>());
  }

  /// Calls `run` of an actor as another actor would and waits for the response, as text.
  std::string call(const std::string& name, byte_string script, std::string method = "run") {
    caf::scoped_actor self{*system};
    call_request request;
    request.identity = {principal::of_actor("tester"), 1, ++sequence};
    request.method = std::move(method);
    request.argument = std::move(script);
    self->send(route, deliver_request{principal::of_actor(name), std::move(request),
                                      caf::actor_cast<caller_actor>(self)});
    std::string text = "no response";
    self->receive(
      [&](call_response& what) {
        if (auto* reply = std::get_if<reply_value>(&what.answer)) {
          text = "reply: " + reply->argument;
        } else {
          const auto& why = std::get<rejection>(what.answer);
          text = fmt::format("{} {}: {}", static_cast<int>(why.code), why.error_code, why.message);
        }
      },
      caf::after(patience) >> [] { ADD_FAILURE() << "no response"; });
    return text;
  }

  /// Calls from outside.
  std::shared_ptr<waiting_sink> send(const std::string& actor, const std::string& method,
                                     const std::string& body,
                                     net::call_kind kind = net::call_kind::update) {
    auto sink = std::make_shared<waiting_sink>();
    auto call = std::make_shared<net::http_call>();
    call->kind = kind;
    call->actor = actor;
    call->method = method;
    call->body = body;
    call->sink = sink;
    net::send_to(route, unit)(std::move(call));
    return sink;
  }
  net::http_answer post(const std::string& actor, const std::string& method,
                        const std::string& body, net::call_kind kind = net::call_kind::update) {
    return send(actor, method, body, kind)->wait();
  }

  /// Stops all; returns how many were interrupted.
  uint32_t stop() {
    stopped = true;
    caf::scoped_actor self{*system};
    uint32_t interrupted = 0;
    self->send(boss(), stop_atom::value);
    self->receive([&](const all_stopped& what) { interrupted = what.interrupted; },
                  caf::after(patience) >> [] { ADD_FAILURE() << "did not stop"; });
    return interrupted;
  }

  template <class Message>
  lifecycle::answer ask_boss(Message what) {
    caf::scoped_actor self{*system};
    what.reply_to = caf::actor_cast<manager_actor>(self);
    what.token = 77;
    self->send(boss(), std::move(what));
    lifecycle::answer answer;
    self->receive(
      [&](managed& report) {
        EXPECT_EQ(report.token, 77u);
        last_target = report.target;
        answer = std::move(report.answer);
      },
      caf::after(patience) >> [] { ADD_FAILURE() << "no answer"; });
    return answer;
  }

  core_settings settings; ///< of all actors
  bool charging = false;
  price_table prices;
  cycles balance; ///< of the actors started from now on
  principal last_target;
  std::unique_ptr<clock> time;
  persist::memory_journal journal;
  std::shared_ptr<spdlog::logger> log;
  alarm_clock alarms;
  caf::actor_system_config config;
  wasm_pool pool{2};
  std::optional<pool_unit> on_pool;
  fixture_factory factory{pool};
  caf::execution_unit* unit = nullptr; ///< of all actors
  std::optional<caf::actor_system> system;
  management_actor management;
  router_actor route;
  supervisor_actor boss_;
  std::vector<std::string> management_calls; ///< guarded by the factory's mutex
  uint64_t sequence = 0;
  bool stopped = false;
};

} // namespace moxzi::actors::testing
