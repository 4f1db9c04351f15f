#include "device/gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "device/plan.hpp"
#include "tests/device/support.hpp"

namespace moxzi::device {
namespace {

using namespace testing;

using values = std::map<std::string, std::vector<double>>;

/// A program whose last register is the loss, over f64 parameters.
struct example {
  program code;
  environment where;
  std::vector<tensor> inputs;
  values params;

  void add_param(const std::string& name, shape dims, std::mt19937& random) {
    std::normal_distribution<double> normal;
    auto& contents = params[name];
    for (int64_t i = 0; i < dims.elements(); ++i) contents.push_back(normal(random));
    where.parameters.emplace(name, register_type{dtype::f64, elem::f64, dims, {}});
  }

  /// An input of integers below `below`, in a random narrow type.
  reg add_ids(shape dims, int64_t below, std::mt19937& random) {
    std::vector<uint8_t> ids;
    for (int64_t i = 0; i < dims.elements(); ++i)
      ids.push_back(static_cast<uint8_t>(random() % static_cast<uint64_t>(below)));
    std::vector<uint32_t> sizes(dims.sizes().begin(), dims.sizes().end());
    where.inputs.push_back({elem::u8, dims});
    inputs.push_back(tensor_of(elem::u8, sizes, ids));
    code.push_back(input(static_cast<int64_t>(inputs.size()) - 1));
    return static_cast<reg>(code.size() - 1);
  }

  reg add(operation what) {
    code.push_back(std::move(what));
    return static_cast<reg>(code.size() - 1);
  }

