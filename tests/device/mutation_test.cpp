#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "device/errors.hpp"
#include "device/gradient.hpp"
#include "device/plan.hpp"
#include "tests/device/support.hpp"

namespace moxzi::device {

/// Bytes asked of the heap by this thread so far (allocation_fixture.cpp).
uint64_t allocated_bytes() noexcept;

namespace {

using namespace testing;

/// A small valid training request to start from.
run_request valid_request(std::mt19937& random) {
  auto length = static_cast<uint32_t>(1 + random() % 4);
  run_request out{.inputs = {text_tensor(std::string(length + 1, '\x02'))},
                  .code = shared(letters_program(length, 5)),
                  .scalars = {9}};
  if (random() % 2) out.train = train_spec{.loss = 9, .optimizer = "adam"};
  return out;
}

uint32_t odd_number(std::mt19937& random) {
  constexpr uint32_t odd[] = {0, 1, 2, 3, 5, 64, 65, 255, 0x7fffffff, 0x80000000, 0xffffffff};
  return random() % 2 ? odd[random() % std::size(odd)] : static_cast<uint32_t>(random() % 12);
}

void mutate_operation(operation& what, std::mt19937& random) {
  switch (random() % 4) {
    case 0:
      for (auto& x : what.operands)
        if (random() % 2) x = odd_number(random);
      break;
    case 1:
      for (auto& value : what.attributes) {
        if (auto integer = std::get_if<int64_t>(&value))
          *integer = odd_number(random);
        else if (auto list = std::get_if<std::vector<uint32_t>>(&value)) {
          if (random() % 3 == 0)
            list->push_back(odd_number(random));
          else if (!list->empty())
            (*list)[random() % list->size()] = odd_number(random);
        } else if (auto text = std::get_if<std::string>(&value)) {
          *text = random() % 2 ? "embed" : std::string(random() % 200, 'e');
        }
      }
      break;
    case 2:
      what.id = static_cast<op>(random() % 4 ? random() % 140 : 995 + random() % 20);
      break;
    default:
      if (random() % 2)
        what.attributes.emplace_back(int64_t{1});
      else if (!what.operands.empty())
        what.operands.pop_back();
  }
}

void mutate(run_request& request, std::mt19937& random) {
  auto code = *request.code;
  for (auto changes = random() % 3 ? 1 : 2; changes-- > 0;) {
    auto& place = code[random() % code.size()];
    switch (random() % 10) {
      case 0:
        std::swap(place, code[random() % code.size()]);
        break;
      case 1:
        code.insert(code.begin() + static_cast<int64_t>(random() % code.size()), place);
        break;
      case 2:
      case 8:
      case 9: {
        // A view of something made before: most often still right.
        auto x = static_cast<reg>(random() % code.size());
        code.push_back(random() % 2
                         ? reshape(x, {random() % 4 ? 1 : odd_number(random), UINT32_MAX})
                         : narrow(x, 0, 0, 1));
        request.tensors.push_back(static_cast<reg>(code.size() - 1));
        break;
      }
      case 3:
        request.scalars.push_back(odd_number(random));
        break;
      case 4:
        request.tensors.push_back(static_cast<reg>(random() % 10));
        break;
      case 5:
        if (random() % 2)
          request.inputs[0].dims.push_back(odd_number(random));
        else
          request.inputs[0].data = changed(request.inputs[0].data, 0, static_cast<char>(random()));
        break;
      default:
        mutate_operation(place, random);
    }
  }
  request.code = shared(code);
}

void define_small(device_core& core) {
  ASSERT_TRUE(core.define_params("a", {{.name = "embed", .dims = {5, 3}, .init = init_normal{1}},
                                       {.name = "head", .dims = {5, 3}, .init = init_normal{1}}}));
  ASSERT_TRUE(core.define_optimizer("a", letters_optimizer()));
}

TEST(mutated_programs, are_run_or_refused_with_a_code_and_little_memory) {
  auto core = reference_core({.plans_max = 16});
  device_core shapes(make_null_backend(), {.plans_max = 16});
  define_small(core);
  define_small(shapes);
  int accepted = 0, refused = 0;
  uint64_t worst = 0;
  for (uint32_t seed = 0; seed < 50'000; ++seed) {
    std::mt19937 random(seed);
    auto request = valid_request(random);
    mutate(request, random);
    auto before = allocated_bytes();
    auto reply = core.run("a", request);
    if (!reply) {
      ++refused;
      worst = std::max(worst, allocated_bytes() - before);
      auto why = reply.error();
      ASSERT_EQ(&why.code.category(), &device_category()) << "seed " << seed;
      ASSERT_TRUE(
        why.message.starts_with(code_text(static_cast<device_errc>(why.code.value())) + ": "))
        << "seed " << seed << ": " << why.message;
      ASSERT_LT(why.message.size(), 1024u) << "seed " << seed;
      continue;
    }
    ++accepted;
    auto same = shapes.run("a", request);
    ASSERT_TRUE(same) << "seed " << seed << ": " << same.error().message;
    ASSERT_EQ(same->tensors.size(), reply->tensors.size());
    for (size_t i = 0; i < reply->tensors.size(); ++i) {
      ASSERT_EQ(same->tensors[i].dims, reply->tensors[i].dims) << "seed " << seed;
      ASSERT_EQ(same->tensors[i].data.size(), reply->tensors[i].data.size()) << "seed " << seed;
    }
  }
  std::printf("%d accepted, %d refused; a refused one took at most %llu bytes\n", accepted, refused,
              static_cast<unsigned long long>(worst));
  EXPECT_GT(accepted, 10'000);
  EXPECT_GT(refused, 10'000);
  EXPECT_LT(worst, 1u << 20);
}

/// Where a tensor of the arena lies.
std::pair<uint64_t, uint64_t> extent(const planned_tensor& what) {
  if (what.dims.elements() == 0) return {0, 0};
  int64_t last = 0;
  for (size_t i = 0; i < what.dims.rank(); ++i) last += (what.dims[i] - 1) * what.strides[i];
  return {what.offset, what.offset + static_cast<uint64_t>(last + 1) * size_of(what.type)};
}

bool overlap(const planned_tensor& a, const planned_tensor& b) {
  if (a.where != b.where || (a.where != memory::arena && a.index != b.index)) return false;
  auto [a0, a1] = extent(a);
  auto [b0, b1] = extent(b);
  return a0 < b1 && b0 < a1;
}

/// Nothing that is read was overwritten by another: whoever wrote last into a tensor's place wrote
/// all of the place that the reader sees.
void expect_sound(const plan& what) {
  auto reads = [&](uint32_t tensor, size_t at) {
    if (tensor == no_tensor) return;
    auto& x = what.tensors[tensor];
    if (x.where != memory::arena || x.dims.elements() == 0) return;
    auto [x0, x1] = extent(x);
    ASSERT_LE(x1, what.arena_bytes);
    const planned_tensor* writer = nullptr;
    for (size_t i = 0; i < at; ++i)
      for (auto out : what.instructions[i].outputs)
        if (overlap(what.tensors[out], x)) writer = &what.tensors[out];
    ASSERT_NE(writer, nullptr) << "nobody wrote tensor " << tensor;
    auto [w0, w1] = extent(*writer);
    EXPECT_LE(w0, x0);
    EXPECT_GE(w1, x1);
  };
  for (size_t i = 0; i < what.instructions.size(); ++i) {
    auto& step = what.instructions[i];
    for (auto x : step.inputs) {
      reads(x, i);
      if (x == no_tensor) continue;
      auto& from = what.tensors[x];
      bool gaps = step.id == chain_op || find_row(step.id)->strided;
      EXPECT_TRUE(gaps || from.is_contiguous());
      for (auto out : step.outputs) {
        // A chain may write where it has just read.
        auto& to = what.tensors[out];
        bool in_place = step.id == chain_op && from.offset == to.offset && from.is_contiguous()
                        && from.dims == to.dims && size_of(from.type) == size_of(to.type);
        EXPECT_TRUE(in_place || !overlap(from, to)) << "instruction " << i;
      }
    }
    for (auto out : step.outputs) {
      EXPECT_TRUE(what.tensors[out].is_contiguous());
      EXPECT_EQ(what.tensors[out].where, memory::arena);
    }
  }
  auto end = what.instructions.size();
  for (auto list : {&what.scalars, &what.results})
    for (auto x : *list) reads(x, end);
  for (auto& p : what.parameters) reads(p.gradient, end);
}

TEST(plans, never_overwrite_what_is_still_read) {
  int planned = 0;
  for (uint32_t seed = 0; seed < 5'000; ++seed) {
    std::mt19937 random(seed);
    auto request = valid_request(random);
    mutate(request, random);
    environment where;
    for (auto& sent : request.inputs) {
      auto dims = checked_shape(sent.dims);
      if (dims) where.inputs.push_back({sent.type, *dims});
    }
    for (auto name : {"embed", "head"})
      where.parameters.emplace(name, register_type{dtype::f32, elem::f32, {5, 3}, {}});
    auto typed = check(*request.code, where);
    if (!typed) continue;
    auto last = static_cast<reg>(typed->code.size() - 1);
    plan_request wanted{.results = {last, static_cast<reg>(random() % (last + 1))}};
    auto& loss = typed->types[9 % (last + 1)];
    if (loss.dims.elements() == 1 && is_float(loss.type)) {
      wanted.loss = 9 % (last + 1);
      wanted.differentiate = {"embed", "head"};
    }
    auto full = differentiate(std::move(*typed), wanted.loss, wanted.differentiate);
    ASSERT_TRUE(full) << full.error().message;
    SCOPED_TRACE(seed);
    expect_sound(make_plan(*full, wanted));
    if (::testing::Test::HasFailure()) return;
    ++planned;
  }
  EXPECT_GT(planned, 1'000);
}

// Forward and backward of a chain of 40 layers: without reuse this would take twice as much.
TEST(plans, use_memory_again) {
  constexpr reg layers = 40;
  program code{param("x"), param("w"), input(0)};
  for (reg i = 0; i < layers; ++i) code.push_back(linear(i == 0 ? 0 : 2 + i, 1));
  code.push_back(cross_entropy(2 + layers, 2));
  environment where;
  where.inputs = {{elem::u8, {8}}};
  where.parameters.emplace("x", register_type{dtype::f32, elem::f32, {8, 32}, {}});
  where.parameters.emplace("w", register_type{dtype::f32, elem::f32, {32, 32}, {}});
  auto one = 8u * 32 * 4, weight = 32u * 32 * 4;
  plan_request forward{.scalars = {3 + layers}};
  auto typed = check(code, where);
  ASSERT_TRUE(typed) << typed.error().message;
  auto only = make_plan({*typed, {}}, forward);
  EXPECT_LE(only.arena_bytes, 3 * one);
  forward.loss = 3 + layers;
  forward.differentiate = {"w"};
  auto full = differentiate(*typed, forward.loss, forward.differentiate);
  ASSERT_TRUE(full);
  auto both = make_plan(*full, forward);
  // All results of the layers, a few gradients on the way, and the sum of the weight's.
  EXPECT_LE(both.arena_bytes, (layers + 4) * one + 4 * weight);
}

} // namespace
} // namespace moxzi::device
