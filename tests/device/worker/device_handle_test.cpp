#include "device/device.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "device/host_executable.hpp"
#include "tests/device/support.hpp"

namespace moxzi::device {
namespace {

using namespace std::chrono_literals;

/// The page's model, written down once.
struct letters {
  program_builder p;
  var loss;
  letters() {
    auto text = p.input(elem::u8, {1, 65});
    auto x = narrow(text, 1, 0, 64), y = reshape(narrow(text, 1, 1, 64), {64});
    auto logits = linear(embedding(p.param("embed"), x), p.param("head"));
    loss = cross_entropy(reshape(logits, {64, 256}), y);
  }
  runnable step() const {
    return *p.training(loss, {.optimizer = "adam"}, {.scalars = {loss}});
  }
};

struct world {
  caf::actor_system_config config;
  caf::actor_system system{config};
  opened_device opened{system, make_reference_backend(), {.reply_bytes_max = UINT64_MAX}};
  device_handle device = opened.space("a");
  caf::scoped_actor self{system};

  /// The value of an answer, or the error.
  template <class Pending>
  static auto get(Pending pending) {
    caf::error out;
    pending.receive([] {}, [&out](caf::error& why) { out = why; });
    return out;
  }
  void make_letters() {
    EXPECT_FALSE(get(device.define(self, testing::letters_params())));
    EXPECT_FALSE(get(device.define(self, testing::letters_optimizer())));
  }
  compiled_program compile(runnable what) {
    compiled_program out;
    device.compile(self, std::move(what))
      .receive([&out](const compiled_program& made) { out = made; },
               [](caf::error& why) { ADD_FAILURE() << text_of(why); });
    return out;
  }
};

TEST(device_handle, trains_from_a_scoped_actor) {
  world w;
  w.make_letters();
  auto step = w.compile(letters().step());
  double loss = 0;
  for (int i = 0; i < 3; ++i)
    w.device.run(w.self, step, {testing::text_tensor(testing::letters_text)})
      .receive([&loss](const run_reply& done) { loss = done.scalars[0]; },
               [](caf::error& why) { ADD_FAILURE() << text_of(why); });
  // The same through the core alone.
  auto core = testing::reference_core();
  ASSERT_TRUE(core.define_params("a", testing::letters_params()));
  ASSERT_TRUE(core.define_optimizer("a", testing::letters_optimizer()));
  auto request = testing::letters_step();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(core.run("a", request));
  EXPECT_EQ(loss, core.run("a", request)->scalars[0]);
}

// -- actors of other kinds -------------------------------------------------------

using learner = caf::typed_actor<caf::replies_to<uint32_t>::with<uint64_t>>;

/// Answers how many steps the optimizer has taken.
learner::behavior_type typed_learner(learner::pointer self, device_handle device,
                                     compiled_program step) {
  return {[self, device, step](uint32_t) {
    auto promise = self->make_response_promise<uint64_t>();
    device.run(self, step, {testing::text_tensor(testing::letters_text)})
      .then([promise](const run_reply& done) mutable { promise.deliver(*done.step); },
            [promise](caf::error& why) mutable { promise.deliver(why); });
    return promise;
  }};
}

TEST(device_handle, serves_a_typed_actor) {
  world w;
  w.make_letters();
  auto actor = w.system.spawn(typed_learner, w.device, w.compile(letters().step()));
  for (uint64_t i = 1; i <= 3; ++i)
    w.self->request(actor, 60s, uint32_t{0})
      .receive([i](uint64_t steps) { EXPECT_EQ(steps, i); },
               [](caf::error& why) { ADD_FAILURE() << text_of(why); });
}

void event_based_learner(caf::event_based_actor* self, device_handle device, compiled_program step,
                         std::promise<std::string>* said) {
  device.run(self, step, {testing::text_tensor("short")})
    .await([](const run_reply&) {}, [said](caf::error& why) { said->set_value(text_of(why)); });
}

TEST(device_handle, serves_an_event_based_actor) {
  world w;
  w.make_letters();
  std::promise<std::string> said;
  w.system.spawn(event_based_learner, w.device, w.compile(letters().step()), &said);
  auto text = said.get_future();
  ASSERT_EQ(text.wait_for(60s), std::future_status::ready);
  EXPECT_EQ(text.get(), "MXD011: inputs[0]: u8 [1, 65] was declared, u8 [1, 5] was sent");
}

void failing_learner(caf::event_based_actor* self, device_handle device, compiled_program step,
                     std::promise<std::string>* said) {
  self->set_error_handler([self, said](caf::error& why) {
    said->set_value(text_of(why));
    self->quit();
  });
  device.run(self, step, {}).then([](const run_reply&) {});
}

TEST(device_handle, leaves_an_error_to_the_actors_handler) {
  world w;
  w.make_letters();
  std::promise<std::string> said;
  w.system.spawn(failing_learner, w.device, w.compile(letters().step()), &said);
  auto text = said.get_future();
  ASSERT_EQ(text.wait_for(60s), std::future_status::ready);
  EXPECT_EQ(text.get(), "MXD031: inputs[0]: u8 [1, 65] was declared, 0 inputs were sent");
}

// -- errors ----------------------------------------------------------------------

TEST(device_handle, compiling_finds_what_is_wrong) {
  world w;
  auto why = world::get(w.device.define(w.self, testing::letters_optimizer()));
  EXPECT_EQ(why, device_errc::unknown_parameter);
  EXPECT_EQ(text_of(why).substr(0, 8), "MXD020: ");
  w.make_letters();
  program_builder p;
  linear(p.input(elem::f32, {2, 3}), p.param("head"));
  w.device.compile(w.self, *p.answering({}))
    .receive([](const compiled_program&) { ADD_FAILURE(); },
             [](caf::error& wrong) {
               EXPECT_EQ(wrong, device_errc::shape_mismatch);
               EXPECT_EQ(text_of(wrong).substr(0, 26), "MXD011: program[2] linear:");
             });
}

TEST(device_handle, a_device_that_has_ended_is_an_error_of_cafs) {
  world w;
  auto worker = w.device.worker();
  w.self->send_exit(worker, caf::exit_reason::user_shutdown);
  w.self->wait_for(worker);
  auto why = world::get(w.device.drop(w.self));
  EXPECT_EQ(why, caf::sec::request_receiver_down) << text_of(why);
}

/// y = relu(x w'), which reads its input once.
runnable layer(uint32_t rows) {
  program_builder p;
  auto y = relu(linear(p.input(elem::f32, {rows, 16}), p.param("w")));
  return *p.answering({.tensors = {y}});
}

TEST(device_handle, tells_the_memory_of_a_program_before_it_runs) {
  world w;
  ASSERT_FALSE(world::get(w.device.define(
    w.self, std::vector<param_spec>{{.name = "w", .dims = {32, 16}, .init = init_constant{1}}})));
  auto step = w.compile(layer(8));
  // The product; relu is done in its place.
  EXPECT_EQ(step.plan().memory_bytes, 8u * 32 * 4);
  EXPECT_EQ(step.plan().input_bytes, 8u * 16 * 4);
}

TEST(device_handle, reads_inputs_wherever_they_lie) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  auto opened = opened_device::open(system, {.kind = "cpu", .plugins = MOXZI_PLUGINS});
  if (!opened) GTEST_SKIP() << opened.error().message;
  caf::scoped_actor self{system};
  auto device = opened->space("a");
  ASSERT_FALSE(world::get(device.define(
    self, std::vector<param_spec>{{.name = "w", .dims = {32, 16}, .init = init_normal{1}}})));
  compiled_program step;
  auto fail = [](caf::error& why) { ADD_FAILURE() << text_of(why); };
  device.compile(self, layer(8)).receive([&](const compiled_program& made) { step = made; }, fail);
  device_vector<float> values(8 * 16);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 3;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(values.data()) % 64, 0u);
  // The same values one float further on.
  device_vector<float> shifted(values.size() + 1);
  std::copy(values.begin(), values.end(), shifted.begin() + 1);
  auto kept = std::make_shared<device_vector<float>>(shifted);
  std::vector<tensor> inputs{make_tensor(values, {8, 16}),
                             make_tensor(std::vector<float>(values.begin(), values.end()), {8, 16}),
                             make_tensor(kept, std::span<const float>(*kept).subspan(1), {8, 16})};
  std::vector<byte_string> answers;
  for (auto& input : inputs)
    device.run(self, step, {input})
      .receive([&](const run_reply& done) { answers.emplace_back(done.tensors[0].data.view()); },
               fail);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0], answers[1]);
  EXPECT_EQ(answers[0], answers[2]);
  EXPECT_EQ(std::vector<float>(kept->begin() + 1, kept->end()),
            std::vector<float>(values.begin(), values.end()));
}

