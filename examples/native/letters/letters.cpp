// Learns what comes next in a line of text: the model of examples/letters, from C++.
//
//   letters [cpu | cuda:0 | reference]
//
// prints the loss before and after 200 steps.

#include <cstdio>
#include <string>
#include <vector>

#include <moxzi/device/device.hpp>

namespace md = moxzi::device;

namespace {

const std::string text = "hello moxzi, hello actors, hello tensors on a device. hello again";

/// One training step: the program, written as the mathematics is.
md::runnable training_step() {
  md::program_builder p;
  auto input = p.input(md::elem::u8, {1, 65});
  auto x = narrow(input, 1, 0, 64);
  auto y = reshape(narrow(input, 1, 1, 64), {64});
  auto h = embedding(p.param("embed"), x);
  auto logits = reshape(linear(h, p.param("head")), {64, 256});
  auto loss = cross_entropy(logits, y);
  return p.training(loss, {.optimizer = "adam"}, {.scalars = {loss}}).value();
}

void learn(caf::actor_system& system, const md::opened_device& opened) {
  caf::scoped_actor self(system);
  auto device = opened.space("letters");
  auto fail = [](caf::error& why) {
    std::fprintf(stderr, "letters: %s\n", md::text_of(why).c_str());
    std::exit(1);
  };
  std::vector<md::param_spec> params{
    {.name = "embed", .dims = {256, 16}, .init = md::init_normal{0.1}},
    {.name = "head", .dims = {256, 16}, .init = md::init_normal{0.1}}};
  device.define(self, params).receive([] {}, fail);
  md::optimizer_spec adam{.name = "adam",
                          .params = {"embed", "head"},
                          .lr = 0.05,
                          .beta1 = 0.9,
                          .beta2 = 0.99,
                          .eps = 1e-8};
  device.define(self, adam).receive([] {}, fail);

  md::compiled_program step;
  device.compile(self, training_step())
    .receive([&step](const md::compiled_program& made) { step = made; }, fail);

  md::tensor line{text, md::elem::u8, {1, 65}};
  double first = 0, last = 0;
  for (int i = 0; i < 200; ++i)
    device.run(self, step, {line})
      .receive([&](const md::run_reply& reply) { (i == 0 ? first : last) = reply.scalars[0]; },
               fail);
  std::printf("first %.6f last %.6f\n", first, last);
}

} // namespace

int main(int argc, char** argv) {
  caf::actor_system_config config;
  caf::actor_system system(config);
  auto opened = md::opened_device::open(system, {.kind = argc > 1 ? argv[1] : "cpu"});
  if (!opened) {
    std::fprintf(stderr, "letters: %s\n", opened.error().message.c_str());
    return 1;
  }
  learn(system, *opened);
}
