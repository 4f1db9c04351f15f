#pragma once

#include <map>
#include <span>
#include <vector>

#include "device/check.hpp"
#include "device/plan.hpp"

namespace moxzi::device::pointwise {

/// Pointwise operations that a plan has come upon and not yet made an instruction of.
class open_chain {
public:
  /// `same` tells for each register which one stands for it.
  open_chain(const typed_program& code, const std::vector<reg>& same) : code_(code), same_(same) {
    // nop
  }

  bool empty() const noexcept {
    return members_.empty();
  }
  /// True if the register is a result that is still to be computed here.
  bool has(reg x) const noexcept {
    return step_of_.contains(x);
  }
  /// True if the operation can be added: the same shape and type to compute in, and room for it.
  bool takes(reg i) const;
  void add(reg i);

  /// Registers from outside, in the order of the instruction's inputs.
  std::span<const reg> inputs() const noexcept {
    return inputs_;
  }
  std::span<const reg> members() const noexcept {
    return members_;
  }
  /// The chain, which is then empty again. Its results are those registers that others read too:
  /// `uses` counts all readers.
  pointwise_chain take(const std::vector<uint32_t>& uses);
  /// The members of the chain that was taken last.
  std::span<const reg> taken() const noexcept {
    return taken_;
  }

private:
  size_t new_inputs(reg i) const;

  const typed_program& code_;
  const std::vector<reg>& same_;
  std::vector<reg> members_, inputs_, taken_;
  std::map<reg, uint32_t> step_of_, input_of_;
  std::map<reg, uint32_t> reads_; ///< of members, by members
  std::optional<dtype> computes_; ///< not known while all is booleans
  bool closed_ = false;           ///< a member whose result has to be rounded
};

} // namespace moxzi::device::pointwise
