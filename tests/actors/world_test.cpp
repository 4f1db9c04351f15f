#include <deque>
#include <map>
#include <memory>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "actors/host_error.hpp"
#include "actors/replay.hpp"
#include "tests/actors/core_driver.hpp"

// Several state machines that call each other, with deliveries, executions and the passing of time
// in random order; then each one's records are replayed.

namespace moxzi::actors {
namespace {

using testing::core_driver;
using testing::script_body;

constexpr uint128 opening_balance = 1'000'000'000;
const std::vector<std::string> names{"alice", "bob", "carol"};

/// With prices of all kinds, or with none.
create_input charged() {
  create_input created;
  created.charging = true;
  created.balance = {opening_balance};
  if (*rc::gen::arbitrary<bool>()) {
    const auto price = [](uint64_t max) { return *rc::gen::inRange<uint64_t>(0, max); };
    created.prices.execution = price(1'000'000);
    created.prices.billion_instructions = price(2'000'000);
    created.prices.call = price(100'000);
    created.prices.call_byte = price(100);
    created.prices.ingress = price(100'000);
    created.prices.ingress_byte = price(1'000);
  }
  return created;
}

std::string random_script(int depth) {
  std::string script;
  const auto steps = *rc::gen::inRange(1, 4);
  for (int i = 0; i < steps; ++i) {
    if (!script.empty()) script += ';';
    const auto kind = *rc::gen::inRange(0, depth > 0 ? 14 : 9);
    switch (kind) {
      case 0:
        script += "trap t";
        break;
      case 1:
        script += "reject r";
        break;
      case 2:
      case 3:
        script += "reply r";
        break;
      case 4:
        script += "accept 40";
        break;
      case 5:
        script += "timer " + std::to_string(*rc::gen::inRange(0, 5'000));
        break;
      case 6:
        script += "get";
        break;
      case 7:
      case 8:
        script += "add 1";
        break;
      default: {
        if (*rc::gen::arbitrary<bool>()) script += "attach 100;";
        script += "call " + *rc::gen::elementOf(names);
        for (int block = 0; block < 3; ++block) script += " {" + random_script(depth - 1) + "}";
        if (*rc::gen::arbitrary<bool>()) script += " {add 10}";
      }
    }
  }
  return script;
}

/// The drivers and what travels between them.
class world {
public:
  world() {
    for (const auto& name : names) {
      auto driver = std::make_unique<core_driver>(name, charged());
      driver->install();
      actors.emplace(driver->self, std::move(driver));
    }
  }

  void send(const std::string& name, std::string script) {
    call_request request;
    request.identity = {principal::anonymous(), 1, ++sent};
    request.origin = request_origin::outside;
    request.method = *rc::gen::weightedElement<std::string>({{9, "run"}, {1, "look"}, {1, "no"}});
    request.argument = std::move(script);
    at(name).feed(std::move(request));
    collect(at(name));
  }

  /// Delivers, in random order, until nothing travels. Requests of one pair keep their order.
  void settle() {
    while (!requests.empty() || !responses.empty()) {
      const auto all = requests.size() + responses.size();
      auto pick = *rc::gen::inRange<size_t>(0, all);
      if (pick < responses.size()) {
        auto response = responses[pick];
        responses.erase(responses.begin() + static_cast<ptrdiff_t>(pick));
        auto& to = *actors.at(response.identity.caller);
        to.feed(std::move(response));
        collect(to);
      } else {
        auto queue = std::next(requests.begin(), static_cast<ptrdiff_t>(pick - responses.size()));
        auto request = std::move(queue->second.front());
        queue->second.pop_front();
        auto& to = *actors.at(queue->first.second);
        if (queue->second.empty()) requests.erase(queue);
        to.feed(std::move(request));
        collect(to);
      }
    }
  }

  void pass_time(uint64_t by_ns) {
    now_ns += by_ns;
    for (auto& [_, actor] : actors) {
      actor->pass_time(now_ns);
      collect(*actor);
    }
  }

  /// Something of an actor's life, whatever runs or waits.
  void change(const std::string& name) {
    auto& actor = at(name);
    switch (*rc::gen::inRange(0, 7)) {
      case 0:
        actor.ask(lifecycle::uninstall_code{});
        break;
      case 1:
        actor.ask(lifecycle::stop{});
        break;
      case 2:
        actor.ask(lifecycle::stop{});
        actor.ask(lifecycle::remove{});
        break;
      case 3:
        actor.ask(lifecycle::start{});
        break;
      case 4:
        actor.install("add 1", lifecycle::install_mode::upgrade);
        break;
      case 5:
        actor.install("add 1", lifecycle::install_mode::reinstall);
        break;
      default:
        if (actor.change(actor.ask(lifecycle::deposit{{50}})) == "done") deposited += 50;
    }
    collect(actor);
  }

  core_driver& at(const std::string& name) {
    return *actors.at(principal::of_actor(name));
  }

  std::map<principal, std::unique_ptr<core_driver>> actors;
  std::map<std::pair<principal, principal>, std::deque<call_request>> requests;
  std::vector<call_response> responses;
  std::map<call_identity, int> answered;
  uint64_t issued = 0;
  uint64_t sent = 0;
  uint64_t deposited = 0;
  uint64_t now_ns = 1'000;

private:
  void collect(core_driver& from) {
    for (auto& call : from.calls) {
      ++issued;
      requests[{from.self, call.callee}].push_back(std::move(call.request));
    }
    from.calls.clear();
    for (auto& [_, answer] : from.all_answers) {
      ++answered[answer.identity];
      if (answer.identity.caller != principal::anonymous()) responses.push_back(answer);
    }
    from.all_answers.clear();
  }
};

void check_one_world(bool changes) {
  world all;
  const auto rounds = *rc::gen::inRange(1, 8);
  for (int i = 0; i < rounds; ++i) {
    all.send(*rc::gen::elementOf(names), random_script(3));
    if (changes && *rc::gen::arbitrary<bool>()) all.change(*rc::gen::elementOf(names));
    if (*rc::gen::arbitrary<bool>()) all.settle();
    if (*rc::gen::arbitrary<bool>()) all.pass_time(2'000);
  }
  all.settle();

  RC_ASSERT(all.answered.size() == all.sent + all.issued);
  for (const auto& [_, count] : all.answered) RC_ASSERT(count == 1);
  uint128 total = 0;
  for (const auto& [_, actor] : all.actors) {
    RC_ASSERT(!actor->core.busy());
    RC_ASSERT(actor->core.waiting() == 0u);
    RC_ASSERT(actor->core.open_contexts() == 0u);
    RC_ASSERT(actor->core.open_calls() == 0u);
    RC_ASSERT(actor->core.held() == cycles{});
    total += actor->core.balance().value + actor->core.spent().value;
  }
  RC_ASSERT((total == opening_balance * names.size() + all.deposited));

  for (const auto& [self, actor] : all.actors) {
    core_settings settings;
    settings.self = self;
    script_body fresh;
    const auto replayed = replay(actor->records, settings, fresh, testing::source_of(fresh));
    RC_ASSERT(replayed.has_value());
    RC_ASSERT(replayed->records == actor->records.size());
    RC_ASSERT(fresh.counter == actor->body.counter);
  }
}

RC_GTEST_PROP(World, EveryCallIsAnsweredOnceAndNoCycleIsLost, ()) {
  for (int i = 0; i < 30; ++i) check_one_world(false);
}

RC_GTEST_PROP(World, NorIsOneLostWhenActorsStopLoseTheirCodeOrAreDeleted, ()) {
  for (int i = 0; i < 20; ++i) check_one_world(true);
}

TEST(Replay, NamesTheRecordThatDiffers) {
  core_driver alice;
  alice.install();
  alice.request("add 1; call bob {get} {echo} {echo}");
  alice.reply(1, "one");
  alice.request("get");
  core_settings settings;
  settings.self = alice.self;
  script_body fresh;
  ASSERT_EQ(replay(alice.records, settings, fresh, testing::source_of(fresh))->records, 5u);

  auto changed = alice.records;
  changed[3].payload = encode_payload(call_response{{alice.self, 1, 1}, reply_value{"two"}, {}},
                                      limits::update_instructions_max);
  script_body another;
  const auto outcome = replay(changed, settings, another, testing::source_of(another));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, host_errc::diverged);
  EXPECT_EQ(outcome.error().message.substr(0, 8), "record 4");
}

TEST(Replay, ADifferentBodyIsNoticed) {
  core_driver alice;
  alice.install();
  alice.request("timer 2000; reply ok");
  alice.pass_time(2'000);
  core_settings settings;
  settings.self = alice.self;
  script_body other;
  other.on_timer = "add 1001";
  const auto outcome = replay(alice.records, settings, other, testing::source_of(other));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, host_errc::diverged);
  EXPECT_EQ(outcome.error().message.substr(0, 8), "record 4");
}

TEST(Replay, RecordsThatCannotFollowAreRefused) {
  core_driver alice;
  alice.install();
  alice.request("call bob {get} {echo} {echo}");
  alice.reply(1, "one");
  core_settings settings;
  settings.self = alice.self;
  const auto without = [&](size_t index) {
    auto records = alice.records;
    records.erase(records.begin() + static_cast<ptrdiff_t>(index));
    script_body fresh;
    const auto outcome = replay(records, settings, fresh, testing::source_of(fresh));
    return outcome ? std::error_code{} : outcome.error().code;
  };
  EXPECT_EQ(without(0), host_errc::bad_record); // no creation
  EXPECT_EQ(without(2), host_errc::bad_record); // answers a call never made
}

} // namespace
} // namespace moxzi::actors
