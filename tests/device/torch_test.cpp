#include <dlfcn.h>
#include <gtest/gtest.h>

#include "tests/device/row_walk.hpp"

namespace moxzi::device {
namespace {

using namespace testing;

/// The processor's plugin; builds with sanitizers have none.
class torch_plugin : public ::testing::Test {
protected:
  void SetUp() override {
    if (!std::filesystem::exists(built_programs() / "libmoxzi_torch.so"))
      GTEST_SKIP() << "this build has no libtorch";
  }

  static std::unique_ptr<backend> cpu(uint32_t threads = 1) {
    auto made = opened("cpu", threads);
    EXPECT_TRUE(made);
    return made;
  }
};

TEST_F(torch_plugin, its_kernels_agree_with_plain_loops) {
  check_rows(*cpu(), 20);
}

TEST_F(torch_plugin, its_kernels_agree_with_plain_loops_on_two_threads) {
  check_rows(*cpu(2), 5, true);
}

TEST_F(torch_plugin, large_kernels_are_split_over_threads_and_agree) {
  auto reference = make_reference_backend();
  auto two = cpu(2);
  case_maker make(3);
  for (const elem type : {elem::f32, elem::f64}) {
    std::vector<kernel_case> cases;
    case_builder backward("embedding_backward");
    const auto g = backward.input(make.floats(type, {9'000, 40}));
    const auto ids = backward.input(make.ids({9'000}, 20'000));
    cases.push_back(backward.run(op::embedding_backward, {g, ids},
                                 {backward.output(type, {20'000, 40})}, {int64_t{20'000}}, 1e-5));
    case_builder loss("cross_entropy_train");
    const auto z = loss.input(make.floats(type, {20'000, 10}));
    const auto t = loss.input(make.ids({20'000}, 10));
    const auto mean = loss.output(type, {}), dz = loss.output(type, {20'000, 10});
    cases.push_back(
      loss.run(op::cross_entropy_train, {z, t, no_tensor}, {mean, dz}, {{}, {}, {}}, 1e-6));
    case_builder bias("linear_bias_backward");
    const auto h = bias.input(make.floats(type, {100, 1'000}));
    cases.push_back(
      bias.run(op::linear_bias_backward, {h}, {bias.output(type, {1'000})}, {}, 1e-5));
    for (auto& one : cases) {
      one.what.parallel = true;
      run_results wanted, got;
      ASSERT_FALSE(run_plan(*reference, one.what, one.inputs, wanted));
      ASSERT_FALSE(run_plan(*two, one.what, one.inputs, got));
      for (size_t n = 0; n < one.what.results.size(); n++)
        expect_near(result_numbers(one.what, got, n), result_numbers(one.what, wanted, n),
                    one.tolerance, one.name);
    }
  }
}

// Larger than the blocks in which they are computed, and not multiples of anything.
TEST_F(torch_plugin, large_products_agree_with_plain_loops) {
  auto reference = make_reference_backend();
  auto two = cpu(2);
  case_maker make(4);
  std::vector<kernel_case> cases;
  const auto product = [&](op id, std::vector<uint32_t> a, std::vector<uint32_t> b,
                           const shape& out, std::vector<attribute> attributes = {}) {
    case_builder one(fmt::format("{} {}", find_row(id)->name, to_string(out)));
    std::vector<uint32_t> operands{one.input(make.floats(elem::f32, std::move(a))),
                                   one.input(make.floats(elem::f32, std::move(b)))};
    if (id == op::linear || id == op::conv || id == op::conv_transpose)
      operands.push_back(one.input(make.floats(
        elem::f32, {static_cast<uint32_t>(out[id == op::linear ? out.rank() - 1 : 1])})));
    cases.push_back(
      one.run(id, std::move(operands), {one.output(elem::f32, out)}, std::move(attributes), 1e-4));
  };
  product(op::linear, {5, 300}, {2100, 300}, {5, 2100});
  product(op::linear, {400, 300}, {37, 300}, {400, 37});
  product(op::linear_weight_backward, {300, 29}, {300, 70}, {29, 70});
  product(op::linear_input_backward, {17, 530}, {530, 45}, {17, 45});
  product(op::matmul, {3, 270, 40}, {3, 270, 50}, {3, 40, 50}, {true, {}});
  const std::vector<uint32_t> ones{1, 1}, kernel{3, 3};
  product(op::conv, {2, 40, 9, 20}, {70, 40, 3, 3}, {2, 70, 9, 20}, {{}, ones, {}, {}, {}});
  product(op::conv_transpose, {2, 33, 9, 21}, {33, 14, 3, 3}, {2, 14, 9, 21},
          {{}, ones, {}, {}, {}});
  product(op::conv_weight_backward, {2, 70, 9, 20}, {2, 40, 9, 20}, {70, 40, 3, 3},
          {{}, ones, {}, {}, {}, kernel});
  for (auto& one : cases)
    for (const bool parallel : {false, true}) {
      one.what.parallel = parallel;
      run_results wanted, got;
      ASSERT_FALSE(run_plan(*reference, one.what, one.inputs, wanted));
      ASSERT_FALSE(run_plan(*two, one.what, one.inputs, got));
      expect_near(result_numbers(one.what, got, 0), result_numbers(one.what, wanted, 0),
                  one.tolerance, one.name);
    }
}

TEST_F(torch_plugin, its_optimizers_agree_with_plain_loops) {
  check_steps(*cpu());
  check_gathering(*cpu());
}

TEST_F(torch_plugin, a_bad_index_is_named_and_changes_nothing) {
  device_core core(cpu(), {});
  check_bad_indices(core);
}

TEST_F(torch_plugin, it_learns_the_phrase_with_the_losses_of_the_reference) {
  check_letters(cpu());
}

// log_softmax of (b, b + 1, b + 2) begins with -2.4076059644 for any b.
TEST_F(torch_plugin, log_softmax_of_large_logits_keeps_its_digits) {
  for (auto base : {0.0f, 1e3f, 1e5f, 1e6f, -1e6f}) {
    device_core core(cpu(), {});
    const std::vector<float> x{base, base + 1, base + 2};
    const auto reply =
      core.run("a", {.inputs = {tensor_of(elem::f32, {1, 3}, x)},
                     .code = shared({input(0), {op::log_softmax, {0}, {int64_t{1}}}}),
                     .tensors = {1}});
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_NEAR(numbers(reply->tensors[0])[0], -2.4076059644, 5e-7) << base;
  }
}

TEST_F(torch_plugin, parameters_of_f64_train_in_f64) {
  check_f64(cpu());
}

TEST_F(torch_plugin, a_plan_on_several_threads_gives_the_same_digits_every_time) {
  const program code{input(0), param("w"), linear(0, 1), input(1), cross_entropy(2, 3)};
  case_maker make(5);
  run_request request{.inputs = {make.floats(elem::f32, {300, 400}), make.ids({300}, 250)},
                      .code = shared(code),
                      .train = train_spec{.loss = 4, .optimizer = "o", .clip = 0.01},
                      .scalars = {4}};
  const auto losses = [&request](uint32_t threads) {
    device_core core(cpu(threads), {.seed = 9});
    EXPECT_TRUE(
      core.define_params("a", {{.name = "w", .dims = {250, 400}, .init = init_normal{1}}}));
    auto optimizer = letters_optimizer();
    optimizer.name = "o";
    optimizer.params = {"w"};
    EXPECT_TRUE(core.define_optimizer("a", optimizer));
    const auto ready = core.prepare("a", request);
    EXPECT_TRUE(ready && ready->parallel() == (threads > 1));
    std::vector<double> out;
    for (int i = 0; i < 10; i++) {
      const auto reply = core.run("a", request);
      EXPECT_TRUE(reply) << reply.error().message;
      if (reply) out.push_back(reply->scalars[0]);
    }
    return out;
  };
  const auto one = losses(1), two = losses(2);
  for (int i = 0; i < 3; i++) EXPECT_EQ(two, losses(2));
  expect_near(two, one, 1e-5, "two threads");
}

TEST_F(torch_plugin, two_runs_give_the_same_digits) {
  for (const uint32_t threads : {1u, 2u}) {
    device_core one(cpu(threads), {.seed = 5}), two(cpu(threads), {.seed = 5});
    EXPECT_EQ(letters_losses(one, 50), letters_losses(two, 50));
  }
}

TEST_F(torch_plugin, losses_follow_the_reference_for_any_text_size_and_rate) {
  case_maker make(11);
  for (int round = 0; round < 12; round++) {
    const uint32_t length = 1 + make.below(40), width = 1 + make.below(24);
    std::string text;
    for (uint32_t i = 0; i <= length; i++) text.push_back(static_cast<char>(make.below(256)));
    auto params = letters_params();
    for (auto& param : params) param.dims[1] = width;
    auto optimizer = letters_optimizer();
    optimizer.lr = 0.1 / (1 + make.below(100));
    optimizer.weight_decay = make.below(2) * 0.05;
    optimizer.kind = make.below(2) ? optimizer_kind::adam : optimizer_kind::adamw;
    run_request request{.inputs = {text_tensor(text)},
                        .code = shared(letters_program(length)),
                        .train = train_spec{.loss = 9, .optimizer = "adam"},
                        .scalars = {9}};
    if (make.below(2)) request.train->clip = 0.1;
    device_core core(cpu(), {.seed = 3}), reference(make_reference_backend(), {.seed = 3});
    for (auto* one : {&core, &reference}) {
      ASSERT_TRUE(one->define_params("a", params));
      ASSERT_TRUE(one->define_optimizer("a", optimizer));
    }
    for (int step = 0; step < 20; step++) {
      const auto got = core.run("a", request), wanted = reference.run("a", request);
      ASSERT_TRUE(got) << got.error().message;
      ASSERT_TRUE(wanted);
      EXPECT_NEAR(got->scalars[0], wanted->scalars[0], 1e-5 * wanted->scalars[0])
        << "round " << round << " step " << step << " length " << length << " width " << width;
    }
  }
}

TEST_F(torch_plugin, memory_that_nobody_has_is_refused) {
  auto on = cpu();
  fault why;
  EXPECT_FALSE(on->allocate(uint64_t{1} << 50, why));
  EXPECT_EQ(why.code, device_errc::out_of_memory);
  plan huge;
  huge.arena_bytes = uint64_t{1} << 50;
  why = {};
  EXPECT_FALSE(on->prepare(huge, why));
  EXPECT_EQ(why.code, device_errc::out_of_memory);
}

TEST_F(torch_plugin, it_says_what_it_is) {
  auto on = cpu(2);
  EXPECT_EQ(on->info().kind, "cpu");
  EXPECT_EQ(on->info().threads, 2u);
  EXPECT_EQ(on->info().version, "libtorch 2.11.0");
  EXPECT_GT(on->info().memory_bytes, uint64_t{1} << 30);
  EXPECT_FALSE(on->supports(op::iterate));
  EXPECT_FALSE(on->supports(static_cast<op>(9999)));
}

TEST_F(torch_plugin, plugins_export_two_functions_of_this_version) {
  for (const auto* name : {"libmoxzi_torch.so", "libmoxzi_cuda.so"}) {
    auto* library = dlopen((built_programs() / name).c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(library) << dlerror();
    auto version =
      reinterpret_cast<plugin_version_function>(dlsym(library, "moxzi_device_plugin_version"));
    ASSERT_TRUE(version);
    EXPECT_EQ(version(), plugin_version);
    EXPECT_TRUE(dlsym(library, "moxzi_device_open"));
  }
}

TEST_F(torch_plugin, a_plugin_of_another_build_is_refused) {
  auto made = open_backend("cpu", 1, built_programs() / "other_build");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, device_errc::no_device);
  EXPECT_NE(made.error().message.find("of another build"), std::string::npos)
    << made.error().message;
}

TEST_F(torch_plugin, a_missing_gpu_is_refused_in_the_words_of_the_driver) {
  auto made = open_backend("cuda:0", 0, built_programs());
  if (made) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(made.error().code, device_errc::no_device);
  EXPECT_NE(made.error().message.find("CUDA error"), std::string::npos) << made.error().message;
}

TEST_F(torch_plugin, a_gpu_that_is_not_there_beside_others_is_refused) {
  auto made = open_backend("cuda:4000", 0, built_programs());
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("CUDA error"), std::string::npos) << made.error().message;
}

} // namespace
} // namespace moxzi::device
