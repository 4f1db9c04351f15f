#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/hosting/motoko_fixture.hpp"
#include "tests/actors/hosting/resident.hpp"

// The life of hosted actors on a real node: made at run time or by name, compiled on a thread of
// its own, upgraded, stopped, deleted.

namespace moxzi::actors {
namespace {

namespace lc = lifecycle;
using ::testing::HasSubstr;
using testing::hosting_fixture;
using testing::script_body;
using ::testing::StartsWith;

const principal owner = principal::of_actor("owner");

class Lives : public testing::motoko_fixture {
protected:
  lc::install_code install_of(byte_string module, lc::install_mode mode) {
    lc::install_code what;
    what.mode = mode;
    what.module = std::move(module);
    return what;
  }
  std::string upgrade(const std::string& name, const std::string& module,
                      lc::heap_policy heap = lc::heap_policy::unsaid) {
    auto what = install_of(testing::motoko(module), lc::install_mode::upgrade);
    what.heap = heap;
    const auto answer = manage(principal::of_actor(name), std::move(what));
    const auto* why = std::get_if<rejection>(&answer);
    return why == nullptr ? "done" : why->error_code + " " + why->message;
  }
  lc::status status(const principal& id) {
    return std::get<lc::status>(manage(id, lc::read_status{}));
  }
};

TEST_F(Lives, ActorsMadeAtRunTimeGetPrincipalsOfThisNode) {
  create_actor what;
  what.sender = owner;
  EXPECT_EQ(brief(create(what)), "done");
  EXPECT_EQ(last_target, principal::of_made_actor(7, 0));
  EXPECT_EQ(to_hex(last_target.bytes()), "00070000000000000201");
  EXPECT_EQ(brief(create(what)), "done");
  EXPECT_EQ(last_target, principal::of_made_actor(7, 1));
  EXPECT_EQ(status(last_target).current.controllers, std::vector{owner});
  what.id = last_target;
  EXPECT_EQ(brief(create(what)), "MX205");
  what.id.reset();
  what.settings.compute_allocation = 200;
  EXPECT_EQ(brief(create(what)), "MX408");
}

TEST_F(Lives, AModuleComesAsBytesAndIsCompiledOnTheSide) {
  create_actor what;
  what.name = "made";
  create(what);
  const auto id = principal::of_actor("made");
  EXPECT_THAT(call("made", "", "bump"), StartsWith("5 MX537: "));
  EXPECT_EQ(brief(manage(id, install_of(testing::motoko("counter"), lc::install_mode::install))),
            "done");
  EXPECT_EQ(post("made", "bump", "[3]").status, 200);
  EXPECT_EQ(status(id).module_hash, sha256(testing::motoko("counter")));
  EXPECT_EQ(brief(manage(id, install_of("no module", lc::install_mode::reinstall))), "MX505");
  EXPECT_EQ(brief(manage(id, install_of("\x1f\x8b\x08", lc::install_mode::reinstall))), "MX505");
  EXPECT_EQ(post("made", "bump", "[3]").status, 200);
}

TEST_F(Lives, ChangesKeepTheirOrderWhileAModuleIsCompiled) {
  create_actor what;
  what.name = "made";
  create(what);
  const auto id = principal::of_actor("made");
  caf::scoped_actor self{*system};
  const auto ask = [&](lc::request request, uint64_t token) {
    manage_actor ask;
    ask.target = id;
    ask.what = std::move(request);
    ask.token = token;
    ask.reply_to = caf::actor_cast<manager_actor>(self);
    self->send(boss(), std::move(ask));
  };
  ask(install_of(testing::motoko("counter"), lc::install_mode::install), 1);
  ask(lc::uninstall_code{}, 2);
  ask(install_of(testing::motoko("counter"), lc::install_mode::install), 3);
  ask(lc::read_status{}, 4);
  std::vector<uint64_t> order;
  for (int i = 0; i < 4; ++i) {
    self->receive([&](const managed& done) { order.push_back(done.token); },
                  caf::after(testing::patience) >> [] { ADD_FAILURE() << "no answer"; });
  }
  EXPECT_THAT(order, ::testing::ElementsAre(4, 1, 2, 3)); // what only reads does not wait
}

TEST_F(Lives, AnUpgradeKeepsWhatIsStable) {
  host("actor", "first_version");
  EXPECT_EQ(post("actor", "bump", "[]").body, "[2]");
  EXPECT_EQ(query("actor", "state"), R"([2,1,["one","two"]])");
  EXPECT_EQ(upgrade("actor", "second_version"), "done");
  EXPECT_EQ(query("actor", "state"), R"([2,5,["one","two"],"new",77])");
  know("second_version");
  expect_replays("actor");
}

TEST_F(Lives, AnUpgradeThatDoesNotFitLeavesTheOldCodeAndData) {
  host("actor", "first_version");
  post("actor", "bump", "[]");
  EXPECT_THAT(upgrade("actor", "misfit_version"), HasSubstr("Memory-incompatible program upgrade"));
  EXPECT_EQ(query("actor", "state"), R"([2,1,["one","two"]])");
  EXPECT_EQ(post("actor", "bump", "[]").body, "[3]");
  EXPECT_EQ(upgrade("actor", "misfit_version", lc::heap_policy::replace), "done");
  EXPECT_EQ(query("actor", "state"), R"([""])");
  know("misfit_version");
  expect_replays("actor");
}

TEST_F(Lives, SnapshotsBringTheOldStateBack) {
  host("actor", "first_version");
  post("actor", "bump", "[]");
  const auto id = principal::of_actor("actor");
  const auto taken = std::get<std::vector<lc::snapshot>>(manage(id, lc::take_snapshot{}));
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].id.substr(0, 10), id.bytes());
  post("actor", "bump", "[]");
  EXPECT_EQ(upgrade("actor", "second_version"), "done");
  EXPECT_EQ(brief(manage(id, lc::load_snapshot{taken[0].id})), "done");
  EXPECT_EQ(query("actor", "state"), R"([2,1,["one","two"]])");
  EXPECT_EQ(post("actor", "bump", "[]").body, "[3]");
  EXPECT_EQ(brief(manage(id, lc::load_snapshot{"nothing"})), "MX305");
  EXPECT_EQ(std::get<std::vector<lc::snapshot>>(manage(id, lc::list_snapshots{})), taken);
  EXPECT_EQ(brief(manage(id, lc::delete_snapshot{taken[0].id})), "done");
  know("second_version");
  expect_replays("actor");
}

