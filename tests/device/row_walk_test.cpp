#include "tests/device/row_walk.hpp"

// What holds for every row of the table, on the reference backend.

namespace moxzi::device {
namespace {

using namespace testing;

TEST(rows, have_everything_that_the_tests_need) {
  for (auto& how : table()) {
    SCOPED_TRACE(how.name);
    if (how.runs == row_runs::bound) continue;
    EXPECT_TRUE(how.example) << "a right call";
    EXPECT_TRUE(how.costs) << "a cost";
    EXPECT_EQ(how.runs == row_runs::view, how.look != nullptr);
    if (how.internal()) continue;
    EXPECT_FALSE(how.pytorch.empty()) << "the same by PyTorch";
    EXPECT_TRUE(how.wrong) << "a wrong call";
  }
}

TEST(rows, refuse_wrong_calls_and_types_they_do_not_take) {
  for (auto& how : table()) {
    if (how.internal() || how.runs == row_runs::bound) continue;
    SCOPED_TRACE(how.name);
    std::mt19937 random(1);
    for (size_t t = 0; t < dtype_count; ++t) {
      auto type = static_cast<dtype>(t);
      sampler samples(t + 1, type);
      auto what =
        how.takes.contains(type) ? how.wrong(samples) : wrong_sample{how.example(samples), {}};
      auto operands = operands_of(what.call, random);
      auto call = make_call(how, what.call, operands);
      ASSERT_FALSE(call) << name_of(type);
      if (how.takes.contains(type))
        EXPECT_EQ(call.error().code, what.why) << call.error().message;
      else
        EXPECT_EQ(call.error().code, device_errc::dtype_mismatch) << call.error().message;
    }
  }
}

/// The loss for contents of one operand.
double loss_of(backend& on, const call_gradient& what) {
  auto results = run_program(on, what.code.code, {what.loss}, what.operands);
  return values_of(results.at(0)).at(0);
}

// Central differences in f64, at some elements of each operand.
TEST(rows, have_the_gradients_that_differences_show) {
  auto on = make_reference_backend();
  for_each_call(20, [&](const row_call& call, std::mt19937& random) {
    if (!has_gradient(call) || call.code.types[call.result].type != dtype::f64) return;
    auto what = differentiate_call(call, random);
    ASSERT_TRUE(what) << call.text() << ": " << what.error().message;
    for (size_t n = 0; n < what->names.size(); ++n) {
      auto found = std::ranges::find(what->operands, what->names[n], &row_operand::parameter);
      if (found->contents.type != elem::f64) continue;
      byte_string data(byte_view(found->contents.data));
      auto elements = data.size() / sizeof(double);
      std::vector<double> gradient(elements);
      if (auto r = what->code.gradients[n]; r != no_register)
        gradient = values_of(run_program(*on, what->code.code, {r}, what->operands).at(0));
      ASSERT_EQ(gradient.size(), elements) << call.text();
      for (int tries = 0; tries < 3 && elements > 0; ++tries) {
        auto at = random() % elements;
        double before, h = 1e-6;
        std::memcpy(&before, data.data() + at * sizeof(double), sizeof(double));
        auto with = [&](double value) {
          std::memcpy(data.data() + at * sizeof(double), &value, sizeof(double));
          found->contents.data = data;
          return loss_of(*on, *what);
        };
        auto slope = (with(before + h) - with(before - h)) / (2 * h);
        with(before);
        ASSERT_NEAR(gradient[at], slope,
                    2e-5 * std::max(1.0, std::abs(slope)) * call.how->tolerance)
          << call.text() << " operand " << what->names[n] << " element " << at;
      }
    }
  });
}

// -- splits --------------------------------------------------------------------

/// Elements [from, from + len) of one dimension.
row_operand part_of(const row_operand& whole, int dim, int64_t from, int64_t len) {
  auto out = whole;
  auto& dims = out.contents.dims;
  size_t inner = size_of(whole.contents.type), outer = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i < static_cast<size_t>(dim)) outer *= dims[i];
    if (i > static_cast<size_t>(dim)) inner *= dims[i];
  }
  auto size = dims[static_cast<size_t>(dim)];
  byte_string data;
  for (size_t o = 0; o < outer; ++o)
    data.append(whole.contents.data.data() + (o * size + static_cast<size_t>(from)) * inner,
                static_cast<size_t>(len) * inner);
  out.contents.data = std::move(data);
  dims[static_cast<size_t>(dim)] = static_cast<uint32_t>(len);
  return out;
}

