// Four workers and a server train one network together.
//
//   parameter_server [cpu | cuda:0 | reference]
//
// Each worker is an actor with a quarter of the data and a space of its own on the device. A round:
// the server sends its parameters to the workers, each takes a step on its data and answers its
// parameters, and the server averages them, on the device too. In the end the same is done by one
// worker with all the data: for a step of plain gradient descent, the average of four steps on the
// quarters is the step on the whole.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <moxzi/device/device.hpp>

namespace md = moxzi::device;

namespace {

constexpr uint32_t features = 32, hidden = 64, classes = 8, rows_per_worker = 64;
constexpr uint32_t rounds = 50;

struct layer {
  const char* name;
  std::vector<uint32_t> dims;
};
const std::vector<layer>& layers() {
  static const std::vector<layer> all{
    {"w1", {hidden, features}}, {"b1", {hidden}}, {"w2", {classes, hidden}}, {"b2", {classes}}};
  return all;
}

// -- messages ------------------------------------------------------------------------------------

/// The tensors of all layers. Sending them copies no number: they are shared.
using weights = std::vector<md::tensor>;

/// SERVER -> WORKER: take a step from here.
struct take_step {
  weights from;
};
/// The answer.
struct step_taken {
  double loss = 0; ///< before the step
  weights to;
};
/// MAIN -> SERVER: train this long; the answer is the workers' mean loss in the last round.
struct train {
  uint32_t rounds = 0;
};

using take_step_ptr = std::shared_ptr<const take_step>;
using step_taken_ptr = std::shared_ptr<const step_taken>;

} // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(take_step_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(step_taken_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(train)

namespace {

using worker_actor = caf::typed_actor<caf::replies_to<take_step_ptr>::with<step_taken_ptr>>;
using server_actor = caf::typed_actor<caf::replies_to<train>::with<double>>;

// -- programs ------------------------------------------------------------------------------------

/// A step on `rows` examples.
md::runnable training_step(uint32_t rows) {
  md::program_builder p;
  auto x = p.input(md::elem::f32, {rows, features});
  auto y = p.input(md::elem::i64, {rows});
  auto w1 = p.param("w1"), b1 = p.param("b1"), w2 = p.param("w2"), b2 = p.param("b2");
  auto loss = cross_entropy(linear(gelu(linear(x, w1, b1)), w2, b2), y);
  return p.training(loss, {.optimizer = "descent"}, {.scalars = {loss}}).value();
}

/// For each layer the mean of what the workers have of it; inputs worker by worker.
md::runnable averaging(uint32_t workers) {
  md::program_builder p;
  std::vector<md::var> sums;
  for (auto& each : layers()) sums.push_back(p.input(md::elem::f32, each.dims));
  for (uint32_t i = 1; i < workers; ++i)
    for (size_t n = 0; n < sums.size(); ++n)
      sums[n] = sums[n] + p.input(md::elem::f32, layers()[n].dims);
  md::answers means;
  for (auto sum : sums) means.tensors.push_back(sum / workers);
  return p.answering(means).value();
}

// -- worker --------------------------------------------------------------------------------------

/// The part of the data that one worker has.
struct examples {
  md::tensor x, y;
  uint32_t rows = 0;
};

struct worker_state {
  md::device_handle device;
  md::compiled_program step;
  examples data;
  double loss = 0;
};
using worker_self = worker_actor::stateful_pointer<worker_state>;

std::vector<md::write_entry> as_entries(const weights& from) {
  std::vector<md::write_entry> out;
  for (size_t n = 0; n < from.size(); ++n) out.push_back({layers()[n].name, from[n], {}});
  return out;
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (auto& each : layers()) out.emplace_back(each.name);
  return out;
}

worker_actor::behavior_type worker(worker_self self, md::device_handle device,
                                   md::compiled_program step, examples data) {
  self->state = {std::move(device), std::move(step), std::move(data)};
  return {[self](const take_step_ptr& task) {
    auto promise = self->make_response_promise<step_taken_ptr>();
    auto fail = [promise](caf::error& why) mutable { promise.deliver(why); };
    auto& mine = self->state;
    // The device does what one actor asks in order, so that nothing here waits.
    mine.device.write(self, as_entries(task->from)).then([] {}, fail);
    mine.device.run(self, mine.step, {mine.data.x, mine.data.y})
      .then([self](const md::run_reply& done) { self->state.loss = done.scalars[0]; }, fail);
    mine.device.read(self, names())
      .then(
        [self, promise](const weights& now) mutable {
          promise.deliver(std::make_shared<const step_taken>(step_taken{self->state.loss, now}));
        },
        fail);
    return promise;
  }};
}

// -- server --------------------------------------------------------------------------------------

struct server_state {
  md::device_handle device;
  md::compiled_program average;
  std::vector<worker_actor> workers;
  weights now;
  caf::typed_response_promise<double> asked;
  uint32_t rounds_left = 0;
  std::vector<step_taken_ptr> taken; ///< of this round, by worker
  size_t missing = 0;
};
using server_self = server_actor::stateful_pointer<server_state>;

void next_round(server_self self);

/// Averages what came in, and goes on.
void finish_round(server_self self) {
  auto& mine = self->state;
  std::vector<md::tensor> inputs;
  double loss = 0;
  for (auto& each : mine.taken) {
    inputs.insert(inputs.end(), each->to.begin(), each->to.end());
    loss += each->loss / static_cast<double>(mine.taken.size());
  }
  mine.device.run(self, mine.average, std::move(inputs))
    .then(
      [self, loss](const md::run_reply& means) {
        self->state.now = means.tensors;
        if (--self->state.rounds_left > 0) return next_round(self);
        self->state.asked.deliver(loss);
      },
      [self](caf::error& why) { self->state.asked.deliver(why); });
}

void next_round(server_self self) {
  auto& mine = self->state;
  auto task = std::make_shared<const take_step>(take_step{mine.now});
  mine.taken.assign(mine.workers.size(), nullptr);
  mine.missing = mine.workers.size();
  for (size_t i = 0; i < mine.workers.size(); ++i)
    self->request(mine.workers[i], std::chrono::seconds(60), task)
      .then(
        [self, i](const step_taken_ptr& taken) {
          self->state.taken[i] = taken;
          if (--self->state.missing == 0) finish_round(self);
        },
        [self](caf::error& why) { self->state.asked.deliver(why); });
}

server_actor::behavior_type server(server_self self, md::device_handle device,
                                   md::compiled_program average, std::vector<worker_actor> workers,
                                   weights start) {
  self->state.device = std::move(device);
  self->state.average = std::move(average);
  self->state.workers = std::move(workers);
  self->state.now = std::move(start);
  return {[self](const train& what) {
    self->state.asked = self->make_response_promise<double>();
    self->state.rounds_left = what.rounds;
    next_round(self);
    return self->state.asked;
  }};
}

// -- main ----------------------------------------------------------------------------------------

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "parameter_server: %s\n", why.c_str());
  std::exit(1);
}
void give_up_on(caf::error& why) {
  give_up(md::text_of(why));
}

