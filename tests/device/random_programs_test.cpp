#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "device/gradient.hpp"
#include "tests/device/backend_checks.hpp"
#include "tests/device/row_call.hpp"

// Programs put together of any rows of the table, then changed in one or two places: what is
// accepted gives the same on every backend, what is refused costs next to nothing.

namespace moxzi::device {

/// Bytes asked of the heap by this thread so far (allocation_fixture.cpp).
uint64_t allocated_bytes() noexcept;

namespace {

using namespace testing;

constexpr uint64_t memory_bytes = 64 << 20;

std::vector<param_spec> params() {
  auto one = [](const char* name, std::vector<uint32_t> dims) -> param_spec {
    return {.name = name, .dims = std::move(dims), .init = init_normal{1}, .type = dtype::f64};
  };
  return {one("m", {4, 3}), one("n", {3, 5}), one("v", {3}), one("c", {4, 1}), one("s", {})};
}

optimizer_spec optimizer() {
  return {.name = "o",
          .params = {"m", "n", "v", "c", "s"},
          .lr = 0.01,
          .beta1 = 0.9,
          .beta2 = 0.99,
          .eps = 1e-8};
}

/// Indices below 3, booleans, floats.
std::vector<tensor> inputs(std::mt19937& random) {
  std::vector<uint8_t> ids(4), flags(12);
  std::vector<float> floats(24);
  for (auto& id : ids) id = static_cast<uint8_t>(random() % 3);
  for (auto& flag : flags) flag = static_cast<uint8_t>(random() % 2);
  for (auto& x : floats) x = static_cast<float>(static_cast<int>(random() % 65) - 32) / 16;
  return {tensor_of(elem::u8, {4}, ids), tensor_of(elem::boolean, {4, 3}, flags),
          tensor_of(elem::f32, {2, 4, 3}, floats)};
}

/// What every program starts with: all parameters and inputs, and the last as f64.
program sources() {
  return {param("m"), param("n"), param("v"),
          param("c"), param("s"), input(0),
          input(1),   input(2),   {op::cast, {7}, {static_cast<int64_t>(dtype::f64)}}};
}

const std::vector<const row*>& rows_to_use() {
  static const auto rows = [] {
    std::vector<const row*> out;
    for (auto& how : table())
      if (!how.internal() && how.pure && (how.runs != row_runs::bound || how.id == op::grad))
        out.push_back(&how);
    return out;
  }();
  return rows;
}

/// Appends up to `count` random operations that fit.
void grow(typed_program& code, int count, std::mt19937& random) {
  sampler samples(random(), dtype::f64);
  for (int tries = 0; tries < 12 * count && count > 0; ++tries) {
    auto how = rows_to_use()[random() % rows_to_use().size()];
    auto like = how->example(samples);
    operation made{how->id, {}, std::move(like.attributes)};
    for (auto& operand : like.operands) {
      // Late registers more often, so that operations build on each other.
      auto made_so_far = static_cast<uint32_t>(code.code.size());
      auto x = random() % 2 ? random() % made_so_far : made_so_far - 1 - random() % 4;
      made.operands.push_back(operand ? static_cast<reg>(x) : no_register);
    }
    if (auto ok = append(code, std::move(made), 0); !ok) continue;
    if (code.types.back().dims.elements() > 4096) {
      code.code.pop_back();
      code.types.pop_back();
      code.seconds.pop_back();
      code.origins.pop_back();
      continue;
    }
    --count;
  }
}

environment environment_of(const run_request& request) {
  auto shape_of = [](const std::vector<uint32_t>& sizes) {
    shape dims;
    for (auto size : sizes) dims.push(size);
    return dims;
  };
  environment out;
  for (auto& one : params())
    out.parameters.emplace(one.name, register_type{dtype::f64, elem::f64, shape_of(one.dims), {}});
  for (auto& one : request.inputs) out.inputs.push_back({one.type, shape_of(one.dims)});
  out.trains = request.train.has_value();
  return out;
}

/// A valid request: asks for some registers, and trains where the end can be made one number.
run_request valid_request(std::mt19937& random) {
  run_request out{.inputs = inputs(random)};
  auto typed = check(sources(), environment_of(out));
  EXPECT_TRUE(typed) << typed.error().message;
  grow(*typed, 1 + static_cast<int>(random() % 8), random);
  auto last = static_cast<reg>(typed->code.size() - 1);
  for (int i = 0; i < 3; ++i) out.tensors.push_back(last - static_cast<reg>(random() % 4));
  auto& type = typed->types[last];
  if (is_float(type.type) && find_row(op::sum)) {
    typed->code.push_back({op::sum, {last}, {{}, {}}});
    out.scalars = {last + 1};
    if (random() % 2) out.train = train_spec{.loss = last + 1, .optimizer = "o", .clip = 1.0};
  }
  out.code = shared(std::move(typed->code));
  return out;
}

uint32_t odd_number(std::mt19937& random) {
  constexpr uint32_t odd[] = {0, 1, 2, 3, 4, 5, 64, 0x7fffffff, 0x80000000, 0xffffffff};
  return odd[random() % std::size(odd)];
}

void mutate_attribute(attribute& value, std::mt19937& random) {
  if (auto integer = std::get_if<int64_t>(&value)) {
    *integer = odd_number(random);
  } else if (auto number = std::get_if<double>(&value)) {
    constexpr double odd[] = {0, -1, 1e300, 0.5, HUGE_VAL};
    *number = odd[random() % std::size(odd)];
  } else if (auto list = std::get_if<std::vector<uint32_t>>(&value)) {
    if (list->empty() || random() % 3 == 0)
      list->push_back(odd_number(random));
    else
      (*list)[random() % list->size()] = odd_number(random);
  } else if (auto text = std::get_if<std::string>(&value)) {
    *text += "x";
  } else {
    value = random() % 2 ? attribute{int64_t{1}} : attribute{true};
  }
}

void mutate(run_request& request, std::mt19937& random) {
  auto code = *request.code;
  auto& place = code[random() % code.size()];
  switch (random() % 6) {
    case 0:
      if (!place.operands.empty())
        place.operands[random() % place.operands.size()] =
          random() % 8 ? static_cast<reg>(random() % code.size()) : odd_number(random);
      break;
    case 1:
    case 2:
      if (!place.attributes.empty())
        mutate_attribute(place.attributes[random() % place.attributes.size()], random);
      break;
    case 3: {
      // Another operation with as many operands.
      auto how = rows_to_use()[random() % rows_to_use().size()];
      place.id = how->id;
      break;
    }
    case 4: {
      auto& sent = request.inputs[random() % request.inputs.size()];
      if (random() % 2 && !sent.dims.empty())
        sent.dims[random() % sent.dims.size()] = odd_number(random);
      break;
    }
    default:
      if (random() % 2)
        std::swap(place, code[random() % code.size()]);
      else
        place.operands.push_back(0);
  }
  request.code = shared(std::move(code));
}

std::string named(const program& code) {
  std::string out;
  for (auto& one : code)
    out += fmt::format("{}({}) ", find_row(one.id)->name, fmt::join(one.operands, ","));
  return out;
}

/// What 0 times infinity is made of differs between libraries.
bool is_near(double a, double b, double most) {
  return a == b || !std::isfinite(a) || !std::isfinite(b) || std::abs(a - b) <= most;
}

/// The same request that answers all floats too, with every float register multiplied by a number
/// near 1, above or below it as the bits of `signs` say.
run_request shaken(const run_request& request, uint32_t signs) {
  auto typed = check(*request.code, environment_of(request));
  EXPECT_TRUE(typed) << typed.error().message;
  program code;
  auto emit = [&code](op id, std::vector<reg> operands, std::vector<attribute> attributes) {
    code.push_back({id, std::move(operands), std::move(attributes)});
    return static_cast<reg>(code.size() - 1);
  };
  // Each element by a number of its own, so that no two that were equal change alike.
  auto shake = [&](reg x, size_t i) {
    auto& type = typed->types[i];
    std::vector<uint32_t> dims;
    for (auto size : type.dims.sizes()) dims.push_back(static_cast<uint32_t>(size));
    auto way = signs >> i % 31 & 1 ? 1.0 : -1.0;
    auto noise = emit(op::random, {}, {dims, int64_t{1}, static_cast<int64_t>(i)});
    if (type.type != dtype::f32) noise = emit(op::cast, {noise}, {static_cast<int64_t>(type.type)});
    auto factor = emit(op::add_scalar, {emit(op::mul_scalar, {noise}, {way * 4e-7})}, {1.0});
    // What is 0 by its last bits is no longer.
    auto more = emit(op::mul_scalar, {noise}, {way * 1e-9});
    return emit(op::add, {emit(op::mul, {x, factor}, {}), more}, {});
  };
  std::vector<reg> now;
  for (size_t i = 0; i < request.code->size(); ++i) {
    auto one = (*request.code)[i];
    for (auto& x : one.operands)
      if (x != no_register) x = now[x];
    auto made = emit(one.id, std::move(one.operands), std::move(one.attributes));
    auto type = typed->types[i].type;
    if (type == dtype::f32 || type == dtype::f64) made = shake(made, i);
    now.push_back(made);
  }
  auto out = request;
  out.code = shared(std::move(code));
  for (auto list : {&out.scalars, &out.tensors})
    for (auto& x : *list) x = now[x];
  for (size_t i = 0; i < now.size(); ++i)
    if (is_float(typed->types[i].type)) out.tensors.push_back(now[i]);
  if (out.train) out.train->loss = now[out.train->loss];
  return out;
}

/// True if no element changed by more than what changed in the data lets it: none was cut or
/// chosen otherwise. What is infinite on the way may be no number elsewhere, and so be chosen.
bool is_steady(const run_reply& shaken, const run_reply& right) {
  for (size_t i = right.tensors.size(); i < shaken.tensors.size(); ++i)
    for (auto x : values_of(shaken.tensors[i]))
      if (!std::isfinite(x)) return false;
  for (size_t i = 0; i < right.tensors.size(); ++i) {
    auto a = values_of(shaken.tensors[i]), b = values_of(right.tensors[i]);
    for (size_t n = 0; n < a.size(); ++n)
      if (!is_near(a[n], b[n], 1e-4 * std::max(1e-3, std::abs(b[n])))) return false;
  }
  return true;
}

/// How near results are, as a part of the largest element: by the narrowest type on the way.
double nearness(const run_request& request) {
  auto typed = check(*request.code, environment_of(request));
  EXPECT_TRUE(typed) << typed.error().message;
  auto most = 1e-7;
  for (size_t i = 0; i < typed->types.size(); ++i) {
    if (find_row(typed->code[i].id)->runs == row_runs::bound) continue;
    auto type = typed->types[i].type;
    if (type == dtype::f32) most = std::max(most, 1e-4);
    if (type == dtype::f16) most = std::max(most, 1e-2);
    if (type == dtype::bf16) most = std::max(most, 5e-2);
  }
  return most;
}

/// Elements are as near as their type lets them be where the largest is as large as it is.
void expect_same(const run_reply& got, const run_reply& wanted, const run_request& request,
                 uint32_t seed) {
  auto most = nearness(request);
  ASSERT_EQ(got.tensors.size(), wanted.tensors.size()) << "seed " << seed;
  for (size_t i = 0; i < got.tensors.size(); ++i) {
    ASSERT_EQ(got.tensors[i].dims, wanted.tensors[i].dims) << "seed " << seed;
    ASSERT_EQ(got.tensors[i].type, wanted.tensors[i].type) << "seed " << seed;
    auto a = values_of(got.tensors[i]), b = values_of(wanted.tensors[i]);
    double largest = 1;
    for (auto x : b)
      if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
    for (size_t n = 0; n < a.size(); ++n) {
      ASSERT_TRUE(largest > 1e12 || is_near(a[n], b[n], largest * most))
        << "seed " << seed << " tensor " << i << " element " << n << ": " << a[n] << " and " << b[n]
        << " of " << named(*request.code);
    }
  }
}

/// What is equal, or 0, by chance is no longer when it is shaken; but what is not may be elsewhere.
bool asks_for_equality(const operation& what) {
  switch (what.id) {
    case op::eq:
    case op::ne:
    case op::logical_not:
    case op::logical_and:
    case op::logical_or:
    case op::logical_xor:
    case op::any:
    case op::all:
      return true;
    case op::cast:
      return what.attributes[0] == attribute{static_cast<int64_t>(dtype::boolean)};
    default:
      return false;
  }
}

class cores {
public:
  cores()
      : reference_(make_reference_backend(), {.memory_bytes = memory_bytes, .plans_max = 4}),
        shaken_(make_reference_backend(), {.memory_bytes = memory_bytes, .plans_max = 4}),
        processor_(opened("cpu"), {.memory_bytes = memory_bytes, .plans_max = 4}) {
    for (auto core : {&reference_, &processor_, &shaken_}) define(*core);
  }

