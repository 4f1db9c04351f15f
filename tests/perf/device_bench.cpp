// Times the page's training step on a device, without wasm, Candid, journal or HTTP:
//   device_bench letters STEPS [KIND]   the step through the core, on one thread
//   device_bench call STEPS [KIND]      the same as a message to the worker, until its answer
// Prints one JSON line; the median leaves out the first tenth of the steps.

#include <charconv>
#include <filesystem>

#include <caf/all.hpp>
#include <fmt/format.h>

#include "device/device.hpp"
#include "tests/device/support.hpp"
#include "tests/perf/measured.hpp"

using namespace moxzi;
using namespace moxzi::device;
using namespace moxzi::perf;

namespace {

int letters(std::unique_ptr<backend> on, size_t steps) {
  device_core core(std::move(on), {});
  if (auto ok = core.define_params("bench", testing::letters_params()); !ok)
    give_up(ok.error().message);
  if (auto ok = core.define_optimizer("bench", testing::letters_optimizer()); !ok)
    give_up(ok.error().message);
  auto request = testing::letters_step();
  measured out;
  for (size_t i = 0; i < steps; i++) {
    const auto begin = now_us();
    request.inputs[0].data = byte_string(testing::letters_text);
    const auto reply = core.run("bench", request);
    if (!reply) give_up(reply.error().message);
    out.losses.push_back(reply->scalars[0]);
    out.times_us.push_back(now_us() - begin);
  }
  out.print("letters.device");
  return 0;
}

/// Asks for one step after the other, as an actor's loop of `await` does.
struct client_state {
  device_handle device;
  compiled_program step;
  size_t left = 0;
  double begin_us = 0;
  measured* out = nullptr;
};

void fail(caf::error& why) {
  give_up(text_of(why));
}

void next_step(caf::stateful_actor<client_state>* self) {
  auto& mine = self->state;
  if (mine.left-- == 0) return self->quit();
  mine.begin_us = now_us();
  mine.device.run(self, mine.step, {testing::text_tensor(testing::letters_text)})
    .then(
      [self](const run_reply& reply) {
        auto& mine = self->state;
        mine.out->times_us.push_back(now_us() - mine.begin_us);
        mine.out->losses.push_back(reply.scalars[0]);
        next_step(self);
      },
      fail);
}

caf::behavior client(caf::stateful_actor<client_state>* self, device_handle device,
                     compiled_program step, size_t steps, measured* out) {
  self->state = {std::move(device), std::move(step), steps, 0, out};
  next_step(self);
  return {[](caf::ok_atom) {
    // nop
  }};
}

int call(std::unique_ptr<backend> on, size_t steps) {
  caf::actor_system_config config;
  caf::actor_system system(config);
  opened_device opened(system, std::move(on), {});
  auto device = opened.space("bench");
  caf::scoped_actor self(system);
  device.define(self, testing::letters_params()).receive([] {}, fail);
  device.define(self, testing::letters_optimizer()).receive([] {}, fail);
  compiled_program step;
  device.compile(self, {testing::letters_step(), {{elem::u8, {1, 65}}}})
    .receive([&step](const compiled_program& made) { step = made; }, fail);
  measured out;
  self->wait_for(system.spawn(client, device, step, steps, &out));
  out.print("device.call");
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const std::string_view count = argc > 2 ? argv[2] : "2000";
  size_t steps = 0;
  std::from_chars(count.data(), count.data() + count.size(), steps);
  if ((mode != "letters" && mode != "call") || steps == 0)
    give_up("usage: device_bench letters|call STEPS [KIND]");
  const auto programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  auto on = open_backend(argc > 3 ? argv[3] : "cpu", 1, programs);
  if (!on) give_up(on.error().message);
  return mode == "letters" ? letters(std::move(*on), steps) : call(std::move(*on), steps);
}
