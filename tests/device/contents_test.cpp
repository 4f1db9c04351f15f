#include "device/contents.hpp"

#include <gtest/gtest.h>

#include "device/backend.hpp"
#include "device/errors.hpp"
#include "tests/device/support.hpp"

// Reading, writing, forgetting, renaming and listing.

namespace moxzi::device {
namespace {

using namespace testing;

param_spec vector_of(std::string name, std::vector<float> values) {
  auto size = static_cast<uint32_t>(values.size());
  return {.name = std::move(name),
          .dims = {size},
          .init = init_data{tensor_of(elem::f32, {size}, values)}};
}

/// Parameters "a" [3], "b" [2, 2] of f64 and "f", frozen, and an optimizer "o" over the first two.
struct filled_space {
  device_core core;

  explicit filled_space(core_options options = {}) : core(reference_core(options)) {
    auto frozen = vector_of("f", {9});
    frozen.frozen = true;
    EXPECT_TRUE(core.define_params(
      "x", {vector_of("a", {1, 2, 3}),
            {.name = "b",
             .dims = {2, 2},
             .init = init_data{tensor_of<double>(elem::f64, {2, 2}, {0.1, 0.2, 0.3, 0.4})},
             .type = dtype::f64},
            frozen}));
    EXPECT_TRUE(core.define_optimizer("x", {.name = "o",
                                            .params = {"a", "b"},
                                            .lr = 0.5,
                                            .beta1 = 0.9,
                                            .kind = optimizer_kind::sgd,
                                            .no_decay = {"b"}}));
  }
  std::vector<double> now(const std::string& name) {
    auto read = core.read("x", {{name}, {}, {}});
    EXPECT_TRUE(read) << read.error().message;
    return read ? numbers(read->at(0)) : std::vector<double>{};
  }
  /// All that can be seen.
  std::pair<space_listing, std::vector<std::vector<double>>> picture() {
    auto listing = core.list("x").value();
    std::vector<std::vector<double>> contents;
    for (auto& entry : listing.params) contents.push_back(now(entry.name));
    return {listing, contents};
  }
};

template <class Result>
std::string refusal(const Result& what) {
  return what ? "accepted" : what.error().message;
}

using doubles = std::vector<double>;

// -- reading -------------------------------------------------------------------

TEST(reading, gives_what_is_there_in_the_order_of_the_names) {
  filled_space w;
  auto read = w.core.read("x", {{"b", "a"}, {}, {}});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ((*read)[0], tensor_of<double>(elem::f64, {2, 2}, {0.1, 0.2, 0.3, 0.4}));
  EXPECT_EQ((*read)[1], tensor_of<float>(elem::f32, {3}, {1, 2, 3}));
  EXPECT_TRUE(w.core.read("x", {}).value().empty());
}

TEST(reading, takes_a_part_of_a_single_one) {
  filled_space w;
  auto part = [&w](std::optional<uint64_t> start, std::optional<uint64_t> len) {
    return w.core.read("x", {{"b"}, start, len}).value().at(0);
  };
  EXPECT_EQ(part(1, 2), tensor_of<double>(elem::f64, {2}, {0.2, 0.3}));
  EXPECT_EQ(part(3, {}), tensor_of<double>(elem::f64, {1}, {0.4}));
  EXPECT_EQ(part({}, 1), tensor_of<double>(elem::f64, {1}, {0.1}));
  EXPECT_EQ(part(4, 0), tensor_of<double>(elem::f64, {0}, {}));
}

TEST(reading, refuses_what_is_not_there) {
  filled_space w;
  EXPECT_EQ(refusal(w.core.read("x", {{"a", "bb"}, {}, {}})),
            "MXD020: names[1]: no parameter \"bb\"; did you mean 'b'?");
  EXPECT_EQ(refusal(w.core.read("y", {{"a"}, {}, {}})), "MXD020: names[0]: no parameter \"a\"");
  EXPECT_EQ(refusal(w.core.read("x", {{"a", "b"}, 1, {}})),
            "MXD032: names: start and len are for one name, not for 2");
  EXPECT_EQ(refusal(w.core.read("x", {{"a"}, 2, 2})),
            "MXD013: names[0]: 2 elements from 2 on; [3] has 3");
  EXPECT_EQ(refusal(w.core.read("x", {{"a"}, UINT64_MAX, 1})),
            "MXD013: names[0]: 1 elements from 18446744073709551615 on; [3] has 3");
}

TEST(reading, gives_two_mebibytes_at_most) {
  auto core = reference_core();
  ASSERT_TRUE(core.define_params(
    "x", {{.name = "w", .dims = {1024, 513}, .init = init_constant{1}}, vector_of("v", {1})}));
  EXPECT_EQ(refusal(core.read("x", {{"v", "w"}, {}, {}})),
            "MXD062: names[1]: the answer would have 2101252 bytes with \"w\", f32 [1024, 513]; at "
            "most 2097152: read it in parts with start and len");
  EXPECT_EQ(core.read("x", {{"w"}, 1024, {}}).value().at(0).data.size(), 2097152u);
}

// -- writing -------------------------------------------------------------------

TEST(writing, replaces_contents_or_a_part_of_them) {
  filled_space w;
  ASSERT_TRUE(w.core.write("x", {{"a", tensor_of<float>(elem::f32, {3}, {7, 8, 9}), {}},
                                 {"b", tensor_of<double>(elem::f64, {2}, {5, 6}), 1},
                                 {"a", tensor_of<float>(elem::f32, {1, 1}, {0}), 2}}));
  EXPECT_EQ(w.now("a"), (doubles{7, 8, 0}));
  EXPECT_EQ(w.now("b"), (doubles{0.1, 5, 6, 0.4}));
  EXPECT_TRUE(w.core.write("x", {{"f", tensor_of<float>(elem::f32, {1}, {3}), {}}}));
  EXPECT_EQ(w.now("f"), doubles{3}); // frozen is for training
}

// 1.0 and -2.0 as binary16; 0.1 as f64 is rounded once.
TEST(writing, converts_floats_of_other_widths) {
  filled_space w;
  ASSERT_TRUE(w.core.write("x", {{"b", tensor_of<uint16_t>(elem::f16, {2}, {0x3c00, 0xc000}), 0},
                                 {"a", tensor_of<double>(elem::f64, {3}, {0.1, 1, 2}), {}}}));
  EXPECT_EQ(w.now("b"), (doubles{1, -2, 0.3, 0.4}));
  EXPECT_EQ(w.now("a"), (doubles{0.1f, 1, 2}));
}

TEST(writing, is_all_or_nothing) {
  filled_space w;
  auto before = w.picture();
  auto good = write_entry{"a", tensor_of<float>(elem::f32, {3}, {7, 8, 9}), {}};
  auto refuse = [&](write_entry bad) {
    auto why = refusal(w.core.write("x", {good, std::move(bad)}));
    EXPECT_EQ(w.picture(), before);
    return why;
  };
  EXPECT_EQ(refuse({"unlike", good.contents, {}}),
            "MXD020: tensors[1] \"unlike\": no parameter \"unlike\"");
  EXPECT_EQ(refuse({"b", good.contents, {}}),
            "MXD011: tensors[1] \"b\": [3] does not fit the parameter's [2, 2]");
  EXPECT_EQ(refuse({"b", good.contents, 2}),
            "MXD013: tensors[1] \"b\": 3 elements from 2 on; [2, 2] has 4");
  EXPECT_EQ(refuse({"a", tensor_of<int32_t>(elem::i32, {3}, {1, 2, 3}), {}}),
            "MXD012: tensors[1] \"a\": data is i32; floats wanted");
  EXPECT_EQ(refuse({"a", {"1234567", elem::f32, {3}}, {}}),
            "MXD030: tensors[1] \"a\": 7 bytes for f32 [3]; 12 wanted");
  EXPECT_EQ(refuse({"a", {"", elem::f32, std::vector<uint32_t>(9, 1)}, {}}),
            "MXD011: tensors[1] \"a\": shape [1, 1, 1, 1, 1, 1, 1, 1, 1] has 9 dimensions; at most "
            "8");
}

/// Fails the n-th write and every later one but those that put something back.
class failing_backend final : public backend {
public:
  explicit failing_backend(int good) : body_(make_reference_backend()), good_(good) {
    // nop
  }
  const backend_info& info() const noexcept override {
    return body_->info();
  }
  bool supports(op id) const noexcept override {
    return body_->supports(id);
  }
  buffer_ptr allocate(uint64_t bytes, fault& why) override {
    return body_->allocate(bytes, why);
  }
  std::optional<fault> write(buffer& to, uint64_t offset, byte_view from) override {
    if (good_-- == 0) return fault{device_errc::device_failed, "the cable is out"};
    return body_->write(to, offset, from);
  }
  std::optional<fault> read(const buffer& from, uint64_t offset, uint64_t bytes,
                            byte_string& to) override {
    return body_->read(from, offset, bytes, to);
  }
  std::unique_ptr<executable> prepare(const plan& what, fault& why) override {
    return body_->prepare(what, why);
  }

private:
  std::unique_ptr<backend> body_;
  int good_;
};

TEST(writing, puts_back_what_it_wrote_when_the_device_fails) {
  device_core core(std::make_unique<failing_backend>(3), {});
  ASSERT_TRUE(core.define_params("x", {vector_of("a", {1, 2}), vector_of("b", {3})}));
  EXPECT_EQ(refusal(core.write("x", {{"a", tensor_of<float>(elem::f32, {2}, {7, 8}), {}},
                                     {"b", tensor_of<float>(elem::f32, {1}, {9}), {}}})),
            "MXD080: tensors[1] \"b\": the cable is out");
  auto read = core.read("x", {{"a", "b"}, {}, {}}).value();
  EXPECT_EQ(numbers(read[0]), (doubles{1, 2}));
  EXPECT_EQ(numbers(read[1]), doubles{3});
}

TEST(writing, leaves_optimizers_what_they_remember) {
  filled_space w;
  run_request step{.code = shared({param("a"), narrow(0, 0, 0, 1)}),
                   .train = train_spec{.loss = 1, .optimizer = "o"}};
  ASSERT_TRUE(w.core.run("x", step)); // momentum of 1
  ASSERT_TRUE(w.core.write("x", {{"a", tensor_of<float>(elem::f32, {3}, {0, 0, 0}), {}}}));
  ASSERT_TRUE(w.core.run("x", step));
  EXPECT_NEAR(w.now("a")[0], -0.5 * 1.9, 1e-6);
}

// -- stored values -------------------------------------------------------------

TEST(stored_values, are_read_and_written_like_parameters) {
  filled_space w;
  const operation keep{op::store, {0}, {std::string("v")}};
  ASSERT_TRUE(w.core.run("x", {.inputs = {tensor_of<float>(elem::f32, {3}, {4, 5, 6})},
                               .code = shared({input(0), keep})}));
  EXPECT_EQ(w.now("v"), (doubles{4, 5, 6}));
  ASSERT_TRUE(w.core.write("x", {{"v", tensor_of<double>(elem::f64, {1}, {7}), 1},
                                 {"a", tensor_of<float>(elem::f32, {1}, {0}), 0}}));
  EXPECT_EQ(w.now("v"), (doubles{4, 7, 6}));
  EXPECT_EQ(w.now("a"), (doubles{0, 2, 3}));
  ASSERT_TRUE(w.core.run("x", {.inputs = {tensor_of<uint8_t>(elem::u8, {2}, {8, 9})},
                               .code = shared({input(0), keep})}));
  auto bytes = w.core.read("x", {{"v"}, 1, {}});
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(bytes->at(0).data.view().back(), 9);
  auto why = refusal(w.core.write("x", {{"v", tensor_of<float>(elem::f32, {1}, {0}), 0}}));
  EXPECT_TRUE(why.starts_with("MXD012: tensors[0] \"v\": the stored value is ")) << why;
  ASSERT_TRUE(w.core.remove("x", {.values = {"v"}}));
  EXPECT_EQ(refusal(w.core.read("x", {{"v"}, {}, {}})).substr(0, 20), "MXD020: names[0]: no");
}

// -- forgetting ----------------------------------------------------------------

TEST(forgetting, takes_a_parameter_out_of_its_optimizers) {
  filled_space w;
  auto bytes = w.core.memory_bytes("x");
  ASSERT_TRUE(w.core.remove("x", {.params = {"b"}}));
  EXPECT_EQ(w.core.memory_bytes("x"), bytes - 2 * 4 * 8); // and its momentum
  EXPECT_EQ(w.core.memory_bytes(), w.core.memory_bytes("x"));
  auto listing = w.core.list("x").value();
  ASSERT_EQ(listing.optimizers.size(), 1u);
  EXPECT_EQ(listing.optimizers[0].params, std::vector<std::string>{"a"});
  EXPECT_TRUE(w.core.run("x", {.code = shared({param("a"), narrow(0, 0, 0, 1)}),
                               .train = train_spec{.loss = 1, .optimizer = "o"}}));
  ASSERT_TRUE(w.core.remove("x", {.params = {"a"}}));
  EXPECT_TRUE(w.core.list("x").value().optimizers.empty()); // nothing is left to step
  EXPECT_EQ(w.core.memory_bytes("x"), 4u);
}

TEST(forgetting, is_all_or_nothing) {
  filled_space w;
  auto before = w.picture();
  auto refuse = [&](delete_request what) {
    auto why = refusal(w.core.remove("x", what));
    EXPECT_EQ(w.picture(), before);
    return why;
  };
  EXPECT_EQ(refuse({.params = {"a", "unlike"}}), "MXD020: params[1]: no parameter \"unlike\"");
  EXPECT_EQ(refuse({.params = {"a"}, .optimizers = {"unlike"}}),
            "MXD021: optimizers[0]: no optimizer \"unlike\"");
  EXPECT_EQ(refuse({.params = {"a"}, .values = {"v"}}), "MXD022: values[0]: no stored value \"v\"");
  EXPECT_EQ(refuse({.params = {"unlike"}, .everything = true}),
            "MXD020: params[0]: no parameter \"unlike\"");
}

TEST(forgetting, everything_leaves_nothing) {
  filled_space w;
  ASSERT_TRUE(w.core.define_params("y", {vector_of("a", {5})}));
  ASSERT_TRUE(w.core.remove("x", {.everything = true}));
  EXPECT_EQ(w.core.list("x").value(), space_listing{});
  EXPECT_EQ(w.core.memory_bytes("x"), 0u);
  EXPECT_EQ(w.core.memory_bytes(), 4u);
  EXPECT_TRUE(w.core.remove("x", {.everything = true}));
}

TEST(forgetting, of_an_optimizer_leaves_its_parameters) {
  filled_space w;
  ASSERT_TRUE(w.core.remove("x", {.optimizers = {"o"}}));
  EXPECT_EQ(w.now("a"), (doubles{1, 2, 3}));
  EXPECT_EQ(w.core.memory_bytes("x"), 12u + 32 + 4);
}

// -- renaming ------------------------------------------------------------------

TEST(renaming, optimizers_go_on_with_the_new_names) {
  filled_space w;
  ASSERT_TRUE(w.core.rename("x", {{"a", "b"}, {"b", "a"}, {"f", "g"}}));
  EXPECT_EQ(w.now("b"), (doubles{1, 2, 3}));
  EXPECT_EQ(w.now("a"), (doubles{0.1, 0.2, 0.3, 0.4}));
  EXPECT_EQ(w.now("g"), doubles{9});
  EXPECT_EQ(w.core.list("x").value().optimizers[0].params, (std::vector<std::string>{"b", "a"}));
  ASSERT_TRUE(w.core.run("x", {.code = shared({param("b"), narrow(0, 0, 0, 1)}),
                               .train = train_spec{.loss = 1, .optimizer = "o"}}));
  EXPECT_EQ(w.now("b"), (doubles{0.5, 2, 3}));
  EXPECT_TRUE(w.core.rename("x", {{"a", "a"}}));
}

TEST(renaming, is_all_or_nothing) {
  filled_space w;
  auto before = w.picture();
  auto refuse = [&](std::vector<rename_entry> what) {
    auto why = refusal(w.core.rename("x", what));
    EXPECT_EQ(w.picture(), before);
    return why;
  };
  EXPECT_EQ(refuse({{"a", "c"}, {"unlike", "e"}}), "MXD020: renames[1]: no parameter \"unlike\"");
  EXPECT_EQ(refuse({{"a", "b"}}), "MXD023: renames[0]: there is a parameter \"b\" already");
  EXPECT_EQ(refuse({{"a", "c"}, {"b", "c"}}), "MXD023: renames[1]: \"c\" would be the name of two");
  EXPECT_EQ(refuse({{"a", "c"}, {"a", "d"}}), "MXD023: renames[1]: \"a\" is renamed twice");
  EXPECT_EQ(refuse({{"a", ""}}),
            "MXD032: renames[0]: a name of 0 bytes; 1 to 128 bytes of UTF-8 wanted");
}

// -- listing -------------------------------------------------------------------

TEST(listing, says_what_there_is) {
  filled_space w;
  EXPECT_EQ(w.core.list("y").value(), space_listing{});
  space_listing wanted{.params = {{"a", {3}, dtype::f32, 12},
                                  {"b", {2, 2}, dtype::f64, 32},
                                  {"f", {1}, dtype::f32, 4}},
                       .optimizers = {{"o", optimizer_kind::sgd, {"a", "b"}, 0, 0.5, 44}}};
  EXPECT_EQ(w.core.list("x").value(), wanted);
  optimizer_spec falling{.name = "o",
                         .params = {"a"},
                         .lr = 1,
                         .kind = optimizer_kind::sgd,
                         .schedule = schedule_step{1, 0.5}};
  ASSERT_TRUE(w.core.define_optimizer("x", falling));
  ASSERT_TRUE(w.core.run("x", {.code = shared({param("a"), narrow(0, 0, 0, 1)}),
                               .train = train_spec{.loss = 1, .optimizer = "o"}}));
  wanted.optimizers = {{"o", optimizer_kind::sgd, {"a"}, 1, 0.5, 0}};
  EXPECT_EQ(w.core.list("x").value(), wanted);
}

TEST(listing, describes_the_device) {
  filled_space w({.memory_bytes = 1 << 20, .owner_bytes = 1 << 10});
  auto is = w.core.describe("x");
  EXPECT_EQ(is.kind, "reference");
  EXPECT_EQ(is.memory_total, 1u << 20);
  EXPECT_EQ(is.actor_quota, 1u << 10);
  EXPECT_EQ(is.actor_bytes, 12u + 32 + 4 + 12 + 32);
  EXPECT_EQ(is.memory_used, is.actor_bytes);
  EXPECT_EQ(is.dtypes, (std::vector<dtype>{dtype::f32, dtype::f64}));
  EXPECT_EQ(is.max_ops, 10'000u);
  EXPECT_EQ(is.max_rank, 8u);
  EXPECT_EQ(is.max_tensor_bytes, ((uint64_t{1} << 31) - 1) * 8);
  EXPECT_EQ(w.core.describe("y").actor_bytes, 0u);
  EXPECT_FALSE(filled_space().core.describe("x").memory_total);
}

} // namespace
} // namespace moxzi::device