  void run(uint32_t seed) {
    std::mt19937 random(seed);
    auto request = valid_request(random);
    if (random() % 4) mutate(request, random);
    auto before = allocated_bytes();
    auto right = reference_.run("a", request);
    auto took = allocated_bytes() - before;
    auto got = processor_.run("a", request);
    ASSERT_EQ(right.has_value(), got.has_value())
      << "seed " << seed << ": " << (right ? got : right).error().message;
    if (!right) {
      ++refused;
      // What only running it shows was planned before.
      if (right.error().code != device_errc::index_range) worst = std::max(worst, took);
      EXPECT_EQ(right.error().message, got.error().message) << "seed " << seed;
      return;
    }
    ++accepted;
    const auto steady = stays(request, *right, random);
    // Training would make the two differ more and more.
    if (request.train)
      for (auto core : {&reference_, &processor_}) again(*core);
    if (!steady) return;
    ++compared;
    expect_same(*got, *right, request, seed);
  }

  int accepted = 0, refused = 0, compared = 0;
  uint64_t worst = 0;

private:
  static void define(device_core& core) {
    EXPECT_TRUE(core.define_params("a", params()));
    EXPECT_TRUE(core.define_optimizer("a", optimizer()));
  }
  static void again(device_core& core) {
    core.drop_space("a");
    define(core);
  }

