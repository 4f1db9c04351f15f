#include <algorithm>

#include "shapescript/check/align.hpp"
#include "shapescript/lower/lower_slots.hpp"

namespace shapescript {

value lowering::reduction(const builtin& what, call_slots& m) {
  auto x = register_of(*m.all[0]);
  const auto& known = type_of(*m.all[0]);
  std::vector<uint32_t> over;
  if (m.all[1] != nullptr) over = places(*m.all[1], known);
  if (failed()) return {};
  std::sort(over.begin(), over.end());
  attribute where;
  if (m.all[1] != nullptr) where.emplace<std::vector<uint32_t>>(over);
  const auto name = what.name;
  if (name == "argmax" || name == "argmin")
    return as_value(
      emit(name == "argmax" ? op::argmax : op::argmin, {x}, {static_cast<int64_t>(over.at(0))}));
  if (name == "count") {
    x = cast(x, moxzi::device::dtype::i64);
    return as_value(emit(op::sum, {x}, {where, {}}));
  }
  if (name == "var" || name == "std") {
    const auto correction = whole(m.all[2], 0);
    if (correction < 0 || correction > 1)
      fail(m.where, fmt::format("a correction of {} is not known; 0 and 1 are", correction));
    return as_value(
      emit(name == "var" ? op::variance : op::std, {x}, {where, {}, correction == 1}));
  }
  if (name == "norm") return as_value(emit(op::norm, {x}, {2.0, where, {}}));
  static const std::map<std::string_view, op> known_ops{
    {"sum", op::sum},   {"mean", op::mean},           {"max", op::max}, {"min", op::min},
    {"prod", op::prod}, {"logsumexp", op::logsumexp}, {"any", op::any}, {"all", op::all}};
  return as_value(emit(known_ops.at(name), {x}, {where, {}}));
}

// -- masks ---------------------------------------------------------------------

value lowering::masked(const builtin& what, call_slots& m, const type& known) {
  const auto element = lowered_dtype(known.element);
  if (what.how == rule::one_hot) {
    const auto hot = emit(op::one_hot, {register_of(*m.all[0])}, {whole(m.all[1], 1)});
    return as_value(cast(hot, element));
  }
  if (what.how == rule::masked_fill) {
    const auto x = register_of(*m.all[0], element);
    const auto mask = aligned(register_of(*m.all[1]), type_of(*m.all[1]).axes, known.axes);
    const auto& v = argument(*m.all[2]);
    if (v.at == no_register) return as_value(emit(op::mask_fill, {x, mask}, {number(m.all[2], 0)}));
    return as_value(emit(op::where, {mask, tensor(v, element), x}));
  }
  const auto c = aligned(register_of(*m.all[0]), type_of(*m.all[0]).axes, known.axes);
  // The two choices meet each other first.
  const auto& x = type_of(*m.all[1]).axes;
  const auto& y = type_of(*m.all[2]).axes;
  const auto& longer = x.size() >= y.size() ? x : y;
  const auto& shorter = x.size() >= y.size() ? y : x;
  const auto how = align_axes(longer, shorter);
  const auto both = how.complete ? join_axes(how, longer, shorter) : known.axes;
  const auto choice = [&](size_t slot, const std::vector<axis>& own) {
    const auto at = register_of(*m.all[slot], element);
    return own.empty() ? at : aligned(aligned(at, own, both), both, known.axes);
  };
  const auto a = choice(1, x);
  const auto b = choice(2, y);
  auto out = emit(op::where, {c, a, b});
  // Where no operand has all axes with sizes of its own.
  const auto sizes = sizes_of(known.axes);
  if (!failed() && sizes && dims(out).rank() < sizes->size()) out = reshape(out, *sizes);
  return as_value(out);
}

// -- along an axis -------------------------------------------------------------

// The dimension moved to the end.
reg lowering::last(reg x, uint32_t place) {
  const auto rank = static_cast<uint32_t>(dims(x).rank());
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < rank; ++i)
    if (i != place) order.push_back(i);
  order.push_back(place);
  return permute(x, order);
}

value lowering::normalised(const builtin& what, call_slots& m) {
  auto x = register_of(*m.all[0]);
  const auto over = places(*m.all[1], type_of(*m.all[0]));
  if (failed()) return {};
  const auto dim = static_cast<int64_t>(over.at(0));
  const auto name = what.name;
  if (name == "softmax") return as_value(emit(op::softmax, {x}, {dim}));
  if (name == "log_softmax") return as_value(emit(op::log_softmax, {x}, {dim}));
  if (name == "cumsum") return as_value(emit(op::cumsum, {x}, {dim}));
  if (name == "flip") return as_value(emit(op::flip, {x}, {over}));
  if (name == "sort") return as_value(emit(op::sort, {x}, {dim, {}}));
  if (name == "roll") return as_value(emit(op::roll, {x}, {dim, whole(m.all[2], 0)}));
  return affine(what, m, x, over);
}

