#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "tests/device/backend_checks.hpp"

// What rows do with what random calls seldom hold: NaN, ties, places named twice or not there. The
// values are PyTorch's, and those that it leaves open are as the rows' sentences say.

namespace moxzi::device {
namespace {

using namespace testing;
using ::testing::HasSubstr;

constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
constexpr auto inf = std::numeric_limits<double>::infinity();

/// The reference and, where it is built, the processor.
std::vector<std::unique_ptr<device_core>> cores() {
  std::vector<std::unique_ptr<device_core>> out;
  out.push_back(std::make_unique<device_core>(make_reference_backend(), core_options{}));
  if (std::filesystem::exists(built_programs() / "libmoxzi_torch.so"))
    out.push_back(std::make_unique<device_core>(opened("cpu"), core_options{}));
  return out;
}

tensor floats(std::vector<uint32_t> dims, const std::vector<double>& values) {
  return tensor_of<float>(elem::f32, std::move(dims), {values.begin(), values.end()});
}

tensor integers(std::vector<uint32_t> dims, const std::vector<int64_t>& values) {
  return tensor_of<int64_t>(elem::i64, std::move(dims), values);
}

/// The last register's elements, cast to f32, on every backend.
void expect_values(const std::vector<tensor>& inputs, program code,
                   const std::vector<double>& wanted) {
  code.push_back({op::cast, {static_cast<reg>(code.size() - 1)}, {int64_t{0}}});
  for (auto& core : cores()) {
    auto reply = core->run(
      "a",
      {.inputs = inputs, .code = shared(code), .tensors = {static_cast<reg>(code.size() - 1)}});
    ASSERT_TRUE(reply) << reply.error().message;
    auto got = numbers(reply->tensors[0]);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i]))
                  || std::abs(got[i] - wanted[i]) < 1e-6)
        << find_row(code[code.size() - 2].id)->name << " element " << i << " is " << got[i]
        << " and not " << wanted[i];
  }
}

const attribute all_dims{}, gone{};

TEST(row_values, not_a_number_is_the_extreme_of_all) {
  auto x = floats({2, 3}, {1, nan, 3, -inf, 0, inf});
  const std::vector<uint32_t> rows{1};
  expect_values({x}, {input(0), {op::max, {0}, {rows, gone}}}, {nan, inf});
  expect_values({x}, {input(0), {op::min, {0}, {rows, gone}}}, {nan, -inf});
  expect_values({x}, {input(0), {op::argmax, {0}, {int64_t{1}}}}, {1, 2});
  expect_values({x}, {input(0), {op::argmin, {0}, {int64_t{1}}}}, {1, 0});
  expect_values({x}, {input(0), {op::sort, {0}, {int64_t{1}, {}}}}, {1, 3, nan, -inf, 0, inf});
  expect_values({x}, {input(0), {op::argsort, {0}, {int64_t{1}, true}}}, {1, 2, 0, 2, 1, 0});
  expect_values({x}, {input(0), {op::any, {0}, {rows, gone}}}, {1, 1});
}

TEST(row_values, of_equals_the_first_counts) {
  auto x = integers({5}, {2, 7, 7, 1, 2});
  expect_values({x}, {input(0), {op::argmax, {0}, {int64_t{0}}}}, {1});
  expect_values({x}, {input(0), {op::argsort, {0}, {int64_t{0}, {}}}}, {3, 0, 4, 1, 2});
  expect_values({x}, {input(0), {op::argsort, {0}, {int64_t{0}, true}}}, {1, 2, 0, 4, 3});
  expect_values({x}, {input(0), {op::topk_indices, {0}, {int64_t{0}, int64_t{3}}}}, {1, 2, 0});
}

TEST(row_values, nothing_has_a_sum_a_product_and_truths_but_no_mean) {
  auto x = floats({0, 2}, {});
  const std::vector<uint32_t> first{0};
  expect_values({x}, {input(0), {op::sum, {0}, {first, gone}}}, {0, 0});
  expect_values({x}, {input(0), {op::prod, {0}, {first, gone}}}, {1, 1});
  expect_values({x}, {input(0), {op::any, {0}, {first, gone}}}, {0, 0});
  expect_values({x}, {input(0), {op::all, {0}, {first, gone}}}, {1, 1});
  expect_values({x}, {input(0), {op::mean, {0}, {first, gone}}}, {nan, nan});
  expect_values({x}, {input(0), {op::logsumexp, {0}, {first, gone}}}, {-inf, -inf});
  expect_values({x}, {input(0), {op::variance, {0}, {first, gone, {}}}}, {nan, nan});
}

TEST(row_values, one_number_has_no_unbiased_variance) {
  auto x = floats({1}, {3});
  expect_values({x}, {input(0), {op::variance, {0}, {all_dims, gone, {}}}}, {nan});
  expect_values({x}, {input(0), {op::std, {0}, {all_dims, gone, {}}}}, {nan});
  expect_values({x}, {input(0), {op::variance, {0}, {all_dims, gone, false}}}, {0});
}