  /// True if the last bits of numbers do not decide what becomes of them, so that no order of
  /// additions does: every float on the way is made a little larger or smaller, then the other way
  /// round.
  bool stays(const run_request& request, const run_reply& right, std::mt19937& random) {
    const auto signs = random();
    if (std::ranges::any_of(*request.code, asks_for_equality)) return false;
    for (auto flipped : {0u, ~0u}) {
      if (request.train) again(shaken_);
      auto done = shaken_.run("a", shaken(request, signs ^ flipped));
      if (!done || !is_steady(*done, right)) return false;
    }
    return true;
  }

  device_core reference_, shaken_, processor_;
};

// MOXZI_MUTATIONS asks for another number of them.
TEST(random_programs, give_the_same_everywhere_or_are_refused_cheaply) {
  auto asked = std::getenv("MOXZI_MUTATIONS");
  auto count = asked ? static_cast<uint32_t>(std::atoi(asked)) : 50'000u;
  cores all;
  for (uint32_t seed = 0; seed < count; ++seed) {
    all.run(seed);
    if (HasFailure()) return;
  }
  std::printf("%d accepted (%d compared), %d refused; a refused one took at most %llu bytes\n",
              all.accepted, all.compared, all.refused, static_cast<unsigned long long>(all.worst));
  auto share = static_cast<double>(all.accepted) / count;
  EXPECT_GE(share, 0.2);
  EXPECT_LE(share, 0.8);
  EXPECT_LT(all.worst, 1u << 20);
}

} // namespace
} // namespace moxzi::device