/// The call with its part of the axis; the result's elements and shape.
std::vector<double> run_part(backend& on, const row_call& call, const split_axis& axis,
                             int64_t from, int64_t len, shape& dims) {
  auto what = call.what;
  auto operands = call.operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i].at = no_register;
    if (axis.operand_dims[i] < 0 || !what.operands[i]) continue;
    operands[i] = part_of(operands[i], axis.operand_dims[i], from, len);
    what.operands[i]->dims[static_cast<size_t>(axis.operand_dims[i])] = len;
  }
  if (axis.attribute >= 0) {
    auto& value = what.attributes[static_cast<size_t>(axis.attribute)];
    if (auto list = std::get_if<std::vector<uint32_t>>(&value)) {
      auto& entry = (*list)[static_cast<size_t>(axis.entry)];
      // A dimension of several parts is split along its outermost.
      if (entry != UINT32_MAX) {
        auto dim = static_cast<size_t>(axis.operand_dims[0]);
        entry = static_cast<uint32_t>(entry / call.what.operands[0]->dims[dim] * len);
      }
    } else {
      value = len;
    }
  }
  auto part = make_call(*call.how, what, operands);
  EXPECT_TRUE(part) << call.text() << ": " << (part ? "" : part.error().message);
  if (!part) return {};
  dims = part->code.types[part->result].dims;
  return values_of(run_program(on, part->code, {part->result}, part->operands).at(0));
}

/// Two parts joined along a dimension of the result.
std::vector<double> concatenated(const std::vector<double>& a, const shape& a_dims,
                                 const std::vector<double>& b, const shape& b_dims, size_t dim) {
  size_t outer = 1, a_inner = 1, b_inner = 1;
  for (size_t i = 0; i < a_dims.rank(); ++i) {
    if (i < dim) outer *= static_cast<size_t>(a_dims[i]);
    if (i >= dim)
      a_inner *= static_cast<size_t>(a_dims[i]), b_inner *= static_cast<size_t>(b_dims[i]);
  }
  std::vector<double> out;
  for (size_t o = 0; o < outer; ++o) {
    out.insert(out.end(), a.begin() + static_cast<int64_t>(o * a_inner),
               a.begin() + static_cast<int64_t>((o + 1) * a_inner));
    out.insert(out.end(), b.begin() + static_cast<int64_t>(o * b_inner),
               b.begin() + static_cast<int64_t>((o + 1) * b_inner));
  }
  return out;
}

// Each axis that a row says it may be split along: two parts, joined as it says, are the whole.
TEST(rows, may_be_split_as_they_say) {
  auto on = make_reference_backend();
  size_t seen = 0;
  for_each_call(20, [&](const row_call& call, std::mt19937& random) {
    auto& type = call.code.types[call.result];
    if (!call.how->split || !(type.type == dtype::f64 || !is_float(type.type))) return;
    std::vector<const register_type*> operands;
    for (auto& operand : call.operands)
      operands.push_back(operand.at == no_register ? nullptr : &call.code.types[operand.at]);
    auto whole = values_of(run_program(*on, call.code, {call.result}, call.operands).at(0));
    for (auto& axis : call.how->split({operands, &type, call.what.attributes})) {
      ASSERT_EQ(axis.operand_dims.size(), operands.size());
      int64_t size = 0;
      for (size_t i = 0; i < operands.size(); ++i)
        if (operands[i] && axis.operand_dims[i] >= 0)
          size = operands[i]->dims[static_cast<size_t>(axis.operand_dims[i])];
      if (size < 2) continue;
      ++seen;
      auto first = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(size - 1));
      shape a_dims, b_dims;
      auto a = run_part(*on, call, axis, 0, first, a_dims);
      auto b = run_part(*on, call, axis, first, size - first, b_dims);
      std::vector<double> joined;
      if (axis.how == join::none) {
        ASSERT_GE(axis.result_dim, 0);
        ASSERT_EQ(a_dims.rank(), type.dims.rank()) << call.text();
        joined = concatenated(a, a_dims, b, b_dims, static_cast<size_t>(axis.result_dim));
      } else {
        auto share = static_cast<double>(first) / static_cast<double>(size);
        bool mean = axis.how == join::mean;
        ASSERT_EQ(a.size(), b.size());
        for (size_t i = 0; i < a.size(); ++i)
          joined.push_back(mean ? a[i] * share + b[i] * (1 - share) : a[i] + b[i]);
      }
      expect_near(joined, whole, 1e-11, fmt::format("{} split along {}", call.text(), first));
    }
  });
  EXPECT_GT(seen, 1000u);
}

} // namespace
} // namespace moxzi::device