TEST(device_handle, refuses_what_was_not_compiled_and_inputs_of_other_types) {
  world w;
  ASSERT_FALSE(world::get(w.device.define(
    w.self, std::vector<param_spec>{{.name = "w", .dims = {32, 16}, .init = init_constant{1}}})));
  auto text = [&](const compiled_program& what, std::vector<tensor> inputs) {
    std::string out;
    w.device.run(w.self, what, std::move(inputs))
      .receive([](const run_reply&) {}, [&out](caf::error& why) { out = text_of(why); });
    return out;
  };
  EXPECT_EQ(text({}, {}), "MXD002: program: there is none; compile one first");
  auto step = w.compile(layer(8));
  EXPECT_EQ(text(step, {}), "MXD031: inputs[0]: f32 [8, 16] was declared, 0 inputs were sent");
  EXPECT_EQ(text(step, {make_tensor(std::vector<float>(32), {2, 16})}),
            "MXD011: inputs[0]: f32 [8, 16] was declared, f32 [2, 16] was sent");
  EXPECT_EQ(text(step, {make_tensor(std::vector<float>(128), {8, 16})}), "");
}

TEST(opened_device, says_which_kinds_there_are) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  auto opened = opened_device::open(system, {.kind = "quantum", .plugins = "/nowhere"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message, "MXD001: device quantum: no such kind of device; built in: "
                                    "reference, null");
}

