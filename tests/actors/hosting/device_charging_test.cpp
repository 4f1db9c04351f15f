#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>

#include "actors/candid/decode.hpp"
#include "actors/management/device_types.hpp"
#include "actors/management/management.hpp"
#include "actors/record_payload.hpp"
#include "device/device_worker.hpp"
#include "device/open.hpp"
#include "persist/memory_journal.hpp"
#include "tests/actors/management/page.hpp"

// What the device's time costs, by a clock that the test turns: every call takes `call_ns`.

namespace moxzi::actors::management {
namespace {

using ::testing::HasSubstr;

/// Each look at it finds it further on.
class stepping_clock : public clock {
public:
  uint64_t unix_ns() const noexcept override {
    return 1'000'000'000'000'000'000;
  }
  uint64_t monotonic_ns() const noexcept override {
    return now_ns.fetch_add(step_ns);
  }
  std::atomic<uint64_t> step_ns{0};
  mutable std::atomic<uint64_t> now_ns{0};
};

class DeviceCharging : public ::testing::Test {
protected:
  static constexpr uint64_t per_ms = 100'000'000;

  DeviceCharging()
      : time(std::make_shared<stepping_clock>()), randomness(make_system_entropy()),
        system(config) {
    device::worker_setup worker_set_up;
    worker_set_up.on = device::make_reference_backend();
    worker_set_up.time = time;
    worker_set_up.thread = &thread;
    worker = device::spawn_device_worker(system, std::move(worker_set_up));
  }
  ~DeviceCharging() override {
    if (canister) caf::anon_send(canister, stop_atom::value);
    caf::anon_send_exit(worker, caf::exit_reason::user_shutdown);
  }

  void begin(bool charging = true, uint64_t cycles_per_ms = per_ms) {
    management_setup setup;
    setup.device = worker;
    setup.journal = &journal;
    setup.time = time.get();
    setup.randomness = randomness.get();
    setup.log =
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
    setup.charging = charging;
    setup.device_cycles_per_ms = cycles_per_ms;
    canister = spawn_management(system, setup);
  }

  call_response call(uint64_t call_ns, cycles attached, cycles balance,
                     const std::string& method = "moxzi_device_params",
                     byte_string argument = *from_hex(page::params)) {
    time->step_ns = call_ns;
    caf::scoped_actor self{system};
    call_request request;
    request.identity = {principal::of_actor("letters"), 1, ++sequence};
    request.method = method;
    request.argument = std::move(argument);
    request.attached = attached;
    request.caller_balance = balance;
    self->send(canister, deliver_request{principal{}, std::move(request),
                                         caf::actor_cast<caller_actor>(self)});
    call_response response;
    self->receive([&](call_response& what) { response = std::move(what); },
                  caf::after(std::chrono::seconds{20}) >> [] { ADD_FAILURE() << "no response"; });
    return response;
  }
  static bool replied(const call_response& response) {
    return std::holds_alternative<reply_value>(response.answer);
  }

  std::shared_ptr<stepping_clock> time;
  std::unique_ptr<entropy> randomness;
  persist::memory_journal journal{1u << 20};
  caf::actor_system_config config;
  caf::actor_system system;
  device::device_thread thread;
  device::device_worker_actor worker;
  management_actor canister;
  uint64_t sequence = 0;
};

TEST_F(DeviceCharging, ACallCostsItsMicrosecondsRoundedUp) {
  begin();
  const struct {
    uint64_t ns;
    uint64_t cost;
  } cases[] = {
    {0, 100'000}, // at least one microsecond
    {1, 100'000},
    {1'000, 100'000},
    {1'001, 200'000},
    {1'234'567, 123'500'000}, // 1235 microseconds
    {1'000'000'000, 100'000'000'000},
  };
  for (const auto& one : cases) {
    const auto response = call(one.ns, cycles{0}, cycles{per_ms});
    EXPECT_TRUE(replied(response));
    EXPECT_EQ(response.charged, cycles{one.cost}) << one.ns;
    EXPECT_EQ(actors::to_cycles(journal.records().back().cycles), cycles{one.cost}) << one.ns;
  }
}

TEST_F(DeviceCharging, AFractionOfACycleIsACycle) {
  begin(true, 1);
  EXPECT_EQ(call(1'000, cycles{}, cycles{1}).charged, cycles{1});
  EXPECT_EQ(call(1'000'000, cycles{}, cycles{1}).charged, cycles{1});
  EXPECT_EQ(call(1'001'000, cycles{}, cycles{1}).charged, cycles{2});
}

TEST_F(DeviceCharging, WhatIsAttachedGoesFirst) {
  begin();
  const auto all = call(1'000, cycles{150'000}, cycles{per_ms});
  EXPECT_EQ(all.refunded, cycles{50'000});
  EXPECT_EQ(all.charged, cycles{0});
  const auto part = call(2'000, cycles{150'000}, cycles{per_ms});
  EXPECT_EQ(part.refunded, cycles{0});
  EXPECT_EQ(part.charged, cycles{50'000});
  EXPECT_EQ(actors::to_cycles(journal.records().back().cycles), cycles{200'000});
}

TEST_F(DeviceCharging, WhoDoesNotHoldAMillisecondsWorthIsRefusedBeforeAnyWork) {
  begin();
  const auto poor = call(1'000, cycles{77}, cycles{per_ms - 78});
  const auto* why = std::get_if<rejection>(&poor.answer);
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(why->error_code, "MXD070");
  EXPECT_EQ(why->code, reject_code::canister_reject);
  EXPECT_THAT(why->message, HasSubstr("99999999 cycles"));
  EXPECT_EQ(poor.refunded, cycles{77});
  EXPECT_EQ(poor.charged, cycles{0});
  EXPECT_TRUE(journal.records().empty());
  EXPECT_TRUE(replied(call(1'000, cycles{77}, cycles{per_ms - 77})));
}

TEST_F(DeviceCharging, AWrongRequestCostsWhatItTook) {
  begin();
  const auto response =
    call(5'000, cycles{}, cycles{per_ms}, "moxzi_device_optimizer", *from_hex(page::optimizer));
  EXPECT_FALSE(replied(response));
  EXPECT_EQ(response.charged, cycles{500'000});
}

TEST_F(DeviceCharging, WithoutChargingNothingIsTaken) {
  begin(false);
  const auto response = call(1'000, cycles{77}, cycles{});
  EXPECT_TRUE(replied(response));
  EXPECT_EQ(response.refunded, cycles{77});
  EXPECT_EQ(response.charged, cycles{0});
  EXPECT_EQ(actors::to_cycles(journal.records().back().cycles), cycles{0});
}

TEST_F(DeviceCharging, TheDeviceSaysItsPrice) {
  begin();
  const auto response =
    call(1'000, cycles{}, cycles{per_ms}, "moxzi_device_info", byte_string{"DIDL\0\0", 6});
  ASSERT_TRUE(replied(response));
  const auto read = candid::decode_any(std::get<reply_value>(response.answer).argument);
  ASSERT_TRUE(read);
  const auto* field = read->types->find(read->items[0], candid::hash_name("cycles_per_ms"));
  ASSERT_NE(field, nullptr);
  const auto position = static_cast<size_t>(field - read->types->fields(read->items[0]).data());
  EXPECT_EQ(read->values[0].as_list()[position].as_whole().to_text(), "100000000");
}

} // namespace
} // namespace moxzi::actors::management
