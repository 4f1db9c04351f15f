#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "device/shape.hpp"

/// Equations of einsum.
namespace moxzi::device {

/// A parsed equation: one letter a dimension.
struct einsum {
  std::vector<std::string> in;
  std::string out;
  std::map<char, int64_t> sizes; ///< of every letter that an operand has

  /// 1 for a letter that no operand has.
  int64_t size_of(char label) const {
    auto found = sizes.find(label);
    return found == sizes.end() ? 1 : found->second;
  }
};

/// Parses `bij,bjk->bik`; without an arrow the result has the letters that stand once, in order.
/// Fails with a sentence for a person if the equation can't be read or does not fit the operands.
/// The result may have a letter twice, or one that no operand has, only with `loose`.
result<einsum> parse_einsum(std::string_view equation, std::span<const shape> operands,
                            bool loose = false);

} // namespace moxzi::device
