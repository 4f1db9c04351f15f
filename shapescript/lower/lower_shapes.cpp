#include <algorithm>

#include "shapescript/lower/lower_slots.hpp"

namespace shapescript {

value lowering::shape_builtin(const builtin& what, call_slots& m, const type& known) {
  switch (what.how) {
    case rule::transpose: {
      const auto x = register_of(*m.all[0]);
      const auto a = places(*m.all[1], type_of(*m.all[0]));
      const auto b = places(*m.all[2], type_of(*m.all[0]));
      if (failed()) return {};
      return as_value(
        emit(op::transpose, {x}, {static_cast<int64_t>(a[0]), static_cast<int64_t>(b[0])}));
    }
    case rule::diagonal:
    case rule::trace:
      return diagonal(what, m);
    case rule::join:
      return join(what, m, known);
    case rule::padded:
      return padded(what, m);
    case rule::topk:
    case rule::gather:
      return picked(what, m, known);
    case rule::expand: {
      const auto x = register_of(*m.all[0]);
      std::vector<uint32_t> to;
      for (auto* one : m.rest) to.push_back(static_cast<uint32_t>(whole(one, 1)));
      for (const auto size : dims(x).sizes()) to.push_back(static_cast<uint32_t>(size));
      return as_value(emit(op::expand, {x}, {to}));
    }
    case rule::convolution:
      return convolution(what, m);
    case rule::pooling:
      return pooling(what, m);
    default:
      fail(m.where, fmt::format("no device does `{}` here", what.name));
      return {};
  }
}

value lowering::diagonal(const builtin& what, call_slots& m) {
  const auto x = register_of(*m.all[0]);
  if (failed()) return {};
  const auto name = what.name;
  if (name == "tril" || name == "triu")
    return as_value(emit(name == "tril" ? op::tril : op::triu, {x}, {int64_t{0}}));
  const auto n = dims(x).last();
  const auto unit = cast(emit(op::eye, {}, {n, {}}), moxzi::device::dtype::boolean);
  const auto zero = constant(0, kind(x));
  // A row repeated, or the rows, kept where the unit matrix is.
  if (dims(x).rank() == 1) return as_value(emit(op::where, {unit, x, zero}));
  const auto kept = emit(op::where, {unit, x, zero});
  const auto rank = static_cast<uint32_t>(dims(x).rank());
  std::vector<uint32_t> over{rank - 1};
  if (name == "trace") over.insert(over.begin(), rank - 2);
  return as_value(emit(op::sum, {kept}, {over, {}}));
}

value lowering::join(const builtin& what, call_slots& m, const type& known) {
  const auto element = lowered_dtype(known.element);
  std::vector<reg> parts;
  for (auto* one : m.rest) parts.push_back(register_of(*one, element));
  if (failed()) return {};
  if (what.name == "stack") return as_value(emit(op::stack, parts, {int64_t{0}}));
  const auto along = places(*m.all.back(), type_of(*m.rest[0]));
  return as_value(emit(op::concat, parts, {static_cast<int64_t>(along.at(0))}));
}

// `pad(x, n=(1, 1), value=0)`, `shift(x, n=1, fill=0)`.
value lowering::padded(const builtin& what, call_slots& m) {
  auto x = register_of(*m.all[0]);
  if (failed()) return {};
  const auto& axes = type_of(*m.all[0]).axes;
  const auto rank = dims(x).rank();
  const auto fill = number(m.all[1], 0);
  std::vector<uint32_t> before(rank, 0), after(rank, 0);
  for (auto* one : m.rest) {
    const auto place = axis_called(text(one->name), axes).value_or(0);
    const auto& amount = argument(*one);
    if (failed()) return {};
    if (what.name == "pad") {
      const bool both = amount.base == base_type::tuple;
      before[place] = static_cast<uint32_t>(both ? amount.parts[0].integer : amount.integer);
      after[place] = static_cast<uint32_t>(both ? amount.parts[1].integer : amount.integer);
      continue;
    }
    // Moved along the axis: what comes in is the fill.
    const auto size = dims(x)[place];
    const auto by = std::clamp(amount.integer, -size, size);
    if (by == 0) continue;
    std::vector<uint32_t> low(rank, 0), high(rank, 0);
    (by > 0 ? low : high)[place] = static_cast<uint32_t>(std::abs(by));
    x = emit(op::pad, {x}, {low, high, fill});
    x = emit(op::narrow, {x}, {static_cast<int64_t>(place), by > 0 ? int64_t{0} : -by, size});
  }
  if (what.name == "shift") return as_value(x);
  return as_value(emit(op::pad, {x}, {before, after, fill}));
}

value lowering::picked(const builtin& what, call_slots& m, const type& known) {
  const auto x = register_of(*m.all[0]);
  const auto name = what.name;
  const auto over = places(name == "topk" ? *m.all[1] : *m.all.back(), type_of(*m.all[0]));
  if (failed()) return {};
  const auto dim = static_cast<int64_t>(over.at(0));
  if (name == "topk") {
    const auto k = whole(m.all[2], 1);
    value out;
    out.base = base_type::tuple;
    out.parts.push_back(as_value(emit(op::topk_values, {x}, {dim, k})));
    out.parts.push_back(as_value(emit(op::topk_indices, {x}, {dim, k})));
    return out;
  }
  auto ids = register_of(*m.all[1]);
  if (failed()) return {};
  if (name == "gather") {
    const auto& own = dims(ids).sizes();
    const std::vector<int64_t> to{own.begin(), own.end()};
    auto line = to; // without the axis, one of each is picked
    if (line.size() < dims(x).rank()) line.insert(line.begin() + dim, 1);
    return as_value(reshape(emit(op::gather, {x, reshape(ids, line)}, {dim}), to));
  }
  if (name == "scatter_add") {
    const auto values = register_of(*m.all[2], lowered_dtype(known.element));
    if (failed()) return {};
    if (dims(ids).rank() == 1 && dims(values).rank() > 1) {
      std::vector<int64_t> line(dims(values).rank(), 1);
      line[static_cast<size_t>(dim)] = dims(ids)[0];
      const auto& all = dims(values).sizes();
      ids = emit(op::expand, {reshape(ids, line)}, {std::vector<uint32_t>{all.begin(), all.end()}});
    }
    return as_value(emit(op::scatter_add, {x, ids, values}, {dim}));
  }
  const auto& sizes = dims(x);
  std::vector<int64_t> to(sizes.sizes().begin(), sizes.sizes().begin() + dim);
  to.insert(to.end(), dims(ids).sizes().begin(), dims(ids).sizes().end());
  to.insert(to.end(), sizes.sizes().begin() + dim + 1, sizes.sizes().end());
  const auto flat = reshape(ids, {dims(ids).elements()});
  return as_value(reshape(emit(op::index_select, {x, flat}, {dim}), to));
}

// -- windows -------------------------------------------------------------------

// x as [batch, channels, spatial..]: the order to bring it there, and how much each part has.
lowering::planes lowering::as_planes(reg x, const std::vector<uint32_t>& spatial, bool channels) {
  planes out;
  const auto rank = static_cast<uint32_t>(dims(x).rank());
  const auto first = *std::min_element(spatial.begin(), spatial.end());
  for (uint32_t i = 0; i < rank; ++i) {
    const bool slid = std::find(spatial.begin(), spatial.end(), i) != spatial.end();
    if (!slid && !(channels && i + 1 == first)) out.order.push_back(i);
  }
  for (const auto i : out.order) out.lead.push_back(dims(x)[i]);
  if (channels) out.order.push_back(first - 1);
  out.order.insert(out.order.end(), spatial.begin(), spatial.end());
  int64_t batch = 1;
  for (const auto size : out.lead) batch *= size;
  std::vector<int64_t> sizes{batch, channels ? dims(x)[first - 1] : 1};
  for (const auto i : spatial) sizes.push_back(dims(x)[i]);
  out.x = reshape(permute(x, out.order), sizes);
  return out;
}

reg lowering::from_planes(const planes& how, reg x, bool channels) {
  if (failed()) return no_register;
  auto sizes = how.lead;
  for (size_t i = channels ? 1 : 2; i < dims(x).rank(); ++i) sizes.push_back(dims(x)[i]);
  std::vector<uint32_t> back(how.order.size());
  for (uint32_t i = 0; i < back.size(); ++i) back[how.order[i]] = i;
  return permute(reshape(x, sizes), back);
}

std::vector<uint32_t> lowering::spatial(lowered_argument* over, const type& of, size_t count) {
  if (over != nullptr) return places(*over, of);
  std::vector<uint32_t> out;
  for (size_t i = 0; i < count; ++i)
    out.push_back(static_cast<uint32_t>(of.axes.size() - count + i));
  return out;
}

value lowering::convolution(const builtin& what, call_slots& m) {
  const size_t count = what.name == "conv1d" ? 1 : 2;
  const auto x = register_of(*m.all[0]);
  const auto w = register_of(*m.all[1], kind(x));
  const auto over = spatial(m.all[2], type_of(*m.all[0]), count);
  if (failed()) return {};
  const auto how = as_planes(x, over, true);
  const auto list = [&](lowered_argument* one, int64_t otherwise) {
    return attribute{std::vector<uint32_t>{static_cast<uint32_t>(whole(one, otherwise))}};
  };
  const auto out = emit(op::conv, {how.x, w, no_register},
                        {list(m.all[3], 1), list(m.all[4], 0), {}, whole(m.all[5], 1), {}});
  return as_value(from_planes(how, out, true));
}

value lowering::pooling(const builtin& what, call_slots& m) {
  const auto x = register_of(*m.all[0]);
  const auto& known = type_of(*m.all[0]);
  const auto over = spatial(m.all[1], known, std::min<size_t>(2, known.axes.size()));
  if (failed()) return {};
  const auto how = as_planes(x, over, false);
  const auto size = static_cast<uint32_t>(whole(m.all[2], 2));
  const std::vector<uint32_t> window(over.size(), size);
  reg out = no_register;
  if (what.name == "upsample") {
    out = emit(op::upsample, {how.x}, {window, {}});
  } else {
    const auto stride = static_cast<uint32_t>(whole(m.all[3], size));
    const auto pad = static_cast<uint32_t>(whole(m.all[4], 0));
    out = emit(what.name == "max_pool" ? op::max_pool : op::avg_pool, {how.x},
               {window, std::vector<uint32_t>{stride}, std::vector<uint32_t>{pad}});
  }
  return as_value(from_planes(how, out, false));
}

} // namespace shapescript
