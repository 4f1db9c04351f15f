// Times a training step of the models of tests/perf/peers/torch_models.py on a device, from an
// actor's message to the loss in its hands:
//   models_bench MODEL [STEPS] [THREADS] [KIND]
// Prints one JSON line; the median leaves out the first tenth of the steps.

#include <charconv>
#include <cmath>
#include <random>

#include <caf/all.hpp>

#include "device/device.hpp"
#include "tests/perf/measured.hpp"

using namespace moxzi::device;
using namespace moxzi::perf;

namespace {

constexpr size_t batches_count = 8;

/// A model: its parameters, the step, and batches to take in turn.
struct model {
  std::vector<param_spec> params;
  runnable step;
  std::vector<std::vector<tensor>> batches;
};

/// Writes a model's program and its parameters down side by side.
struct model_builder {
  program_builder p;
  std::vector<param_spec> params;

  var weight(const char* name, std::vector<uint32_t> dims, initializer init = init_normal{0.02}) {
    params.push_back({.name = name, .dims = std::move(dims), .init = std::move(init)});
    return p.param(name);
  }
  model finished(var loss, std::vector<std::vector<tensor>> batches) {
    auto step = p.training(loss, {.optimizer = "adamw"}, {.scalars = {loss}});
    if (!step) give_up(step.error().message);
    return {std::move(params), std::move(*step), std::move(batches)};
  }
};

class sampler {
public:
  device_vector<float> uniform(size_t count) {
    std::uniform_real_distribution<float> draw(0, 1);
    device_vector<float> out(count);
    for (auto& x : out) x = draw(random_);
    return out;
  }
  device_vector<float> normal(size_t count) {
    std::normal_distribution<float> draw(0, 1);
    device_vector<float> out(count);
    for (auto& x : out) x = draw(random_);
    return out;
  }
  device_vector<int64_t> below(int64_t bound, size_t count) {
    std::uniform_int_distribution<int64_t> draw(0, bound - 1);
    device_vector<int64_t> out(count);
    for (auto& x : out) x = draw(random_);
    return out;
  }

private:
  std::mt19937 random_{0};
};

// -- models ----------------------------------------------------------------------

model mlp() {
  model_builder m;
  auto x = m.p.input(elem::f32, {64, 784});
  auto y = m.p.input(elem::i64, {64});
  auto h = gelu(linear(x, m.weight("w1", {256, 784})));
  auto loss = cross_entropy(linear(h, m.weight("w2", {10, 256})), y);
  std::vector<std::vector<tensor>> batches;
  sampler draw;
  for (size_t i = 0; i < batches_count; ++i) {
    auto values = draw.uniform(64 * 784);
    device_vector<int64_t> classes;
    for (auto row = values.begin(); row != values.end(); row += 784)
      classes.push_back(std::max_element(row, row + 10) - row);
    batches.push_back({make_tensor(std::move(values), {64, 784}), //
                       make_tensor(std::move(classes), {64})});
  }
  return m.finished(loss, std::move(batches));
}

model block() {
  constexpr uint32_t batch = 8, places = 128, width = 128, heads = 4;
  model_builder m;
  auto dense = [&m](const char* w, const char* b, var x, uint32_t from, uint32_t to) {
    return linear(x, m.weight(w, {to, from}), m.weight(b, {to}, init_constant{0}));
  };
  auto norm = [&m](const char* w, const char* b, var x) {
    return layer_norm(x, m.weight(w, {width}, init_constant{1}),
                      m.weight(b, {width}, init_constant{0}));
  };
  auto split = [](var x) {
    return transpose(reshape(x, {batch, places, heads, width / heads}), 1, 2);
  };
  auto x = m.p.input(elem::f32, {batch, places, width}),
       y = m.p.input(elem::f32, {batch, places, width});
  auto n = norm("norm1.w", "norm1.b", x);
  auto seen = attention(split(dense("q.w", "q.b", n, width, width)),
                        split(dense("k.w", "k.b", n, width, width)),
                        split(dense("v.w", "v.b", n, width, width)), {.causal = true});
  auto joined = reshape(transpose(seen, 1, 2), {batch, places, width});
  auto h = x + dense("o.w", "o.b", joined, width, width);
  auto up = gelu(dense("up.w", "up.b", norm("norm2.w", "norm2.b", h), width, 4 * width));
  auto out = h + dense("down.w", "down.b", up, 4 * width, width);
  std::vector<std::vector<tensor>> batches;
  sampler draw;
  for (size_t i = 0; i < batches_count; ++i) {
    auto& one = batches.emplace_back();
    for (int n = 0; n < 2; ++n)
      one.push_back(make_tensor(draw.normal(batch * places * width), {batch, places, width}));
  }
  return m.finished(mean(square(out - y)), std::move(batches));
}

/// As torch.nn.Conv2d and LSTM start by default.
initializer within(double bound) {
  return init_uniform{-bound, bound};
}

model cnn() {
  model_builder m;
  auto x = m.p.input(elem::f32, {32, 3, 32, 32});
  auto y = m.p.input(elem::i64, {32});
  auto convolved = [&m](var h, const char* w, const char* b, uint32_t out, uint32_t in) {
    auto bound = within(1 / std::sqrt(9.0 * in));
    auto weights = m.weight(w, {out, in, 3, 3}, bound);
    return relu(conv(h, weights, m.weight(b, {out}, bound), {.padding = {{1}}}));
  };
  auto h = max_pool(convolved(x, "w1", "b1", 32, 3), {2, 2});
  h = max_pool(convolved(h, "w2", "b2", 64, 32), {2, 2});
  h = global_avg_pool(convolved(h, "w3", "b3", 64, 64));
  auto w = m.weight("w4", {10, 64}, within(1.0 / 8));
  auto loss = cross_entropy(linear(h, w, m.weight("b4", {10}, within(1.0 / 8))), y);
  std::vector<std::vector<tensor>> batches;
  sampler draw;
  for (size_t i = 0; i < batches_count; ++i)
    batches.push_back({make_tensor(draw.uniform(32 * 3 * 32 * 32), {32, 3, 32, 32}),
                       make_tensor(draw.below(10, 32), {32})});
  return m.finished(loss, std::move(batches));
}

model lstm() {
  model_builder m;
  auto x = m.p.input(elem::f32, {32, 64, 64});
  auto y = m.p.input(elem::i64, {32 * 64});
  auto bound = within(1 / std::sqrt(128.0));
  auto w_ih = m.weight("w_ih", {512, 64}, bound), w_hh = m.weight("w_hh", {512, 128}, bound);
  auto b_ih = m.weight("b_ih", {512}, bound), b_hh = m.weight("b_hh", {512}, bound);
  auto h = moxzi::device::lstm(x, w_ih, w_hh, b_ih, b_hh);
  auto w = m.weight("head", {64, 128}, bound);
  auto logits = linear(h, w, m.weight("bias", {64}, bound));
  auto loss = cross_entropy(reshape(logits, {32 * 64, 64}), y);
  std::vector<std::vector<tensor>> batches;
  sampler draw;
  for (size_t i = 0; i < batches_count; ++i)
    batches.push_back({make_tensor(draw.normal(32 * 64 * 64), {32, 64, 64}),
                       make_tensor(draw.below(64, 32 * 64), {32 * 64})});
  return m.finished(loss, std::move(batches));
}

model model_named(std::string_view name) {
  if (name == "mlp") return mlp();
  if (name == "block") return block();
  if (name == "cnn") return cnn();
  if (name == "lstm") return lstm();
  give_up("usage: models_bench mlp|block|cnn|lstm [STEPS] [THREADS] [KIND]");
}

// -- the actor -------------------------------------------------------------------

struct trainer_state {
  device_handle device;
  compiled_program step;
  const std::vector<std::vector<tensor>>* batches = nullptr;
  size_t taken = 0;
  size_t steps = 0;
  double begin_us = 0;
  measured* out = nullptr;
};

void fail(caf::error& why) {
  give_up(text_of(why));
}

void next_step(caf::stateful_actor<trainer_state>* self) {
  auto& mine = self->state;
  if (mine.taken == mine.steps) return self->quit();
  auto& batch = (*mine.batches)[mine.taken++ % batches_count];
  mine.begin_us = now_us();
  mine.device.run(self, mine.step, batch)
    .then(
      [self](const run_reply& reply) {
        auto& mine = self->state;
        mine.out->times_us.push_back(now_us() - mine.begin_us);
        mine.out->losses.push_back(reply.scalars[0]);
        next_step(self);
      },
      fail);
}

caf::behavior trainer(caf::stateful_actor<trainer_state>* self, device_handle device,
                      compiled_program step, const std::vector<std::vector<tensor>>* batches,
                      size_t steps, measured* out) {
  self->state = {std::move(device), std::move(step), batches, 0, steps, 0, out};
  next_step(self);
  return {[](caf::ok_atom) {
    // nop
  }};
}

size_t number(int argc, char** argv, int at, size_t otherwise) {
  if (at >= argc) return otherwise;
  std::string_view text = argv[at];
  std::from_chars(text.data(), text.data() + text.size(), otherwise);
  return otherwise;
}

} // namespace

int main(int argc, char** argv) {
  auto what = model_named(argc > 1 ? argv[1] : "");
  auto steps = std::max<size_t>(1, number(argc, argv, 2, 200));
  auto threads = static_cast<uint32_t>(number(argc, argv, 3, 1));
  caf::actor_system_config config;
  // As many threads as the peers have.
  config.set("scheduler.max-threads", size_t{threads});
  caf::actor_system system(config);
  auto opened = opened_device::open(system, {argc > 4 ? argv[4] : "cpu", threads});
  if (!opened) give_up(opened.error().message);
  auto device = opened->space("bench");
  caf::scoped_actor self(system);
  optimizer_spec adamw{
    .name = "adamw", .lr = 3e-4, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 1e-2};
  for (auto& each : what.params) adamw.params.push_back(each.name);
  device.define(self, what.params).receive([] {}, fail);
  device.define(self, adamw).receive([] {}, fail);
  compiled_program step;
  device.compile(self, what.step)
    .receive([&step](const compiled_program& made) { step = made; }, fail);
  measured out;
  out.memory_bytes = step.plan().memory_bytes;
  self->wait_for(system.spawn(trainer, device, step, &what.batches, steps, &out));
  out.print(argv[1]);
  return 0;
}
