// An actor that trains a transformer on characters, and writes on where a text ends.
//
//   trainer [cpu | cuda:0 | reference] [STEPS]
//
// The model: embeddings of characters and places, two blocks of causal attention and a gelu
// network, each behind a layer_norm and around a residual, and a linear head. `transformer` below
// is all of it.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <moxzi/device/device.hpp>

namespace md = moxzi::device;

namespace {

constexpr std::string_view text =
  "The owl and the pussy-cat went to sea in a beautiful pea-green boat. They took some honey, and "
  "plenty of money wrapped up in a five-pound note. The owl looked up to the stars above, and sang "
  "to a small guitar: O lovely pussy, o pussy, my love, what a beautiful pussy you are. ";

constexpr uint32_t characters = 128; // ASCII
constexpr uint32_t width = 64, heads = 4, blocks = 2, context = 32, batch = 16;

// -- the model -----------------------------------------------------------------------------------

/// Writes the model's program, and what parameters it needs as it goes.
class transformer {
public:
  /// The loss of guessing each next character of `rows` texts of context + 1 characters.
  md::var loss(uint32_t rows) {
    auto all = p_.input(md::elem::u8, {rows, context + 1});
    auto guesses = logits(narrow(all, 1, 0, context), rows);
    auto next = reshape(narrow(all, 1, 1, context), {rows * context});
    return cross_entropy(reshape(guesses, {rows * context, characters}), next);
  }
  /// What may come after each place of a text: [rows, context, characters].
  md::var guesses(uint32_t rows) {
    return logits(p_.input(md::elem::u8, {rows, context}), rows);
  }

  const md::program_builder& program() const {
    return p_;
  }
  const std::vector<md::param_spec>& params() const {
    return params_;
  }

private:
  md::var logits(md::var ids, uint32_t rows) {
    auto x = embedding(weight("characters", {characters, width}), ids)
             + weight("places", {context, width});
    for (uint32_t i = 0; i < blocks; ++i) x = block(x, "block" + std::to_string(i), rows);
    return dense(norm(x, "norm"), "head", characters);
  }

  md::var block(md::var x, const std::string& name, uint32_t rows) {
    auto n = norm(x, name + ".norm1");
    auto seen = attention(split(dense(n, name + ".q", width), rows), //
                          split(dense(n, name + ".k", width), rows),
                          split(dense(n, name + ".v", width), rows), {.causal = true});
    auto merged = reshape(permute(seen, {0, 2, 1, 3}), {rows, context, width});
    x = x + dense(merged, name + ".o", width);
    auto wide = gelu(dense(norm(x, name + ".norm2"), name + ".up", 4 * width));
    return x + dense(wide, name + ".down", width, 4 * width);
  }

  /// [rows, context, width] as [rows, heads, context, width / heads].
  md::var split(md::var x, uint32_t rows) {
    return permute(reshape(x, {rows, context, heads, width / heads}), {0, 2, 1, 3});
  }
  md::var norm(md::var x, const std::string& name) {
    auto gain = weight(name + ".gain", {width}, md::init_constant{1});
    return layer_norm(x, gain, weight(name + ".bias", {width}, md::init_constant{0}));
  }
  md::var dense(md::var x, const std::string& name, uint32_t to, uint32_t from = width) {
    auto w = weight(name + ".w", {to, from});
    return linear(x, w, weight(name + ".b", {to}, md::init_constant{0}));
  }
  md::var weight(const std::string& name, std::vector<uint32_t> dims,
                 md::initializer init = md::init_normal{0.05}) {
    params_.push_back({.name = name, .dims = std::move(dims), .init = std::move(init)});
    return p_.param(name);
  }

  md::program_builder p_;
  std::vector<md::param_spec> params_;
};

// -- the actor -----------------------------------------------------------------------------------

/// Train so many steps; the answer is the last loss.
struct train {
  uint32_t steps = 0;
};
/// Write on; the answer is so many more characters.
struct write_on {
  std::string from;
  uint32_t characters = 0;
};

} // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(train)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(write_on)

