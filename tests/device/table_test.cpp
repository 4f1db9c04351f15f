#include "device/ops/table.hpp"

#include <gtest/gtest.h>

#include <set>

#include "device/gradient.hpp"
#include "device/plan.hpp"
#include "tests/device/support.hpp"

namespace moxzi::device {
namespace {

using namespace testing;

TEST(table, every_row_says_what_it_is) {
  std::set<std::string_view> names;
  for (auto& entry : table()) {
    SCOPED_TRACE(entry.name);
    EXPECT_TRUE(names.insert(entry.name).second);
    EXPECT_FALSE(entry.sentence.empty());
    EXPECT_FALSE(entry.reference.empty());
    EXPECT_TRUE(entry.infer);
    EXPECT_NE(entry.gradient == nullptr, entry.no_gradient.empty());
    EXPECT_EQ(find_row(entry.id), &entry);
    EXPECT_EQ(find_row(entry.name), entry.internal() ? nullptr : &entry);
    EXPECT_TRUE(entry.form != field_form::bare || entry.fields.size() == 1);
    bool rest = false; // a list of registers takes all operands that are left
    for (auto& f : entry.fields) {
      EXPECT_FALSE(rest && is_register(f.kind));
      rest = rest || f.kind == field_kind::regs;
    }
  }
}

// They are in records and plans for good.
TEST(table, numbers_of_operations_are_fixed) {
  EXPECT_EQ(find_row("input")->id, op{0});
  EXPECT_EQ(find_row("param")->id, op{1});
  EXPECT_EQ(find_row("narrow")->id, op{8});
  EXPECT_EQ(find_row("reshape")->id, op{11});
  EXPECT_EQ(find_row("embedding")->id, op{29});
  EXPECT_EQ(find_row("linear")->id, op{87});
  EXPECT_EQ(find_row("cross_entropy")->id, op{128});
}

/// The page's program with its gradient.
differentiated letters() {
  environment where;
  where.inputs = {{elem::u8, {1, 65}}};
  for (auto name : {"embed", "head"})
    where.parameters.emplace(name, register_type{dtype::f32, elem::f32, {256, 16}, {}});
  auto typed = check(letters_program(64), where);
  EXPECT_TRUE(typed) << typed.error().message;
  auto full = differentiate(std::move(*typed), 9, {"embed", "head"});
  EXPECT_TRUE(full) << full.error().message;
  return *full;
}

TEST(axes, of_each_dimension_make_up_its_size) {
  auto full = letters();
  for (size_t i = 0; i < full.code.types.size(); ++i) {
    SCOPED_TRACE(place_of(i, full.code.code[i].id));
    auto& type = full.code.types[i];
    ASSERT_EQ(type.factors.size(), type.dims.rank());
    for (size_t d = 0; d < type.dims.rank(); ++d) {
      int64_t size = 1;
      for (auto& factor : type.factors[d]) size *= factor.size;
      EXPECT_EQ(size, type.dims[d]);
    }
  }
}

TEST(axes, survive_reshapes_and_products) {
  auto full = letters();
  auto axis = [&](reg r, size_t dim) { return full.code.types[r].factors[dim].at(0).axis; };
  EXPECT_EQ(axis(5, 1), axis(1, 1)); // each place of the text
  EXPECT_EQ(axis(5, 2), axis(4, 1)); // the table's columns
  EXPECT_EQ(axis(7, 2), axis(6, 0)); // the head's rows
  EXPECT_EQ(axis(8, 0), axis(1, 1)); // after [1, 64, 256] became [64, 256]
  EXPECT_EQ(axis(8, 1), axis(6, 0));
  EXPECT_EQ(full.code.types[full.gradients[1]].factors[0], full.code.types[6].factors[0]);
  // Equal sizes are not equal axes: targets are other places than those read.
  EXPECT_NE(axis(3, 0), axis(1, 1));
}

TEST(axes, merged_dimensions_keep_their_parts) {
  environment where;
  where.parameters.emplace("p", register_type{dtype::f32, elem::f32, {6, 4, 5}, {}});
  auto typed =
    check({param("p"), reshape(0, {24, 5}), reshape(1, {3, 8, 5}), reshape(0, {8, 15})}, where);
  ASSERT_TRUE(typed) << typed.error().message;
  auto& p = typed->types[0].factors;
  EXPECT_EQ(typed->types[1].factors[0], (axis_factors{p[0][0], p[1][0]}));
  EXPECT_EQ(typed->types[1].factors[1], p[2]);
  // 6 = 3 * 2: the outer part is still the same axis.
  EXPECT_EQ(typed->types[2].factors[0], (axis_factors{{p[0][0].axis, 3}}));
  EXPECT_EQ(typed->types[2].factors[1].back(), p[1][0]);
  // 8 does not divide into 6 and 4: nothing is known to be the same.
  EXPECT_NE(typed->types[3].factors[0].at(0).axis, p[0][0].axis);
}

TEST(splits, are_along_dimensions_of_one_size) {
  auto full = letters();
  size_t seen = 0;
  for (size_t i = 0; i < full.code.code.size(); ++i) {
    auto& what = full.code.code[i];
    auto how = find_row(what.id);
    if (!how->split) continue;
    SCOPED_TRACE(place_of(i, what.id));
    std::vector<const register_type*> operands;
    for (auto x : what.operands)
      operands.push_back(x == no_register ? nullptr : &full.code.types[x]);
    for (auto& axis : how->split({operands, &full.code.types[i], what.attributes})) {
      ++seen;
      ASSERT_EQ(axis.operand_dims.size(), operands.size());
      EXPECT_EQ(axis.result_dim < 0, axis.how != join::none);
      std::set<int64_t> sizes;
      if (axis.result_dim >= 0)
        sizes.insert(full.code.types[i].dims[static_cast<size_t>(axis.result_dim)]);
      for (size_t n = 0; n < operands.size(); ++n)
        if (axis.operand_dims[n] >= 0 && operands[n])
          sizes.insert(operands[n]->dims[static_cast<size_t>(axis.operand_dims[n])]);
      EXPECT_EQ(sizes.size(), 1u);
    }
  }
  EXPECT_GT(seen, 15u);
}

// 2 * rows * in * out for each of the three products; the rest is pointwise.
TEST(costs, count_the_products_arithmetic) {
  plan_request wanted{.scalars = {9}, .differentiate = {"embed", "head"}, .loss = 9};
  auto full = letters();
  auto ready = make_plan(full, wanted);
  constexpr double product = 2.0 * 64 * 16 * 256;
  EXPECT_GT(ready.total.flops, 3 * product);
  EXPECT_LT(ready.total.flops, 3 * product + 20.0 * 64 * 256);
  EXPECT_FALSE(ready.parallel);
}

} // namespace
} // namespace moxzi::device