TEST_F(Lives, ADeletedActorIsGoneAndItsNameFree) {
  host("actor", "first_version");
  const auto id = principal::of_actor("actor");
  EXPECT_EQ(brief(manage(id, lc::remove{})), "MX510");
  EXPECT_EQ(brief(manage(id, lc::stop{})), "done");
  EXPECT_EQ(post("actor", "bump", "[]").status, 409);
  EXPECT_EQ(brief(manage(id, lc::remove{})), "done");
  // Whoever still has a way to it is refused; then nobody has.
  const auto give_up = std::chrono::steady_clock::now() + testing::patience;
  std::string last;
  do last = call("actor", "");
  while (last.find("any more") != std::string::npos && std::chrono::steady_clock::now() < give_up);
  EXPECT_THAT(last, StartsWith("3 MX301: "));
  EXPECT_EQ(brief(manage(id, lc::read_status{})), "MX301");
  host("actor", "first_version");
  EXPECT_EQ(post("actor", "bump", "[]").body, "[2]");
}

TEST_F(Lives, WhatAnActorHasOnTheDeviceGoesWithItsCodeButNotInAnUpgrade) {
  host("actor", "first_version");
  const auto id = principal::of_actor("actor");
  const auto seen = [this] {
    const std::lock_guard held{factory.mutex};
    return management_calls;
  };
  EXPECT_EQ(upgrade("actor", "second_version"), "done");
  EXPECT_EQ(brief(manage(id, lc::read_status{})), "done");
  EXPECT_TRUE(seen().empty());
  const auto again = install_of(testing::motoko("first_version"), lc::install_mode::reinstall);
  EXPECT_EQ(brief(manage(id, again)), "done");
  EXPECT_EQ(brief(manage(id, lc::uninstall_code{})), "done");
  const auto give_up = std::chrono::steady_clock::now() + testing::patience;
  while (seen().size() < 2 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
  EXPECT_THAT(seen(), ::testing::ElementsAre("moxzi_device_delete", "moxzi_device_delete"));
}

TEST_F(Lives, TheNodeStopsWhileModulesAreCompiled) {
  create_actor what;
  what.name = "made";
  create(what);
  caf::scoped_actor self{*system};
  for (uint64_t token = 1; token <= 20; ++token) {
    manage_actor ask;
    ask.target = principal::of_actor("made");
    ask.what = install_of(testing::motoko("counter"), lc::install_mode::reinstall);
    ask.token = token;
    ask.reply_to = caf::actor_cast<manager_actor>(self);
    self->send(boss(), std::move(ask));
  }
  EXPECT_EQ(stop(), 0u);
  for (int i = 0; i < 20; ++i) {
    self->receive([](const managed&) {},
                  caf::after(testing::patience) >> [] { ADD_FAILURE() << "no answer"; });
  }
}

TEST_F(Lives, AllActorsAreListed) {
  host("one", "first_version");
  create_actor what;
  create(what);
  caf::scoped_actor self{*system};
  actor_list all;
  self->request(boss(), testing::patience, list_atom::value)
    .receive([&](actor_list& list) { all = std::move(list); },
             [](const caf::error&) { ADD_FAILURE(); });
  ASSERT_EQ(all.entries.size(), 2u);
}

class CompositeQueries : public hosting_fixture {};

TEST_F(CompositeQueries, AskOtherActorsAndChangeNothing) {
  start("alice");
  start("bob");
  call("bob", "add 7");
  std::atomic<uint64_t> number{1'000'000};
  const auto ask = [this, &number](const std::string& name, byte_string script) {
    caf::scoped_actor self{*system};
    call_request request;
    request.identity = {principal::of_actor("tester"), 1, ++number};
    request.mode = request_mode::query;
    request.method = "ask";
    request.argument = std::move(script);
    self->send(route, deliver_request{principal::of_actor(name), std::move(request),
                                      caf::actor_cast<caller_actor>(self)});
    std::string text = "no response";
    self->receive(
      [&](call_response& what) {
        const auto* reply = std::get_if<reply_value>(&what.answer);
        text = reply != nullptr ? reply->argument : std::get<rejection>(what.answer).error_code;
      },
      caf::after(testing::patience) >> [] { ADD_FAILURE() << "no response"; });
    return text;
  };
  EXPECT_EQ(ask("alice", "method look; call bob {add 1; get} {echo} {echo}"), "8");
  // Whom it waits for may ask it back; that begins with what is committed.
  EXPECT_EQ(ask("alice", "add 5; method ask; call bob {method look; call alice {get} {echo} {reply "
                         "refused}} {echo} {echo}"),
            "0");
  EXPECT_THAT(ask("alice", "method run; call bob {add 1} {echo} {echo}"), HasSubstr("no query"));
  EXPECT_EQ(call("bob", "get"), "reply: 7");
  // Two that ask each other at once do not wait for each other.
  std::vector<std::thread> threads;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([&, i] {
      const bool is_even = i % 2 == 0;
      EXPECT_EQ(ask(is_even ? "alice" : "bob", std::string{"method look; call "}
                                                 + (is_even ? "bob" : "alice")
                                                 + " {reply yes} {echo} {echo}"),
                "yes");
    });
  }
  for (auto& thread : threads) thread.join();
}