/// Points of eight classes, each around a centre of its own.
examples draw(uint32_t rows, std::mt19937& random) {
  std::normal_distribution<float> noise(0, 1);
  std::mt19937 centre_random(7);
  std::vector<float> centres(classes * features);
  for (auto& value : centres) value = noise(centre_random);
  std::vector<float> x;
  std::vector<int64_t> y;
  for (uint32_t row = 0; row < rows; ++row) {
    auto which = random() % classes;
    y.push_back(static_cast<int64_t>(which));
    for (uint32_t i = 0; i < features; ++i)
      x.push_back(centres[which * features + i] + noise(random));
  }
  return {md::make_tensor(std::move(x), {rows, features}), md::make_tensor(std::move(y), {rows}),
          rows};
}

/// The examples `from` to `from + rows`, where they lie.
examples part(const examples& of, uint32_t from, uint32_t rows) {
  return {{of.x.data.part(from * features * 4, rows * features * 4), of.x.type, {rows, features}},
          {of.y.data.part(from * 8, rows * 8), of.y.type, {rows}},
          rows};
}

std::vector<md::param_spec> params() {
  std::vector<md::param_spec> out;
  for (auto& each : layers())
    out.push_back({.name = each.name, .dims = each.dims, .init = md::init_normal{0.1}});
  return out;
}

/// The device draws the first parameters.
weights drawn(caf::scoped_actor& self, const md::device_handle& device) {
  weights out;
  device.define(self, params()).receive([] {}, give_up_on);
  device.read(self, names()).receive([&out](const weights& now) { out = now; }, give_up_on);
  return out;
}

/// Trains with so many workers, each with its share of the data; the last round's mean loss.
double learn(caf::scoped_actor& self, const md::opened_device& opened, uint32_t workers,
             const examples& data, const weights& start) {
  auto compile = [&self](const md::device_handle& where, md::runnable what) {
    md::compiled_program out;
    where.compile(self, std::move(what))
      .receive([&out](const md::compiled_program& made) { out = made; }, give_up_on);
    return out;
  };
  std::vector<worker_actor> all;
  for (uint32_t i = 0; i < workers; ++i) {
    auto own = opened.space("worker " + std::to_string(i));
    own.define(self, params()).receive([] {}, give_up_on);
    own
      .define(self,
              md::optimizer_spec{
                .name = "descent", .params = names(), .lr = 0.2, .kind = md::optimizer_kind::sgd})
      .receive([] {}, give_up_on);
    auto share = data.rows / workers;
    auto step = compile(own, training_step(share));
    all.push_back(self->spawn(worker, own, step, part(data, i * share, share)));
  }
  auto device = opened.space("server");
  auto hub = self->spawn(server, device, compile(device, averaging(workers)), all, start);
  double loss = 0;
  self->request(hub, std::chrono::seconds(120), train{rounds})
    .receive([&loss](double last) { loss = last; }, give_up_on);
  for (auto& each : all) self->send_exit(each, caf::exit_reason::user_shutdown);
  self->send_exit(hub, caf::exit_reason::user_shutdown);
  return loss;
}

} // namespace

int main(int argc, char** argv) {
  caf::actor_system_config config;
  caf::actor_system system(config);
  auto opened = md::opened_device::open(system, {.kind = argc > 1 ? argv[1] : "cpu"});
  if (!opened) give_up(opened.error().message);
  caf::scoped_actor self(system);
  std::mt19937 random(1);
  auto data = draw(4 * rows_per_worker, random);
  auto start = drawn(self, opened->space("start"));
  auto four = learn(self, *opened, 4, data, start);
  auto one = learn(self, *opened, 1, data, start);
  std::printf("loss after %u rounds: %.6f by four workers, %.6f by one\n", rounds, four, one);
  bool same = std::abs(four - one) < 1e-4 * one;
  std::printf("the four %s what the one has learned\n", same ? "have learned" : "have not learned");
  return same ? 0 : 1;
}