  /// A smooth number that depends on every element of x, which has `rows` * `classes` of them.
  void end_with(reg x, uint32_t rows, uint32_t classes, std::mt19937& random) {
    auto targets = add_ids({rows}, classes, random);
    auto flat = add(reshape(x, {rows, classes}));
    add(cross_entropy(flat, targets));
  }
};

struct outcome {
  double loss = 0;
  values gradients;
};

/// Runs the example on the reference backend, with the gradients of all its parameters.
outcome evaluate(const example& what) {
  auto typed = check(what.code, what.where);
  EXPECT_TRUE(typed) << typed.error().message;
  if (!typed) return {};
  auto loss = static_cast<reg>(what.code.size() - 1);
  plan_request wanted{.scalars = {loss}, .loss = loss};
  for (auto& [name, contents] : what.params) wanted.differentiate.push_back(name);
  auto full = differentiate(std::move(*typed), loss, wanted.differentiate);
  EXPECT_TRUE(full) << full.error().message;
  for (auto r : full->gradients)
    if (r != no_register) wanted.results.push_back(r);
  auto ready = make_plan(*full, wanted);
  fault why;
  auto device = make_reference_backend();
  auto run = device->prepare(ready, why);
  std::vector<void*> addresses;
  for (auto& p : ready.parameters)
    addresses.push_back(const_cast<double*>(what.params.at(p.name).data()));
  run_results results;
  auto failed = run->run({.inputs = what.inputs, .parameters = addresses}, results);
  EXPECT_FALSE(failed) << failed->what;
  outcome out{results.scalars.at(0), {}};
  size_t next = 0;
  for (size_t i = 0; i < full->gradients.size(); ++i) {
    if (full->gradients[i] == no_register) continue;
    auto& gradient = out.gradients[wanted.differentiate[i]];
    gradient = numbers({results.tensors.at(next++), elem::f64, {}});
    EXPECT_EQ(gradient.size(), what.params.at(wanted.differentiate[i]).size());
  }
  return out;
}

/// Central differences; good to about 1e-9 for numbers near one.
void expect_numeric_gradient(example what, const std::string& about) {
  SCOPED_TRACE(about);
  auto got = evaluate(what);
  constexpr double step = 1e-5;
  for (auto& [name, contents] : what.params)
    for (size_t i = 0; i < contents.size(); ++i) {
      auto old = contents[i];
      contents[i] = old + step;
      auto above = evaluate(what).loss;
      contents[i] = old - step;
      auto below = evaluate(what).loss;
      contents[i] = old;
      auto numeric = (above - below) / (2 * step);
      auto symbolic = got.gradients.contains(name) ? got.gradients.at(name).at(i) : 0;
      EXPECT_NEAR(symbolic, numeric, 1e-7 + 1e-6 * std::abs(numeric)) << name << "[" << i << "]";
    }
}

uint32_t size_from(std::mt19937& random) {
  constexpr uint32_t sizes[] = {1, 1, 2, 3, 4};
  return sizes[random() % std::size(sizes)];
}

/// For each public row an example of any shape that depends on it.
const std::map<std::string_view, std::function<example(std::mt19937&)>> examples = {
  {"input",
   [](std::mt19937& random) {
     // Its gradient is nobody's; what follows from it has one.
     example e;
     auto n = size_from(random);
     e.add_param("p", {1, n}, random);
     e.end_with(e.add(param("p")), 1, n, random);
     return e;
   }},
  {"param",
   [](std::mt19937& random) {
     // Read in two places.
     example e;
     auto n = size_from(random);
     e.add_param("p", {n, n}, random);
     auto p = e.add(param("p"));
     e.end_with(e.add(linear(p, e.add(param("p")))), n, n, random);
     return e;
   }},
  {"narrow",
   [](std::mt19937& random) {
     example e;
     shape dims{size_from(random), size_from(random), size_from(random)};
     e.add_param("p", dims, random);
     auto dim = random() % 3;
     auto start = static_cast<int64_t>(random() % static_cast<uint64_t>(dims[dim]));
     dims[dim] = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(dims[dim] - start));
     auto x = e.add(narrow(e.add(param("p")), static_cast<int64_t>(dim), start, dims[dim]));
     e.end_with(x, static_cast<uint32_t>(dims[0]), static_cast<uint32_t>(dims[1] * dims[2]),
                random);
     return e;
   }},
  {"reshape",
   [](std::mt19937& random) {
     example e;
     auto a = size_from(random), b = size_from(random);
     e.add_param("p", {a, b, 2}, random);
     auto x = e.add(reshape(e.add(param("p")), {2 * a, UINT32_MAX, 1}));
     e.end_with(x, b, 2 * a, random);
     return e;
   }},
  {"embedding",
   [](std::mt19937& random) {
     example e;
     auto rows = size_from(random), columns = size_from(random), n = size_from(random);
     e.add_param("p", {rows, columns}, random);
     auto ids = e.add_ids({n, 2}, rows, random);
     e.end_with(e.add(embedding(e.add(param("p")), ids)), n, 2 * columns, random);
     return e;
   }},
  {"linear",
   [](std::mt19937& random) {
     example e;
     auto n = size_from(random), in = size_from(random), out = size_from(random);
     e.add_param("x", {n, 2, in}, random);
     e.add_param("w", {out, in}, random);
     e.add_param("b", {out}, random);
     auto x = e.add(param("x")), w = e.add(param("w"));
     auto b = random() % 2 ? e.add(param("b")) : no_register;
     e.end_with(e.add(linear(x, w, b)), 2 * n, out, random);
     return e;
   }},
  {"cross_entropy",
   [](std::mt19937& random) {
     // The first loss is not the last, so that its gradient is scaled.
     example e;
     auto n = size_from(random), classes = size_from(random);
     e.add_param("p", {n, classes}, random);
     e.add_param("w", {3, 1}, random);
     auto targets = e.add_ids({n}, classes, random);
     auto loss = e.add(cross_entropy(e.add(param("p")), targets));
     auto row = e.add(reshape(loss, {1, 1}));
     e.end_with(e.add(linear(row, e.add(param("w")))), 1, 3, random);
     return e;
   }},
};

TEST(gradient, of_the_page_agrees_with_finite_differences) {
  for (auto& [name, make] : examples)
    for (uint32_t seed = 0; seed < 25; ++seed) {
      std::mt19937 random(seed);
      expect_numeric_gradient(make(random), fmt::format("{} seed {}", name, seed));
    }
}

TEST(gradient, no_rows_give_zero_gradients) {
  std::mt19937 random(1);
  example e;
  e.add_param("x", {0, 3}, random);
  e.add_param("w", {2, 3}, random);
  e.end_with(e.add(linear(e.add(param("x")), e.add(param("w")))), 0, 2, random);
  auto got = evaluate(e);
  EXPECT_TRUE(std::isnan(got.loss)); // the mean of nothing, as in PyTorch
  EXPECT_EQ(got.gradients.at("w"), std::vector<double>(6, 0.0));
  EXPECT_TRUE(got.gradients.at("x").empty());
}

TEST(gradient, of_a_parameter_that_is_the_loss_is_one) {
  example e;
  std::mt19937 random(1);
  e.add_param("p", {1, 1}, random);
  e.add(param("p"));
  EXPECT_EQ(evaluate(e).gradients.at("p"), std::vector<double>{1.0});
}

TEST(gradient, a_parameter_the_loss_does_not_reach_has_none) {
  example e;
  std::mt19937 random(1);
  e.add_param("p", {1, 2}, random);
  e.add_param("q", {1, 2}, random);
  e.add(param("q"));
  e.end_with(e.add(param("p")), 1, 2, random);
  auto got = evaluate(e);
  EXPECT_TRUE(got.gradients.contains("p"));
  EXPECT_FALSE(got.gradients.contains("q"));
}

// d/dz of -log softmax(z)[t] is softmax(z) - onehot(t): z = (0, ln 3), t = 0 gives 1/4 - 1, 3/4.
TEST(gradient, cross_entropy_is_softmax_minus_one_hot) {
  example e;
  e.params["p"] = {0, std::log(3.0)};
  e.where.parameters.emplace("p", register_type{dtype::f64, elem::f64, {1, 2}, {}});
  e.where.inputs.push_back({elem::i64, {1}});
  e.inputs.push_back(tensor_of<int64_t>(elem::i64, {1}, {0}));
  e.code = {param("p"), input(0), cross_entropy(0, 1)};
  auto got = evaluate(e);
  EXPECT_DOUBLE_EQ(got.loss, std::log(4.0));
  EXPECT_DOUBLE_EQ(got.gradients.at("p")[0], -0.75);
  EXPECT_DOUBLE_EQ(got.gradients.at("p")[1], 0.75);
}

/// The gradient of the sum of squares of the gradient of what `last` makes of the parameter p.
result<differentiated> differentiated_twice(shape dims, operation last) {
  environment where;
  where.parameters.emplace("p", register_type{dtype::f64, elem::f64, dims, {}});
  auto typed = check({param("p"), std::move(last), {op::square, {1}, {}}, {op::sum, {2}, {{}, {}}}},
                     std::move(where));
  EXPECT_TRUE(typed) << typed.error().message;
  auto once = differentiate(std::move(*typed), 3, {"p"});
  EXPECT_TRUE(once) << once.error().message;
  auto squares = append(once->code, {op::square, {once->gradients[0]}, {}}, 0);
  auto again = append(once->code, {op::sum, {*squares}, {{}, {}}}, 0);
  EXPECT_TRUE(again) << again.error().message;
  return differentiate(std::move(once->code), *again, {"p"});
}

// Silence would be a wrong number: what has no rule on the way is not constant.
TEST(gradient, of_a_gradient_is_there_or_refused) {
  EXPECT_TRUE(differentiated_twice({2, 3}, {op::tanh, {0}, {}}));
  using sizes = std::vector<uint32_t>;
  auto pooled = differentiated_twice({1, 1, 4, 4}, {op::max_pool, {0}, {sizes{2, 2}, {}, {}}});
  ASSERT_FALSE(pooled);
  EXPECT_EQ(pooled.error().code, device_errc::op_unsupported);
  EXPECT_NE(pooled.error().message.find("max_pool_backward"), std::string::npos)
    << pooled.error().message;
}

} // namespace
} // namespace moxzi::device