TEST(row_values, an_empty_list_of_dimensions_reduces_nothing) {
  auto x = floats({2, 2}, {1, 2, 3, 4});
  const std::vector<uint32_t> none;
  for (auto id : {op::sum, op::mean, op::prod, op::max, op::min, op::logsumexp})
    expect_values({x}, {input(0), {id, {0}, {none, gone}}}, {1, 2, 3, 4});
}

TEST(row_values, the_last_of_several_for_one_place_stands) {
  auto x = floats({2, 3}, {0, 0, 0, 0, 0, 0}), src = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  auto ids = integers({2, 3}, {0, 1, 0, 2, 2, 2});
  const program inputs{input(0), input(1), input(2)};
  auto with = [&inputs](op id) {
    auto out = inputs;
    out.push_back({id, {0, 1, 2}, {int64_t{1}}});
    return out;
  };
  expect_values({x, ids, src}, with(op::scatter), {3, 2, 0, 0, 0, 6});
  expect_values({x, ids, src}, with(op::scatter_add), {4, 2, 0, 0, 0, 15});
}

// A gradient of what was written over is 0, which PyTorch leaves open.
TEST(row_values, what_was_written_over_has_no_gradient) {
  for (auto& core : cores()) {
    ASSERT_TRUE(core->define_params("a", {{.name = "x", .dims = {3}, .init = init_constant{0}},
                                          {.name = "s", .dims = {3}, .init = init_constant{0}}}));
    ASSERT_TRUE(core->define_optimizer(
      "a", {.name = "o", .params = {"x", "s"}, .lr = 1, .kind = optimizer_kind::sgd}));
    const program code{param("x"),
                       param("s"),
                       input(0),
                       {op::scatter, {0, 2, 1}, {int64_t{0}}},
                       input(1),
                       {op::mul, {3, 4}, {}},
                       {op::sum, {5}, {all_dims, gone}}};
    auto reply = core->run("a", {.inputs = {integers({3}, {1, 0, 1}), floats({3}, {1, 2, 3})},
                                 .code = shared(code),
                                 .train = train_spec{.loss = 6, .optimizer = "o"}});
    ASSERT_TRUE(reply) << reply.error().message;
    reply = core->run("a", {.code = shared({param("x"), param("s")}), .tensors = {0, 1}});
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(numbers(reply->tensors[0]), (std::vector<double>{0, 0, -3}));
    EXPECT_EQ(numbers(reply->tensors[1]), (std::vector<double>{0, -1, -2}));
  }
}

TEST(row_values, a_place_that_is_not_there_is_named) {
  auto x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  struct wrong {
    program code;
    std::vector<tensor> inputs;
    std::string_view row;
  };
  for (auto bad : {int64_t{3}, int64_t{-1}}) {
    auto matrix = integers({2, 1}, {0, bad}), line = integers({2}, {0, bad});
    auto one = floats({2, 1}, {1, 2});
    const wrong calls[] = {
      {{input(0), input(1), {op::gather, {0, 1}, {int64_t{1}}}}, {x, matrix}, "gather"},
      {{input(0), input(1), {op::index_select, {0, 1}, {int64_t{1}}}}, {x, line}, "index_select"},
      {{input(0), input(1), input(2), {op::scatter, {0, 1, 2}, {int64_t{1}}}},
       {x, matrix, one},
       "scatter"},
      {{input(0), input(1), input(2), {op::scatter_add, {0, 1, 2}, {int64_t{1}}}},
       {x, matrix, one},
       "scatter_add"},
      {{input(0), {op::one_hot, {0}, {int64_t{3}}}}, {line}, "one_hot"},
    };
    for (auto& core : cores())
      for (auto& call : calls) {
        auto last = static_cast<reg>(call.code.size() - 1);
        auto reply =
          core->run("a", {.inputs = call.inputs, .code = shared(call.code), .tensors = {last}});
        ASSERT_FALSE(reply) << call.row;
        EXPECT_THAT(reply.error().message,
                    HasSubstr(fmt::format("MXD015: program[{}] {}: ids holds {}; 0 to 2 wanted",
                                          last, call.row, bad)));
      }
  }
}

TEST(row_values, numbers_that_a_type_lacks_are_refused) {
  auto core = reference_core();
  auto refused = [&core](operation what, std::string_view why) {
    auto reply = core.run("a", {.code = shared({std::move(what)}), .tensors = {0}});
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().message, HasSubstr(why));
  };
  auto type = [](dtype t) { return static_cast<int64_t>(t); };
  const std::vector<uint32_t> one{1};
  refused({op::full, {}, {one, 0.5, type(dtype::i64)}}, "value 0.5 is no i64");
  refused({op::full, {}, {one, -1.0, type(dtype::u8)}}, "value -1 is no u8");
  refused({op::full, {}, {one, 1e30, type(dtype::i64)}}, "value 1e+30 is no i64");
  refused({op::arange, {}, {int64_t{0}, int64_t{300}, {}, type(dtype::u8)}}, "299 is no u8");
  refused({op::arange, {}, {INT64_MIN, INT64_MAX, {}, {}}}, "at most 2147483647");
  refused({op::arange, {}, {int64_t{0}, int64_t{3}, int64_t{0}, {}}}, "step is 0");
}

} // namespace
} // namespace moxzi::device
