#include "device/device_worker.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "device/errors.hpp"
#include "tests/device/support.hpp"

namespace moxzi::device {
namespace {

using namespace testing;
using namespace std::chrono_literals;

struct world {
  caf::actor_system_config config;
  caf::actor_system system{config};
  device_thread thread;
  device_worker_actor worker =
    spawn_device_worker(system, {make_reference_backend(), {}, make_system_clock(), &thread});
  caf::scoped_actor self{system};

  ~world() {
    self->send_exit(worker, caf::exit_reason::user_shutdown);
    self->wait_for(worker);
  }

  template <class Request>
  device_answer_ptr ask(Request what) {
    device_answer_ptr out;
    self->request(worker, 60s, std::make_shared<const Request>(std::move(what)))
      .receive([&out](device_answer_ptr& answer) { out = std::move(answer); },
               [](caf::error& why) { ADD_FAILURE() << caf::to_string(why); });
    return out;
  }
};

TEST(device_worker, answers_each_request_with_the_time_it_took) {
  world w;
  auto made = w.ask(define_params{"a", letters_params()});
  ASSERT_TRUE(made && made->outcome) << made->outcome.error().message;
  EXPECT_GT(made->device_ns, 0u);
  ASSERT_TRUE(w.ask(define_optimizer{"a", letters_optimizer()})->outcome);
  auto step = w.ask(run_program{"a", letters_step()});
  ASSERT_TRUE(step->outcome) << step->outcome.error().message;
  EXPECT_NEAR(step->outcome->scalars.at(0), 5.545, 0.05);
  EXPECT_GT(step->device_ns, 0u);
}

TEST(device_worker, a_wrong_request_is_an_answer_and_the_next_one_works) {
  world w;
  auto wrong = w.ask(run_program{"a", letters_step()});
  ASSERT_FALSE(wrong->outcome);
  EXPECT_EQ(wrong->outcome.error().code, device_errc::unknown_optimizer);
  EXPECT_EQ(wrong->outcome.error().message, "MXD021: train.optimizer: no optimizer \"adam\"");
  EXPECT_TRUE(w.ask(define_params{"a", letters_params()})->outcome);
}

TEST(device_worker, reads_writes_renames_lists_and_forgets) {
  world w;
  ASSERT_TRUE(w.ask(define_params{"a", letters_params()})->outcome);
  write_entry entry{"embed", tensor_of<float>(elem::f32, {2}, {7, 8}), 1};
  ASSERT_TRUE(w.ask(write_params{"a", {entry}})->outcome);
  ASSERT_TRUE(w.ask(rename_params{"a", {{"embed", "table"}}})->outcome);
  auto read = w.ask(read_params{"a", {{"table"}, 1, 2}});
  ASSERT_TRUE(read->outcome) << read->outcome.error().message;
  EXPECT_EQ(read->outcome->tensors, std::vector<tensor>{entry.contents});
  ASSERT_TRUE(w.ask(delete_entries{"a", {.params = {"head"}}})->outcome);
  auto listed = w.ask(list_space{"a"});
  EXPECT_EQ(std::get<space_listing>(listed->facts).params.at(0).name, "table");
  auto about = w.ask(describe_device{"a"});
  EXPECT_EQ(std::get<device_description>(about->facts).actor_bytes, 256u * 16 * 4);
  EXPECT_EQ(w.ask(read_params{"a", {{"head"}, {}, {}}})->outcome.error().code,
            device_errc::unknown_parameter);
}

// More than a megabyte is written on the thread; the read behind it sees all of it.
TEST(device_worker, much_is_written_on_the_thread) {
  world w;
  constexpr uint32_t count = 300'000;
  param_spec large{.name = "x", .dims = {count}, .init = init_constant{0}};
  ASSERT_TRUE(w.ask(define_params{"a", {large}})->outcome);
  write_entry entry{"x", tensor_of(elem::f32, {count}, std::vector<float>(count, 3)), {}};
  auto written = w.self->request(w.worker, 60s,
                                 std::make_shared<const write_params>(write_params{"a", {entry}}));
  auto read = w.ask(read_params{"a", {{"x"}, count - 1, 1}});
  EXPECT_EQ(numbers(read->outcome->tensors.at(0)), std::vector<double>{3});
  written.receive([](device_answer_ptr& answer) { EXPECT_TRUE(answer->outcome); },
                  [](caf::error& why) { ADD_FAILURE() << caf::to_string(why); });
}

TEST(device_worker, a_dropped_space_is_empty) {
  world w;
  ASSERT_TRUE(w.ask(define_params{"a", letters_params()})->outcome);
  ASSERT_TRUE(w.ask(drop_space{"a"})->outcome);
  auto wrong = w.ask(define_optimizer{"a", letters_optimizer()});
  ASSERT_FALSE(wrong->outcome);
  EXPECT_EQ(wrong->outcome.error().code, device_errc::unknown_parameter);
}

// A million elements are drawn on the thread; what comes after must wait for them.
TEST(device_worker, requests_keep_their_order_while_the_thread_works) {
  world w;
  param_spec large{.name = "x", .dims = {1000, 1000}, .init = init_normal{1}};
  std::vector<device_answer_ptr> answers;
  auto send = [&](auto what) {
    return w.self->request(w.worker, 60s, std::make_shared<const decltype(what)>(std::move(what)));
  };
  auto first = send(define_params{"a", {large}});
  optimizer_spec over_x{.name = "o", .params = {"x"}, .lr = 1, .beta1 = 0, .beta2 = 0, .eps = 1};
  auto second = send(define_optimizer{"a", over_x});
  auto third = send(drop_space{"a"});
  auto fourth = send(define_optimizer{"a", over_x});
  auto keep = [&answers](device_answer_ptr& answer) { answers.push_back(std::move(answer)); };
  auto fail = [](caf::error& why) { ADD_FAILURE() << caf::to_string(why); };
  first.receive(keep, fail);
  second.receive(keep, fail);
  third.receive(keep, fail);
  fourth.receive(keep, fail);
  ASSERT_EQ(answers.size(), 4u);
  EXPECT_TRUE(answers[0]->outcome);
  EXPECT_TRUE(answers[1]->outcome);
  EXPECT_TRUE(answers[2]->outcome);
  ASSERT_FALSE(answers[3]->outcome);
  EXPECT_EQ(answers[3]->outcome.error().code, device_errc::unknown_parameter);
}

/// A device whose memory cannot be written until the gate opens.
class gated final : public backend {
public:
  explicit gated(std::shared_future<void> gate) : gate_(std::move(gate)) {
    // nop
  }
  const backend_info& info() const noexcept override {
    return inner_->info();
  }
  bool supports(op id) const noexcept override {
    return inner_->supports(id);
  }
  buffer_ptr allocate(uint64_t bytes, fault& why) override {
    return inner_->allocate(bytes, why);
  }
  std::optional<fault> write(buffer& to, uint64_t offset, byte_view from) override {
    gate_.wait();
    return inner_->write(to, offset, from);
  }
  std::optional<fault> read(const buffer& from, uint64_t offset, uint64_t bytes,
                            byte_string& to) override {
    return inner_->read(from, offset, bytes, to);
  }
  std::unique_ptr<executable> prepare(const plan& what, fault& why) override {
    return inner_->prepare(what, why);
  }

private:
  std::shared_future<void> gate_;
  std::unique_ptr<backend> inner_ = make_reference_backend();
};

TEST(device_worker, whoever_waits_when_it_ends_is_told) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  std::promise<void> gate;
  device_thread thread;
  auto worker = spawn_device_worker(
    system, {std::make_unique<gated>(gate.get_future().share()), {}, make_system_clock(), &thread});
  caf::scoped_actor self{system};
  param_spec large{.name = "x", .dims = {1000, 1000}, .init = init_normal{1}};
  define_params_ptr define = std::make_shared<define_params>(define_params{"a", {large}});
  drop_space_ptr drop = std::make_shared<drop_space>(drop_space{"a"});
  auto first = self->request(worker, 60s, define), second = self->request(worker, 60s, drop);
  self->send_exit(worker, caf::exit_reason::user_shutdown);
  int told = 0;
  auto answered = [](const device_answer_ptr&) { ADD_FAILURE(); };
  auto tell = [&told](caf::error& why) {
    EXPECT_EQ(why, caf::sec::request_receiver_down) << caf::to_string(why);
    ++told;
  };
  first.receive(answered, tell);
  second.receive(answered, tell);
  EXPECT_EQ(told, 2);
  gate.set_value();
}

} // namespace
} // namespace moxzi::device