// -- spaces and parameters -------------------------------------------------------

TEST(device_handle, reads_what_was_defined_and_other_spaces_do_not_see_it) {
  world w;
  auto contents = make_tensor<float>({1, 2, 3, 4}, {2, 2});
  ASSERT_FALSE(world::get(w.device.define(
    w.self, std::vector<param_spec>{{.name = "w", .dims = {2, 2}, .init = init_data{contents}}})));
  w.device.read(w.self, {"w"})
    .receive(
      [](const std::vector<tensor>& read) {
        auto values = elements<float>(read.at(0));
        EXPECT_EQ(std::vector<float>(values.begin(), values.end()),
                  (std::vector<float>{1, 2, 3, 4}));
      },
      [](caf::error& why) { ADD_FAILURE() << text_of(why); });
  w.device.in_space("b")
    .read(w.self, {"w"})
    .receive([](const std::vector<tensor>&) { ADD_FAILURE(); },
             [](caf::error& why) { EXPECT_EQ(why, device_errc::unknown_parameter); });
  ASSERT_FALSE(world::get(w.device.drop(w.self)));
  w.device.read(w.self, {"w"})
    .receive([](const std::vector<tensor>&) { ADD_FAILURE(); },
             [](caf::error& why) { EXPECT_EQ(why, device_errc::unknown_parameter); });
}

