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

using results = std::vector<std::vector<double>>;

/// The results of a call: the second one too, where it has one.
results results_of(backend& on, const row_call& call) {
  std::vector<reg> wanted{call.result};
  if (call.second != no_register) wanted.push_back(call.second);
  results out;
  for (auto& one : run_program(on, call.code, wanted, call.operands)) out.push_back(values_of(one));
  return out;
}

/// The results of a call with its part of the axis.
results run_part(backend& on, const row_call& call, const split_axis& axis,
                 const std::array<int64_t, devices + 1>& starts, uint32_t rank) {
  const auto from = starts[rank], len = starts[rank + 1] - from;
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
        entry = static_cast<uint32_t>(entry / starts.back() * len);
      }
    } else {
      value = len;
    }
  }
  auto part = make_call(*call.how, what, operands);
  EXPECT_TRUE(part) << call.text() << ": " << (part ? "" : part.error().message);
  if (!part) return {};
  return results_of(on, *part);
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

/// A device's part of a result, joined with the others': along a dimension, or if that is none as
/// terms of a sum.
std::vector<double> joined_over(collectives& mine, std::vector<double> part, const shape& whole,
                                int dim, const std::array<int64_t, devices + 1>& starts) {
  std::optional<fault> failed;
  if (dim < 0) {
    failed = mine.all_reduce(part.data(), part.size(), elem::f64, 1);
    EXPECT_FALSE(failed) << failed->what;
    return part;
  }
  std::vector<uint64_t> bytes;
  auto row = static_cast<uint64_t>(whole.elements() / starts.back()) * sizeof(double);
  for (size_t i = 0; i < devices; ++i)
    bytes.push_back(static_cast<uint64_t>(starts[i + 1] - starts[i]) * row);
  EXPECT_EQ(part.size() * sizeof(double), bytes[mine.rank()]);
  if (part.size() * sizeof(double) != bytes[mine.rank()]) mine.abort("a part of another size");
  std::vector<double> parts(static_cast<size_t>(whole.elements()));
  failed = mine.all_gather(part.data(), bytes, parts.data(), 1);
  EXPECT_FALSE(failed) << failed->what;
  return concatenated(parts, whole, static_cast<size_t>(dim), starts);
}

/// What one device makes of its part, joined with the others': the whole results.
results as_device(collectives& mine, backend& on, const row_call& call, const split_axis& axis,
                  const std::array<int64_t, devices + 1>& starts) {
  auto parts = run_part(on, call, axis, starts, mine.rank());
  const auto len = starts[mine.rank() + 1] - starts[mine.rank()];
  if (axis.how == join::mean)
    for (auto& part : parts)
      for (auto& x : part) x *= static_cast<double>(len) / static_cast<double>(starts.back());
  const std::array regs{call.result, call.second};
  const std::array dims{axis.result_dim, axis.second_dim};
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i] =
      joined_over(mine, std::move(parts[i]), call.code.types[regs[i]].dims, dims[i], starts);
  return parts;
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
    auto whole = results_of(*each[0], call);
    for (auto& axis : split({operands, &type, call.what.attributes})) {
      ASSERT_EQ(axis.operand_dims.size(), operands.size());
      ASSERT_EQ(axis.result_dim < 0, axis.how != join::none);
      auto size = size_of_axis(axis, operands);
      if (size < static_cast<int64_t>(devices)) continue;
      ++seen;
      auto starts = dealt_out(size, random);
      std::array<results, devices> joined;
      {
        std::vector<std::jthread> threads;
        for (uint32_t rank = 0; rank < devices; ++rank)
          threads.emplace_back([&, rank] {
            joined[rank] = as_device(*group->member(rank), *each[rank], call, axis, starts);
          });
      }
      for (auto& one : joined) {
        ASSERT_EQ(one.size(), whole.size());
        for (size_t i = 0; i < whole.size(); ++i)
          expect_near(one[i], whole[i], 1e-11 * call.how->tolerance,
                      fmt::format("result {} of {} split along operand dims {}, result dim {}", i,
                                  call.text(), fmt::join(axis.operand_dims, " "), axis.result_dim));
      }
      if (::testing::Test::HasFailure()) return;
    }
  });
  EXPECT_GT(seen, 1000u);
}

} // namespace
} // namespace moxzi::device
