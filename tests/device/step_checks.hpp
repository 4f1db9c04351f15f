#pragma once

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "device/optimizer.hpp"
#include "tests/device/kernel_cases.hpp"

/// What the optimizers of every backend that computes must do.
namespace moxzi::device::testing {

/// One optimizer step on random contents.
struct step_case {
  optimizer_kind kind = optimizer_kind::adamw;
  elem type = elem::f32;
  shape dims;
  double beta1 = 0.9;
  double decay = 0;
  bool amsgrad = false;
  std::optional<double> clip;
  std::optional<double> clip_value;
  bool accumulate = false;
  bool gathered = false;        ///< whether something was gathered before
  std::optional<double> poison; ///< a gradient's last element, with `skip_nonfinite`

  std::string text() const {
    return fmt::format("{} {} {} beta1 {} decay {} clip {} value {}{}{}{}{}", name_of(kind),
                       name_of(type), to_string(dims), beta1, decay, clip.value_or(-1),
                       clip_value.value_or(-1), amsgrad ? " amsgrad" : "",
                       accumulate ? " accumulate" : "", gathered ? " gathered" : "",
                       poison ? " poisoned" : "");
  }
};

/// What a step left: parameter, what was gathered, states, then the norm and whether it was
/// skipped.
using step_outcome = std::vector<std::vector<double>>;

/// Memory of a device with the contents of tensors.
class placed_tensors {
public:
  explicit placed_tensors(backend& on) : on_(on) {
    // nop
  }
  void* add(const tensor& contents) {
    fault why;
    auto made = on_.allocate(contents.data.size(), why);
    EXPECT_TRUE(made) << why.what;
    EXPECT_FALSE(on_.write(*made, 0, contents.data));
    all_.emplace_back(made, contents.type);
    return made->data;
  }
  step_outcome read() const {
    step_outcome out;
    for (auto& [memory, type] : all_) {
      byte_string data;
      EXPECT_FALSE(on_.read(*memory, 0, memory->bytes, data));
      out.push_back(numbers({data, type, {}}));
    }
    return out;
  }

private:
  backend& on_;
  std::vector<std::pair<buffer_ptr, elem>> all_;
};

inline tensor floats_of(elem type, const shape& dims, const std::vector<double>& values) {
  std::vector<uint32_t> sizes;
  for (auto size : dims.sizes()) sizes.push_back(static_cast<uint32_t>(size));
  return type == elem::f64
           ? tensor_of<double>(type, sizes, values)
           : tensor_of<float>(type, sizes, std::vector<float>(values.begin(), values.end()));
}

/// Random contents; those of mean squares are squares.
inline tensor random_contents(case_maker& make, elem type, const shape& dims, bool squares) {
  auto values = numbers(make.floats(type, {static_cast<uint32_t>(dims.elements())}));
  if (squares)
    for (auto& value : values) value *= value;
  return floats_of(type, dims, values);
}

inline bool is_mean_square(std::string_view state) {
  return !state.starts_with("momentum") && state != "exp_avg" && state != "quotient_momentum";
}

inline step_outcome after_step(backend& on, const step_case& one) {
  case_maker make(7);
  case_builder build("step");
  auto sent = random_contents(make, one.type, one.dims, false);
  if (one.poison && one.dims.elements() > 0) {
    auto values = numbers(sent);
    values.back() = *one.poison;
    sent = floats_of(one.type, one.dims, values);
  }
  const auto gradient = build.input(sent);
  auto plan_case = build.run(op::contiguous, {gradient}, {build.output(one.type, one.dims)}, {}, 0);
  placed_tensors memory(on);
  step_segment segment{.gradient = gradient,
                       .elements = static_cast<uint64_t>(one.dims.elements()),
                       .type = one.type,
                       .dims = one.dims,
                       .step = 3,
                       .kind = kind_for(one.kind, one.dims),
                       .weight_decay = one.decay,
                       .gathered_some = one.gathered};
  segment.parameter = memory.add(random_contents(make, one.type, one.dims, false));
  segment.gathered = memory.add(random_contents(make, one.type, one.dims, false));
  size_t n = 0;
  for (auto& part :
       layout_of({.beta1 = one.beta1, .kind = one.kind, .amsgrad = one.amsgrad}, one.dims))
    segment.states[n++] =
      memory.add(random_contents(make, one.type, part.dims, is_mean_square(part.name)));
  fault why;
  auto ready = on.prepare(plan_case.what, why);
  EXPECT_TRUE(ready) << why.what;
  const optimizer_step how{0.05, one.beta1, 0.99, 1e-7, one.amsgrad, {segment}};
  run_results out;
  auto failed = ready->run({.inputs = plan_case.inputs,
                            .steps = {&how, 1},
                            .clip = one.clip,
                            .clip_value = one.clip_value,
                            .accumulate = one.accumulate,
                            .skip_nonfinite = one.poison.has_value()},
                           out);
  EXPECT_FALSE(failed) << failed->what;
  auto after = memory.read();
  // Once it was used, what was gathered is of no interest.
  if (!one.accumulate) after[1].clear();
  after.push_back({out.grad_norm.value_or(-1), out.skipped ? 1.0 : 0.0});
  return after;
}

inline void check_step(backend& on, const step_case& one) {
  SCOPED_TRACE(one.text());
  static const auto reference = make_reference_backend();
  const auto wanted = after_step(*reference, one), got = after_step(on, one);
  ASSERT_EQ(got.size(), wanted.size());
  double tolerance = one.type == elem::f64 ? 1e-12 : 4e-6;
  // Muon computes in bfloat16, where a sum's order may show in the last of eight bits.
  if (kind_for(one.kind, one.dims) == optimizer_kind::muon) tolerance = 1e-3;
  for (size_t part = 0; part < wanted.size(); part++) {
    ASSERT_EQ(got[part].size(), wanted[part].size());
    for (size_t i = 0; i < wanted[part].size(); i++) {
      const double a = got[part][i], b = wanted[part][i];
      if (std::isnan(b) && std::isnan(a)) continue;
      if (std::isinf(b) && a == b) continue;
      ASSERT_NEAR(a, b, tolerance * std::max(1.0, std::abs(b))) << "part " << part << ", " << i;
    }
  }
}

inline constexpr std::array all_kinds{optimizer_kind::adamw,     optimizer_kind::adam,
                                      optimizer_kind::sgd,       optimizer_kind::nesterov,
                                      optimizer_kind::rmsprop,   optimizer_kind::adagrad,
                                      optimizer_kind::lion,      optimizer_kind::adamax,
                                      optimizer_kind::adafactor, optimizer_kind::muon};

/// All kinds, with and without momentum, decay and clipping, sizes 0 and 1 included.
inline void check_steps(backend& on) {
  const std::vector<shape> shapes{{0},    {1},       {37},    {1000},    {},
                                  {3, 5}, {17, 300}, {40, 9}, {2, 3, 4}, {3, 0}};
  for (const auto kind : all_kinds)
    for (const auto type : {elem::f32, elem::f64})
      for (const auto& dims : shapes)
        for (const double beta1 : {0.9, 0.0}) {
          step_case plain{.kind = kind, .type = type, .dims = dims, .beta1 = beta1};
          check_step(on, plain);
          plain.decay = 0.1;
          plain.clip = 0.5;
          check_step(on, plain);
          plain.clip = 1e9;
          plain.clip_value = 0.7;
          plain.gathered = true;
          check_step(on, plain);
          if (kind != optimizer_kind::adamw && kind != optimizer_kind::adam) continue;
          plain.amsgrad = true;
          check_step(on, plain);
        }
}

/// Gathering, and steps that are not taken.
inline void check_gathering(backend& on) {
  for (const auto type : {elem::f32, elem::f64})
    for (const auto& dims : {shape{0}, shape{1}, shape{37}, shape{5, 70}})
      for (const bool gathered : {false, true})
        for (const auto poison : {std::optional<double>{}, std::optional{1.0},
                                  std::optional{std::nan("")}, std::optional{-HUGE_VAL}})
          for (const bool accumulate : {false, true})
            check_step(on, {.type = type,
                            .dims = dims,
                            .clip = 1.0,
                            .clip_value = 0.9,
                            .accumulate = accumulate,
                            .gathered = gathered,
                            .poison = poison});
}

} // namespace moxzi::device::testing