TEST(device_handle, writes_lists_renames_and_forgets) {
  world w;
  w.make_letters();
  auto fail = [](caf::error& why) { ADD_FAILURE() << text_of(why); };
  std::vector<write_entry> entries{{"head", make_tensor<float>({1, 2, 3}, {3}), 5}};
  ASSERT_FALSE(world::get(w.device.write(w.self, entries)));
  w.device.read(w.self, read_request{{"head"}, 4, 5})
    .receive(
      [](const std::vector<tensor>& read) {
        auto part = elements<float>(read.at(0));
        EXPECT_EQ(std::vector<float>(part.begin() + 1, part.begin() + 4),
                  (std::vector<float>{1, 2, 3}));
        EXPECT_NE(part[0], 0);
      },
      fail);
  ASSERT_FALSE(world::get(w.device.rename(w.self, {{"head", "neck"}})));
  w.device.list(w.self).receive(
    [](const space_listing& all) {
      ASSERT_EQ(all.params.size(), 2u);
      EXPECT_EQ(all.params[1].name, "neck");
      EXPECT_EQ(all.params[1].dims, (std::vector<uint32_t>{256, 16}));
      ASSERT_EQ(all.optimizers.size(), 1u);
      EXPECT_EQ(all.optimizers[0].params, (std::vector<std::string>{"embed", "neck"}));
    },
    fail);
  ASSERT_FALSE(world::get(w.device.forget(w.self, {.optimizers = {"adam"}})));
  w.device.list(w.self).receive(
    [](const space_listing& all) { EXPECT_TRUE(all.optimizers.empty()); }, fail);
  w.device.describe(w.self).receive(
    [](const device_description& what) {
      EXPECT_EQ(what.kind, "reference");
      EXPECT_EQ(what.actor_bytes, 2 * 256 * 16 * 4u);
    },
    fail);
}

TEST(device_handle, answers_more_than_an_actors_reply_may_have) {
  world w;
  param_spec large{.name = "w", .dims = {1024, 1024}, .init = init_constant{2}};
  ASSERT_FALSE(world::get(w.device.define(w.self, std::vector<param_spec>{large})));
  w.device.read(w.self, {"w"})
    .receive([](const std::vector<tensor>& read) { EXPECT_EQ(read[0].data.size(), 4u << 20); },
             [](caf::error& why) { ADD_FAILURE() << text_of(why); });
}

// -- copies ----------------------------------------------------------------------

/// Where a device found its input and left its answer.
struct addresses {
  const char* input = nullptr;
  const char* answer = nullptr;
};

class address_keeper final : public backend {
public:
  explicit address_keeper(addresses* to) : to_(to) {
    info_.kind = "addresses";
  }
  const backend_info& info() const noexcept override {
    return info_;
  }
  bool supports(op) const noexcept override {
    return true;
  }
  buffer_ptr allocate(uint64_t bytes, fault& why) override {
    return allocate_host(bytes, why);
  }
  std::optional<fault> write(buffer&, uint64_t, byte_view) override {
    return std::nullopt;
  }
  std::optional<fault> read(const buffer&, uint64_t, uint64_t, byte_string&) override {
    return std::nullopt;
  }
  std::unique_ptr<executable> prepare(const plan&, fault&) override {
    return std::make_unique<ready>(to_);
  }

private:
  class ready final : public executable {
  public:
    explicit ready(addresses* to) : to_(to) {
      // nop
    }
    std::optional<fault> run(const run_arguments& with, run_results& out) override {
      to_->input = with.inputs[0].data.data();
      out.tensors = {byte_string(4096, '\1')};
      to_->answer = out.tensors[0].data();
      return std::nullopt;
    }
    uint64_t memory_bytes() const noexcept override {
      return 0;
    }

  private:
    addresses* to_;
  };

  addresses* to_;
  backend_info info_;
};

TEST(device_handle, no_byte_is_copied_on_the_way) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  addresses seen;
  opened_device opened(system, std::make_unique<address_keeper>(&seen), {});
  auto device = opened.space("a");
  caf::scoped_actor self(system);
  program_builder p;
  auto x = p.input(0);
  compiled_program echo(std::make_shared<const runnable>(*p.answering({.tensors = {x}})));
  std::vector<float> values(1024, 1.5f);
  auto address = reinterpret_cast<const char*>(values.data());
  tensor answer;
  auto keep = [&answer](const run_reply& reply) { answer = reply.tensors[0]; };
  auto fail = [](caf::error& why) { ADD_FAILURE() << text_of(why); };
  device.run(self, echo, {make_tensor(std::move(values), {1024})}).receive(keep, fail);
  EXPECT_EQ(seen.input, address);
  EXPECT_EQ(answer.data.data(), seen.answer);
  // And from there to the next run, or to another actor.
  auto first = answer.data.data();
  device.run(self, echo, {answer}).receive(keep, fail);
  EXPECT_EQ(seen.input, first);
}

} // namespace
} // namespace moxzi::device
