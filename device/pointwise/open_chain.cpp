#include "device/pointwise/open_chain.hpp"

#include <cmath>

#include "base/assert.hpp"

namespace moxzi::device::pointwise {

namespace {

/// The type that an operation computes in: that of its result; where that is a boolean, or an
/// integer made of floats, the widest of its operands'. Nothing if there are only booleans.
std::optional<dtype> computes_in(const typed_program& code, reg i) {
  auto& result = code.types[i].type;
  std::optional<dtype> widest;
  auto consider = [&widest](dtype type) {
    if (type == dtype::boolean) return;
    auto rank = [](dtype t) { return t == dtype::f64 ? 2 : is_float(t) ? 1 : 0; };
    auto as = type == dtype::f64 ? dtype::f64 : is_float(type) ? dtype::f32 : dtype::i64;
    if (!widest || rank(as) > rank(*widest)) widest = as;
  };
  if (is_float(result)) consider(result);
  // A cast reads its operand exactly; others are as wide as what comes out.
  if (!widest || code.code[i].id == op::cast)
    for (auto x : code.code[i].operands) consider(code.types[x].type);
  if (is_float(result) && widest == dtype::i64) return dtype::f32;
  return widest ? widest : is_integer(result) ? std::optional(dtype::i64) : std::nullopt;
}

/// True if what such an operation makes is exactly what a chain of its type holds.
bool is_exact(const typed_program& code, reg i) {
  auto type = code.types[i].type;
  return type == dtype::boolean || type == computes_in(code, i);
}

} // namespace

size_t open_chain::new_inputs(reg i) const {
  size_t count = 0;
  for (auto x : code_.code[i].operands)
    if (!has(same_[x]) && !input_of_.contains(same_[x])) ++count;
  return count;
}

bool open_chain::takes(reg i) const {
  if (empty()) return true;
  if (closed_ || !is_exact(code_, i)) return false;
  auto computes = computes_in(code_, i);
  if (computes && computes_ && *computes != *computes_) return false;
  return code_.types[i].dims == code_.types[members_[0]].dims && members_.size() < chain_steps_max
         && inputs_.size() + new_inputs(i) <= chain_inputs_max;
}

void open_chain::add(reg i) {
  for (auto operand : code_.code[i].operands) {
    auto x = same_[operand];
    if (has(x)) {
      ++reads_[x];
    } else if (input_of_.try_emplace(x, static_cast<uint32_t>(inputs_.size())).second) {
      inputs_.push_back(x);
    }
  }
  if (auto computes = computes_in(code_, i)) computes_ = computes;
  closed_ = closed_ || !is_exact(code_, i);
  step_of_.emplace(i, static_cast<uint32_t>(members_.size()));
  members_.push_back(i);
}

pointwise_chain open_chain::take(const std::vector<uint32_t>& uses) {
  pointwise_chain out{computes_.value_or(dtype::f32), {}, {}};
  auto inputs = static_cast<uint32_t>(inputs_.size());
  for (auto i : members_) {
    auto& what = code_.code[i];
    auto id = what.id == op::cast && code_.types[i].type == dtype::boolean ? op::nonzero : what.id;
    pointwise_step step{id, code_.types[i].type, {}, {}};
    for (auto operand : what.operands) {
      auto inside = step_of_.find(same_[operand]);
      step.operands.push_back(inside != step_of_.end() ? inputs + inside->second
                                                       : input_of_.at(same_[operand]));
    }
    for (auto& value : what.attributes) {
      if (auto number = std::get_if<double>(&value))
        step.constants.push_back(*number);
      else if (std::holds_alternative<std::monostate>(value)) // the absent bounds of clamp
        step.constants.push_back(step.constants.empty() ? -HUGE_VAL : HUGE_VAL);
    }
    if (reads_[i] < uses[i]) out.results.push_back(static_cast<uint32_t>(out.steps.size()));
    out.steps.push_back(std::move(step));
  }
  moxzi_assert(!out.results.empty(), "a chain without results");
  taken_ = std::move(members_);
  members_.clear();
  inputs_.clear();
  step_of_.clear();
  input_of_.clear();
  reads_.clear();
  computes_.reset();
  closed_ = false;
  return out;
}

} // namespace moxzi::device::pointwise