namespace {

using trainer_actor = caf::typed_actor<caf::replies_to<train>::with<double>,
                                       caf::replies_to<write_on>::with<std::string>>;

struct trainer_state {
  md::device_handle device;
  md::compiled_program step, guess;
  std::mt19937 random{1};
};
using trainer_self = trainer_actor::stateful_pointer<trainer_state>;

/// A batch of places in the text, each with what comes after.
md::tensor draw_batch(std::mt19937& random) {
  std::string out;
  for (uint32_t row = 0; row < batch; ++row)
    out += text.substr(random() % (text.size() - context), context + 1);
  return {std::move(out), md::elem::u8, {batch, context + 1}};
}

void take_steps(trainer_self self, uint32_t left, caf::typed_response_promise<double> asked) {
  auto& mine = self->state;
  mine.device.run(self, mine.step, {draw_batch(mine.random)})
    .then(
      [self, left, asked](const md::run_reply& done) mutable {
        if (left > 1) return take_steps(self, left - 1, asked);
        asked.deliver(done.scalars[0]);
      },
      [asked](caf::error& why) mutable { asked.deliver(why); });
}

/// Adds the likeliest character, again and again.
void write_more(trainer_self self, std::string so_far, uint32_t left,
                caf::typed_response_promise<std::string> asked) {
  auto& mine = self->state;
  auto window = so_far.substr(so_far.size() - context);
  mine.device.run(self, mine.guess, {{window, md::elem::u8, {1, context}}})
    .then(
      [self, so_far, left, asked](const md::run_reply& reply) mutable {
        auto all = md::elements<float>(reply.tensors[0]);
        auto last = all.subspan(all.size() - characters);
        so_far += static_cast<char>(std::max_element(last.begin(), last.end()) - last.begin());
        if (left > 1) return write_more(self, std::move(so_far), left - 1, asked);
        asked.deliver(std::move(so_far));
      },
      [asked](caf::error& why) mutable { asked.deliver(why); });
}

trainer_actor::behavior_type trainer(trainer_self self, md::device_handle device,
                                     md::compiled_program step, md::compiled_program guess) {
  self->state.device = std::move(device);
  self->state.step = std::move(step);
  self->state.guess = std::move(guess);
  return {
    [self](const train& what) {
      auto promise = self->make_response_promise<double>();
      take_steps(self, what.steps, promise);
      return promise;
    },
    [self](const write_on& what) -> caf::result<std::string> {
      if (what.from.size() < context) return caf::sec::invalid_argument;
      auto promise = self->make_response_promise<std::string>();
      write_more(self, what.from, what.characters, promise);
      return promise;
    },
  };
}

// -- main ----------------------------------------------------------------------------------------

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "trainer: %s\n", why.c_str());
  std::exit(1);
}
void give_up_on(caf::error& why) {
  give_up(md::text_of(why));
}

md::compiled_program compile(caf::scoped_actor& self, const md::device_handle& device,
                             moxzi::result<md::runnable> what) {
  if (!what) give_up(what.error().message);
  md::compiled_program out;
  device.compile(self, std::move(*what))
    .receive([&out](const md::compiled_program& made) { out = made; }, give_up_on);
  return out;
}

/// Makes the parameters and the optimizer, and starts the actor.
trainer_actor start(caf::scoped_actor& self, const md::device_handle& device) {
  transformer training, writing;
  auto loss = training.loss(batch), guesses = writing.guesses(1);
  md::optimizer_spec adamw{
    .name = "adamw", .lr = 2e-3, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .weight_decay = 0.01};
  for (auto& each : training.params()) adamw.params.push_back(each.name);
  device.define(self, training.params()).receive([] {}, give_up_on);
  device.define(self, adamw).receive([] {}, give_up_on);
  auto step = compile(
    self, device,
    training.program().training(loss, {.optimizer = "adamw", .clip = 1.0}, {.scalars = {loss}}));
  auto guess = compile(self, device, writing.program().answering({.tensors = {guesses}}));
  return self->spawn(trainer, device, step, guess);
}

} // namespace

int main(int argc, char** argv) {
  auto steps = static_cast<uint32_t>(argc > 2 ? std::max(1, std::atoi(argv[2])) : 300);
  caf::actor_system_config config;
  caf::actor_system system(config);
  auto opened = md::opened_device::open(system, {.kind = argc > 1 ? argv[1] : "cpu"});
  if (!opened) give_up(opened.error().message);
  caf::scoped_actor self(system);
  auto actor = start(self, opened->space("trainer"));
  auto learn = [&self, &actor](uint32_t count) {
    double loss = 0;
    self->request(actor, std::chrono::minutes(10), train{count})
      .receive([&loss](double last) { loss = last; }, give_up_on);
    return loss;
  };
  auto first = learn(1), last = learn(steps);
  std::printf("loss %.3f at first, %.3f after %u steps\n", first, last, steps);
  self
    ->request(actor, std::chrono::minutes(1), write_on{"The owl and the pussy-cat went to sea", 60})
    .receive([](const std::string& written) { std::printf("%s\n", written.c_str()); }, give_up_on);
  self->send_exit(actor, caf::exit_reason::user_shutdown);
}