// layer_norm, rms_norm and group_norm, over dimensions brought to the end.
value lowering::affine(const builtin& what, call_slots& m, reg x, std::vector<uint32_t> over) {
  std::sort(over.begin(), over.end());
  const auto rank = static_cast<uint32_t>(dims(x).rank());
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < rank; ++i)
    if (std::find(over.begin(), over.end(), i) == over.end()) order.push_back(i);
  order.insert(order.end(), over.begin(), over.end());
  std::vector<uint32_t> back(rank);
  for (uint32_t i = 0; i < rank; ++i) back[order[i]] = i;
  x = permute(x, order);
  std::vector<int64_t> moved(dims(x).sizes().begin(), dims(x).sizes().end());
  const auto affine_at = [&](size_t slot) {
    if (slot >= m.all.size() || m.all[slot] == nullptr) return no_register;
    const auto& given = argument(*m.all[slot]);
    std::vector<int64_t> sizes(moved.end() - static_cast<std::ptrdiff_t>(over.size()), moved.end());
    if (given.base != base_type::tensor && given.at == no_register)
      return constant(number(m.all[slot], 0), kind(x), sizes);
    return tensor(given, kind(x));
  };
  reg out = no_register;
  if (what.name == "rms_norm") {
    std::vector<int64_t> flat(moved.begin(),
                              moved.end() - static_cast<std::ptrdiff_t>(over.size()));
    int64_t count = 1;
    for (size_t i = flat.size(); i < moved.size(); ++i) count *= moved[i];
    flat.push_back(count);
    auto w = affine_at(2);
    if (w != no_register) w = reshape(w, {count});
    out = reshape(emit(op::rms_norm, {reshape(x, flat), w}, {number(m.all[3], 1e-6)}), moved);
  } else if (what.name == "layer_norm") {
    const auto w = affine_at(2);
    const auto b = affine_at(3);
    out =
      emit(op::layer_norm, {x, w, b}, {number(m.all[4], 1e-5), static_cast<int64_t>(over.size())});
  } else {
    return grouped(m, x, moved, over.size(), back);
  }
  return as_value(permute(out, back));
}

// group_norm(x, over=C, groups=g): per example, the groups of the axis.
value lowering::grouped(call_slots& m, reg x, const std::vector<int64_t>& moved, size_t over,
                        const std::vector<uint32_t>& back) {
  // One row for each place of the other axes; the channels are what is normalised.
  int64_t rows = 1, channels = 1;
  for (size_t i = 0; i < moved.size(); ++i) (i + over < moved.size() ? rows : channels) *= moved[i];
  const auto flat = reshape(x, {rows, channels});
  const auto affine_at = [&](size_t slot) {
    if (m.all[slot] == nullptr) return no_register;
    const auto& given = argument(*m.all[slot]);
    if (given.base != base_type::tensor && given.at == no_register)
      return constant(number(m.all[slot], 0), kind(x), {channels});
    return reshape(tensor(given, kind(x)), {channels});
  };
  const auto w = affine_at(3);
  const auto b = affine_at(4);
  const auto out = emit(op::group_norm, {flat, w, b}, {whole(m.all[2], 1), number(m.all[5], 1e-5)});
  return as_value(permute(reshape(out, moved), back));
}

value lowering::batch_norm(call_slots& m) {
  auto x = register_of(*m.all[0]);
  const auto bn = argument(*m.all[1]);
  const auto over = places(*m.all[2], type_of(*m.all[0]));
  if (failed()) return {};
  const auto rank = static_cast<uint32_t>(dims(x).rank());
  // The axis of the statistics, and all others as rows.
  uint32_t channel = rank;
  for (uint32_t i = 0; i < rank && channel == rank; ++i)
    if (std::find(over.begin(), over.end(), i) == over.end() && dims(x)[i] == bn.dims.at(0))
      channel = i;
  if (channel == rank || over.size() + 1 != rank) {
    fail(m.where, "`batch_norm` is over all axes but one");
    return {};
  }
  std::vector<uint32_t> order, back(rank);
  for (uint32_t i = 0; i < rank; ++i)
    if (i != channel) order.push_back(i);
  order.push_back(channel);
  for (uint32_t i = 0; i < rank; ++i) back[order[i]] = i;
  x = permute(x, order);
  const std::vector<int64_t> moved(dims(x).sizes().begin(), dims(x).sizes().end());
  const auto channels = moved.empty() ? 1 : moved.back();
  const auto flat = reshape(x, {dims(x).elements() / std::max<int64_t>(channels, 1), channels});
  const auto read = [&](const char* name) {
    const auto path = fmt::format("{}.{}", bn.text, name);
    const auto at = emit(op::param, {}, {path});
    readers_[path].push_back(at);
    return at;
  };
  const auto w = read("gain");
  const auto b = read("bias");
  const auto out =
    emit(op::batch_norm, {flat, w, b}, {bn.text + ".mean", bn.text + ".var", {}, {}, {}});
  return as_value(permute(reshape(out, moved), back));
}

} // namespace shapescript
