#pragma once

#include <vector>

#include "device/ops/row.hpp"
#include "device/split.hpp"

namespace moxzi::device {

/// What devices join while an operation runs on their parts: an all-reduce.
struct inner_join {
  int64_t elements = 0;
  joined by = joined::sum;
  bool operator==(const inner_join&) const = default;
};

/// One way to run an operation on several devices.
struct split_way {
  placement result;
  std::vector<int> dims;         ///< along which operands are split; -1 = whole
  placement second = {};         ///< of a second result
  std::vector<inner_join> joins; ///< while it runs
};

/// All ways of an operation but the one with everything whole: the split rule of its row, and what
/// devices can do if they join something on the way (the maximum and sum of a softmax, the sums of
/// a variance, the statistics of a batch).
std::vector<split_way> split_ways(op id, const typed_call& call);

} // namespace moxzi::device
