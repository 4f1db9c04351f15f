#include <thread>

#include "device/collectives/shared_memory.hpp"
#include "tests/device/row_walk.hpp"

// Each axis that a row says it may be split along, on three logical devices: three threads of this
// process, each with a device of its own, that join their parts over shared memory.

namespace moxzi::device {
namespace {

using namespace testing;

constexpr uint32_t devices = 3;

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
                             int64_t from, int64_t len) {
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
  return values_of(run_program(on, part->code, {part->result}, part->operands).at(0));
}

/// How an axis is dealt out: where each device's part starts, and where the last one ends.
std::array<int64_t, devices + 1> dealt_out(int64_t size, std::mt19937& random) {
  auto first = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(size - 2));
  auto second =
    first + 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(size - first - 1));
  return {0, first, second, size};
}

/// Parts of a result that lie one after the other, put together along a dimension.
std::vector<double> concatenated(const std::vector<double>& parts, const shape& whole, size_t dim,
                                 const std::array<int64_t, devices + 1>& starts) {
  int64_t outer = 1, inner = 1, size = starts.back();
  for (size_t i = 0; i < whole.rank(); ++i) (i < dim ? outer : inner) *= whole[i];
  // A dimension that was merged of several is as many times as long as the axis.
  auto each = size == 0 ? 0 : inner / size;
  std::vector<double> out;
  for (int64_t o = 0; o < outer; ++o)
    for (size_t rank = 0; rank < devices; ++rank) {
      auto len = (starts[rank + 1] - starts[rank]) * each;
      auto from = starts[rank] * each * outer + o * len;
      out.insert(out.end(), parts.begin() + from, parts.begin() + from + len);
    }
  return out;
}

/// What one device makes of its part, joined with the others': the whole result.
std::vector<double> as_device(collectives& mine, backend& on, const row_call& call,
                              const split_axis& axis,
                              const std::array<int64_t, devices + 1>& starts) {
  auto& whole = call.code.types[call.result].dims;
  auto from = starts[mine.rank()], len = starts[mine.rank() + 1] - from;
  auto part = run_part(on, call, axis, from, len);
  std::optional<fault> failed;
  std::vector<double> out;
  if (axis.how == join::none) {
    std::vector<uint64_t> bytes;
    auto row = static_cast<uint64_t>(whole.elements() / starts.back()) * sizeof(double);
    for (size_t i = 0; i < devices; ++i)
      bytes.push_back(static_cast<uint64_t>(starts[i + 1] - starts[i]) * row);
    EXPECT_EQ(part.size() * sizeof(double), bytes[mine.rank()]) << call.text();
    if (part.size() * sizeof(double) != bytes[mine.rank()]) mine.abort("a part of another size");
    std::vector<double> parts(static_cast<size_t>(whole.elements()));
    failed = mine.all_gather(part.data(), bytes, parts.data(), 1);
    out = concatenated(parts, whole, static_cast<size_t>(axis.result_dim), starts);
  } else {
    if (axis.how == join::mean)
      for (auto& x : part) x *= static_cast<double>(len) / static_cast<double>(starts.back());
    failed = mine.all_reduce(part.data(), part.size(), elem::f64, 1);
    out = part;
  }
  EXPECT_FALSE(failed) << failed->what;
  return out;
}

/// The size of the axis; 0 if no operand has it.
int64_t size_of_axis(const split_axis& axis, const std::vector<const register_type*>& operands) {
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i] && axis.operand_dims[i] >= 0)
      return operands[i]->dims[static_cast<size_t>(axis.operand_dims[i])];
  return 0;
}

TEST(rows, may_be_split_as_they_say) {
  auto group = shared_group::create(devices);
  ASSERT_TRUE(group);
  std::array<std::unique_ptr<backend>, devices> each;
  for (auto& on : each) on = make_reference_backend();
  size_t seen = 0;
  for_each_call(20, [&](const row_call& call, std::mt19937& random) {
    auto& type = call.code.types[call.result];
    // What it is in a program that doesn't train.
    auto split = find_row(call.code.code[call.result].id)->split;
    if (!split || !(type.type == dtype::f64 || !is_float(type.type))) return;
    std::vector<const register_type*> operands;
    for (auto& operand : call.operands)
      operands.push_back(operand.at == no_register ? nullptr : &call.code.types[operand.at]);
    auto whole = values_of(run_program(*each[0], call.code, {call.result}, call.operands).at(0));
    for (auto& axis : split({operands, &type, call.what.attributes})) {
      ASSERT_EQ(axis.operand_dims.size(), operands.size());
      ASSERT_EQ(axis.result_dim < 0, axis.how != join::none);
      auto size = size_of_axis(axis, operands);
      if (size < static_cast<int64_t>(devices)) continue;
      ++seen;
      auto starts = dealt_out(size, random);
      std::array<std::vector<double>, devices> joined;
      {
        std::vector<std::jthread> threads;
        for (uint32_t rank = 0; rank < devices; ++rank)
          threads.emplace_back([&, rank] {
            joined[rank] = as_device(*group->member(rank), *each[rank], call, axis, starts);
          });
      }
      for (auto& one : joined)
        expect_near(one, whole, 1e-11 * call.how->tolerance,
                    fmt::format("{} split along operand dims {}, result dim {}", call.text(),
                                fmt::join(axis.operand_dims, " "), axis.result_dim));
      if (::testing::Test::HasFailure()) return;
    }
  });
  EXPECT_GT(seen, 1000u);
}

} // namespace
} // namespace moxzi::device
