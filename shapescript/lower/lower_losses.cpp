#include "shapescript/lower/lower_slots.hpp"

#include <cmath>

namespace shapescript {

namespace {

constexpr int64_t no_reduction = 2; // the place of `none` in the operation's choices

attribute each_or_mean(bool each) {
  attribute out;
  if (each) out.emplace<int64_t>(no_reduction);
  return out;
}

} // namespace

// The mean over everything, or over all but the first dimension.
reg lowering::mean_of(reg x, bool per_example) {
  const auto rank = dims(x).rank();
  if (rank == 0 || (per_example && rank == 1)) return x;
  std::vector<uint32_t> over;
  for (uint32_t i = per_example ? 1 : 0; i < rank; ++i) over.push_back(i);
  return emit(op::mean, {x}, {over, {}});
}

value lowering::cross_entropy(const builtin& what, call_slots& m, const type& known) {
  const auto over = places(*m.all[2], type_of(*m.all[0]));
  auto logits = register_of(*m.all[0], lowered_dtype(known.element));
  auto label = register_of(*m.all[1]);
  if (failed()) return {};
  logits = last(logits, over.at(0));
  const auto classes = dims(logits).last();
  const std::vector<int64_t> shape(dims(label).sizes().begin(), dims(label).sizes().end());
  const auto rows = dims(label).elements();
  logits = reshape(logits, {rows, classes});
  label = reshape(label, {rows});
  const bool each = known.axes.size() == 1;
  const auto how = each_or_mean(each);
  reg out = no_register;
  if (what.name == "nll") {
    out = emit(op::nll, {logits, label}, {how, {}});
  } else {
    out =
      emit(op::cross_entropy, {logits, label, no_register}, {how, {}, optional_number(m.all[3])});
  }
  return as_value(each ? mean_of(reshape(out, shape), true) : out);
}

value lowering::loss(const builtin& what, call_slots& m, const type& known) {
  const auto element = lowered_dtype(known.element);
  auto x = register_of(*m.all[0], element);
  auto y = register_of(*m.all[1], element);
  if (failed()) return {};
  const bool each = known.axes.size() == 1;
  const auto how = each_or_mean(each);
  const auto joined = [&](reg at) { return as_value(each ? mean_of(at, true) : at); };
  const auto name = what.name;
  if (name == "mse") return joined(emit(op::mse, {x, y}, {how}));
  if (name == "l1") return joined(emit(op::l1, {x, y}, {how}));
  if (name == "huber") return joined(emit(op::huber, {x, y}, {number(m.all[2], 1), how}));
  if (name == "bce_logits") return joined(emit(op::bce_logits, {x, y}, {how}));
  if (name == "bce") {
    // -(y log p + (1 - y) log(1 - p)), logarithms cut at -100 as PyTorch does.
    const auto cut = [&](reg at) { return emit(op::clamp, {emit(op::log, {at})}, {-100.0, {}}); };
    const auto one = constant(1, element);
    const auto yes = emit(op::mul, {y, cut(x)});
    const auto no = emit(op::mul, {emit(op::sub, {one, y}), cut(emit(op::sub, {one, x}))});
    return as_value(mean_of(emit(op::neg, {emit(op::add, {yes, no})}), each));
  }
  // kl(p, q, over=X): the sum of p (log p - log q) along X, then the mean over the others.
  const auto over = places(*m.all[2], type_of(*m.all[0]));
  const auto each_term = emit(op::kl, {emit(op::log, {y}), x}, {no_reduction});
  return as_value(mean_of(emit(op::sum, {each_term}, {over, {}}), each));
}

value lowering::attention(call_slots& m, const type& known) {
  const auto element = lowered_dtype(known.element);
  std::vector<reg> operands;
  for (size_t i : {0, 1, 2}) operands.push_back(register_of(*m.all[i], element));
  if (failed()) return {};
  // Leading axes of q lead all three.
  const auto q_rank = dims(operands[0]).rank();
  for (size_t i : {1, 2}) {
    const auto& own = type_of(*m.all[i]).axes;
    if (own.size() == q_rank) continue;
    auto to = type_of(*m.all[0]).axes;
    to[to.size() - 2] = own[own.size() - 2];
    to.back() = own.back();
    auto at = aligned(operands[i], own, to);
    std::vector<uint32_t> wanted;
    for (size_t k = 0; k + 2 < q_rank; ++k)
      wanted.push_back(static_cast<uint32_t>(dims(operands[0])[k]));
    for (size_t k : {1, 0}) wanted.push_back(static_cast<uint32_t>(dims(at).last(k)));
    operands[i] = emit(op::expand, {at}, {wanted});
  }
  reg mask = no_register;
  if (m.all[3] != nullptr) {
    auto to = type_of(*m.all[0]).axes;
    to.back() = type_of(*m.all[1]).axes[type_of(*m.all[1]).axes.size() - 2];
    mask = aligned(register_of(*m.all[3]), type_of(*m.all[3]).axes, to);
  }
  operands.push_back(mask);
  return as_value(emit(op::attention, operands, {{}, optional_number(m.all[4]), {}, {}, {}}));
}

} // namespace shapescript