using Stuck = hosting_fixture;

TEST_F(Stuck, AnActorRefusesAHundredThousandCallsWithinLittleMemory) {
  start("stuck", std::make_unique<testing::spinning_body>());
  const auto before = testing::resident_bytes();
  caf::scoped_actor self{*system};
  const auto reply_to = caf::actor_cast<caller_actor>(self);
  constexpr size_t count = 100'000;
  size_t refused = 0;
  for (size_t sent = 0; sent < count;) {
    for (size_t i = 0; i < 1'000; ++i, ++sent) {
      call_request request;
      request.identity = {principal::of_actor("tester"), 1, ++sequence};
      request.method = "spin";
      request.argument = "0123456789";
      self->send(route,
                 deliver_request{principal::of_actor("stuck"), std::move(request), reply_to});
    }
    const size_t taken = limits::queue_length_max + 1; // one runs, the others wait
    while (refused < sent - std::min(sent, taken)) {
      self->receive(
        [&](const call_response& what) {
          EXPECT_EQ(std::get<rejection>(what.answer).error_code, "MX201");
          ++refused;
        },
        caf::after(testing::patience) >>
          [&] {
            ADD_FAILURE() << "no answer after " << refused;
            refused = count;
          });
    }
  }
  EXPECT_EQ(refused, count - limits::queue_length_max - 1);
  EXPECT_LE(testing::resident_bytes(), before + (64u << 20));
}

} // namespace
} // namespace moxzi::actors
