#include <cmath>

#include "device/ops/attention_shape.hpp"
#include "device/ops/rows.hpp"

namespace moxzi::device {

namespace {

// -- attention -----------------------------------------------------------------

shape without_last(const shape& dims, size_t count) {
  return shape(dims.sizes().first(dims.rank() - count));
}

/// [.., queries, keys] of a call with operands q, k from `first` on.
register_type weights_type(const rule_context& c, size_t first) {
  auto out = c.operand(first);
  auto& k = c.operand(first + 1);
  out.dims[out.dims.rank() - 1] = k.dims.last(1);
  out.factors.back() = k.factors[k.dims.rank() - 2];
  return out;
}

result<void> fit_heads(const rule_context& c) {
  auto &q = c.operand(0), &k = c.operand(1), &v = c.operand(2);
  auto rank = q.dims.rank();
  auto unfit = [&](std::string_view wanted) {
    return complain(device_errc::shape_mismatch, "q {}, k {} and v {} don't fit: {} wanted",
                    to_string(q.dims), to_string(k.dims), to_string(v.dims), wanted);
  };
  if (rank < 2 || k.dims.rank() != rank || v.dims.rank() != rank)
    return unfit("q [.., heads, queries, width], k [.., keys, width] and v [.., keys, any width]");
  if (k.dims.last() != q.dims.last()) return unfit("the same width of q and k");
  if (v.dims.last(1) != k.dims.last(1)) return unfit("as many places in v as in k");
  auto fewer = std::get_if<int64_t>(&c.attr(3));
  for (size_t i = 0; i + 2 < rank; ++i) {
    auto wanted = fewer && i + 3 == rank ? *fewer : q.dims[i];
    if (k.dims[i] != wanted || v.dims[i] != wanted)
      return unfit(fmt::format("{} in dimension {} of k and v", wanted, i));
  }
  if (fewer && (rank < 3 || *fewer < 1 || q.dims.last(2) % *fewer != 0))
    return complain(device_errc::invalid_value,
                    "{} kv_heads for q {}: a divisor of its heads wanted", *fewer,
                    to_string(q.dims));
  return {};
}

result<void> fit_mask(const rule_context& c) {
  if (!c.has(3)) return {};
  auto &q = c.operand(0), &mask = c.operand(3);
  if (mask.type != dtype::boolean && mask.type != q.type)
    return complain(device_errc::dtype_mismatch, "mask is {}, q is {}; booleans or q's type wanted",
                    mask.text(), q.text());
  auto to = weights_type(c, 0).dims;
  auto missing = static_cast<int64_t>(to.rank()) - static_cast<int64_t>(mask.dims.rank());
  bool fits = missing >= 0;
  for (size_t i = 0; fits && i < mask.dims.rank(); ++i)
    fits = mask.dims[i] == 1 || mask.dims[i] == to[i + static_cast<size_t>(missing)];
  if (fits) return {};
  return complain(device_errc::shape_mismatch, "mask {} does not broadcast to {}: queries by keys",
                  to_string(mask.dims), to_string(to));
}

result<void> fit_settings(const rule_context& c) {
  auto scale = std::get_if<double>(&c.attr(1)), dropout = std::get_if<double>(&c.attr(4));
  if (scale && !std::isfinite(*scale))
    return complain(device_errc::invalid_value, "scale is {}; a finite number wanted", *scale);
  if (auto window = std::get_if<int64_t>(&c.attr(2)); window && *window < 1)
    return complain(device_errc::invalid_value, "window is 0; at least 1 wanted");
  if (dropout && !(*dropout >= 0 && *dropout <= 1))
    return complain(device_errc::invalid_value, "dropout is {}; 0 to 1 wanted", *dropout);
  return {};
}

result<register_type> infer_attention(const rule_context& c) {
  auto &q = c.operand(0), &v = c.operand(2);
  if (auto ok = want_float("q", q); !ok) return ok.error();
  if (auto ok = want_same_type("q", q, "k", c.operand(1)); !ok) return ok.error();
  if (auto ok = want_same_type("q", q, "v", v); !ok) return ok.error();
  if (auto ok = fit_heads(c); !ok) return ok.error();
  if (auto ok = fit_mask(c); !ok) return ok.error();
  if (auto ok = fit_settings(c); !ok) return ok.error();
  // A mask may want a gradient, which is as large as the weights.
  if (c.has(3))
    if (auto ok = want_size(weights_type(c, 0).dims); !ok) return ok.error();
  auto out = q;
  out.dims[out.dims.rank() - 1] = v.dims.last();
  out.factors.back() = v.factors.back();
  if (auto ok = want_size(out.dims); !ok) return ok.error();
  return out;
}

/// The weights, where they are small; else the logarithm of the sum for each query.
register_type attention_kept(const rule_context& c) {
  auto out = weights_type(c, 0);
  if (out.type != dtype::f64) out.type = dtype::f32;
  out.storage = stored_as(out.type);
  if (out.dims.elements() <= kept_weights_max) return out;
  out.dims = without_last(out.dims, 1);
  out.factors.pop_back();
  return out;
}

std::vector<attribute> all_attributes(const gradient_context& g) {
  std::vector<attribute> out;
  for (size_t i = 0; i < 5; ++i) out.push_back(g.attr(i));
  return out;
}

std::vector<uint32_t> listed(const shape& dims) {
  return {dims.sizes().begin(), dims.sizes().end()};
}

void attention_gradient(gradient_context& g) {
  std::vector<reg> operands{g.upstream(),
                            g.operand(0),
                            g.operand(1),
                            g.operand(2),
                            g.emit(op::second_of, {g.self()}),
                            g.has(3) ? g.operand(3) : no_register};
  auto attributes = all_attributes(g);
  if (g.wants(3)) g.give(3, g.emit(op::attention_mask_backward, operands, attributes));
  if (!g.wants(0) && !g.wants(1) && !g.wants(2)) return;
  auto packed = g.emit(op::attention_backward, operands, attributes);
  const std::array shapes{g.type_of(g.operand(0)).dims, g.type_of(g.operand(1)).dims,
                          g.type_of(g.operand(2)).dims};
  const attention_shape sizes(shapes[0], shapes[1], shapes[2], attributes);
  const auto dim = static_cast<int64_t>(g.type_of(packed).dims.rank()) - 1;
  const std::array<int64_t, 3> lengths{sizes.group * sizes.queries * sizes.width,
                                       sizes.keys * sizes.width, sizes.keys * sizes.v_width};
  int64_t start = 0;
  for (size_t n = 0; n < 3; ++n) {
    if (g.wants(n)) {
      auto part = g.emit(op::narrow, {packed}, {dim, start, lengths[n]});
      g.give(n, g.emit(op::reshape, {part}, {listed(shapes[n])}));
    }
    start += lengths[n];
  }
}

/// Operands g, q, k, v, …: for each head of k and v the gradients of its part of q, of k and of v,
/// one after the other.
result<register_type> infer_attention_backward(const rule_context& c) {
  auto &q = c.operand(1), &k = c.operand(2), &v = c.operand(3);
  std::vector<attribute> attributes;
  for (size_t i = 0; i < 5; ++i) attributes.push_back(c.attr(i));
  const attention_shape sizes(q.dims, k.dims, v.dims, attributes);
  register_type out{q.type, q.storage, without_last(k.dims, 2), {}};
  out.factors.assign(k.factors.begin(), k.factors.end() - 2);
  out.dims.push(sizes.packed());
  out.factors.push_back(c.fresh_axis(sizes.packed()));
  if (auto ok = want_size(out.dims); !ok) return ok.error();
  return out;
}

/// Along what comes before the queries, which all operands but the mask, the last one, have where
/// the result has it. Fewer heads of k and v aren't split, and what draws has no rule.
template <size_t Q>
std::vector<split_axis> split_attention(const typed_call& call) {
  std::vector<split_axis> axes;
  if (std::holds_alternative<double>(call.attributes[4])) return axes; // dropout
  const bool fewer = std::holds_alternative<int64_t>(call.attributes[3]);
  const auto& q = call.operands[Q]->dims;
  const auto* mask = call.operands.back();
  for (size_t i = 0; i + 2 < q.rank(); ++i) {
    if (fewer && i + 3 == q.rank()) continue;
    const auto at = static_cast<int>(i);
    split_axis axis{.operand_dims = std::vector<int>(call.operands.size(), at),
                    .result_dim = at,
                    .second_dim = at};
    axis.operand_dims.back() = -1;
    if (mask != nullptr) {
      const auto place = at - static_cast<int>(q.rank() - mask->dims.rank());
      if (place >= 0 && mask->dims[static_cast<size_t>(place)] == q[i])
        axis.operand_dims.back() = place;
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

/// Both products, and the exponentials as 10.
template <size_t First>
cost attention_cost(const typed_call& call) {
  auto sum = traffic(call, 0);
  auto &q = call.operands[First]->dims, &k = call.operands[First + 1]->dims,
       &v = call.operands[First + 2]->dims;
  auto weights = static_cast<double>(without_last(q, 1).elements() * k.last(1));
  auto products = 2.0 * static_cast<double>(q.last() + v.last());
  // Backward there are the weights once more, and two products for each of these.
  sum.flops = weights * (First == 0 ? products + 10 : 2.5 * products + 20);
  return sum;
}

struct attention_sample {
  sample call; ///< operands q, k, v, mask
  shape weights;
};

attention_sample sampled_attention(sampler& random) {
  shape lead;
  for (auto more = random.below(3); more > 0; --more) lead.push(random.size());
  auto heads = 1 + random.below(3), group = random.coin() ? 1 + random.below(3) : 0;
  auto queries = random.size(), keys = random.coin() ? queries : random.size();
  auto width = random.some(), v_width = random.coin() ? width : random.some();
  bool many = group > 0 || lead.rank() > 0;
  auto dims = [&](int64_t count, int64_t places, int64_t last) {
    auto out = lead;
    if (many) out.push(count);
    out.push(places);
    out.push(last);
    return out;
  };
  auto q_heads = group > 0 ? heads * group : heads;
  attention_sample out{
    {{random.tensor(dims(q_heads, queries, width)), random.tensor(dims(heads, keys, width)),
      random.tensor(dims(heads, keys, v_width)), std::nullopt},
     {random.coin() ? attribute{random.coin()} : attribute{},
      random.coin() ? attribute{0.5} : attribute{},
      random.below(3) == 0 ? attribute{1 + random.below(4)} : attribute{},
      group > 0 ? attribute{heads} : attribute{}, attribute{}}},
    dims(q_heads, queries, keys)};
  if (auto kind = random.below(3); kind > 0) {
    auto mask = random.broadcast_to(out.weights);
    out.call.operands[3] = kind == 1 ? random.mask(mask) : random.tensor(mask);
  }
  return out;
}

sample attention_example(sampler& random) {
  return sampled_attention(random).call;
}

sample attention_backward_example(sampler& random) {
  auto [call, weights] = sampled_attention(random);
  auto g = call.operands[0]->dims;
  g[g.rank() - 1] = call.operands[2]->dims.last();
  sample_operand kept{random.type() == dtype::f64 ? dtype::f64 : dtype::f32, weights,
                      contents::unit};
  // Weights of keys that are not seen are 0, which random ones are not.
  call.attributes[0] = call.attributes[2] = {};
  return {{random.tensor(g), call.operands[0], call.operands[1], call.operands[2], kept,
           call.operands[3]},
          call.attributes};
}

std::vector<field> attention_fields(bool backward) {
  std::vector<field> out;
  if (backward) out.push_back({"g", field_kind::reg});
  for (auto name : {"q", "k", "v"}) out.push_back({name, field_kind::reg});
  if (backward) out.push_back({"kept", field_kind::reg});
  if (!backward) out.push_back({"causal", field_kind::boolean, true});
  out.push_back({"mask", field_kind::opt_reg});
  if (backward) out.push_back({"causal", field_kind::boolean, true});
  out.push_back({"scale", field_kind::float64, true});
  out.push_back({"window", field_kind::nat32, true});
  out.push_back({"kv_heads", field_kind::nat32, true});
  out.push_back({"dropout", field_kind::float64, true});
  return out;
}

row attention_row() {
  return {
    .id = op::attention,
    .name = "attention",
    .sentence = "softmax(scale · q · transpose(k)) · v for q [.., heads, queries, width], k [.., "
                "keys, width] and v [.., keys, any width]: `causal` hides the keys after a query's "
                "own place, `window` those that many places away or more, a boolean `mask` those "
                "where it is false, while a floating-point one is added; a query that sees nothing "
                "gets zeros. `dropout` drops weights in a run with `train`. `kv_heads` says that k "
                "and v have fewer heads, each for several of q's. scale is 1 / √width.",
    .reference = "torch.nn.functional.scaled_dot_product_attention",
    .fields = attention_fields(false),
    .strided = true,
    .pure = false,
    .settle =
      [](operation& what, bool trains) {
        if (!trains) what.attributes[4] = {};
      },
    .infer = infer_attention,
    .gradient = attention_gradient,
    .training_form = op::attention_train,
    .split = split_attention<0>,
    .costs = attention_cost<0>,
    .pytorch = "attention(q, k, v, causal, mask, scale, window, kv_heads)",
    .example = attention_example,
    .wrong = [](sampler& random) -> wrong_sample {
      auto x = random.tensor({2, 3});
      return {{{x, x, random.tensor({3, 3}), std::nullopt},
               {attribute{}, attribute{}, attribute{}, attribute{}, attribute{}}},
              device_errc::shape_mismatch};
    },
    .tolerance = 16,
  };
}

row attention_backward_row(op id, std::string_view name, std::string_view sentence,
                           result<register_type> (*infer)(const rule_context&)) {
  return {
    .id = id,
    .name = name,
    .sentence = sentence,
    .reference = "internal",
    .fields = attention_fields(true),
    .strided = true,
    .pure = false,
    .infer = infer,
    .no_gradient = "second derivatives of attention have no rule",
    .split = split_attention<1>,
    .costs = attention_cost<1>,
    .example = attention_backward_example,
    .tolerance = 64,
  };
}

// -- rope ----------------------------------------------------------------------

result<register_type> infer_rope(const rule_context& c) {
  auto& x = c.operand(0);
  if (auto ok = want_float("x", x); !ok) return ok.error();
  if (x.dims.rank() < 2 || x.dims.last() % 2 != 0)
    return complain(device_errc::shape_mismatch,
                    "x is {}; [.., places, width] of even width wanted", to_string(x.dims));
  auto base = std::get_if<double>(&c.attr(0));
  if (base && !(*base > 0 && std::isfinite(*base)))
    return complain(device_errc::invalid_value, "base is {}; a finite number above 0 wanted",
                    *base);
  return x;
}

template <op Back>
void rope_gradient(gradient_context& g) {
  g.give(0, g.emit(Back, {g.upstream()}, {g.attr(0), g.attr(1), g.attr(2)}));
}

sample rope_example(sampler& random) {
  auto dims = random.dims(1, 3);
  dims.push(2 * random.below(5));
  return {{random.tensor(dims)},
          {random.coin() ? attribute{100.0} : attribute{},
           random.coin() ? attribute{random.below(5)} : attribute{},
           random.coin() ? attribute{random.coin()} : attribute{}}};
}

row rope_row(op id, std::string_view name, std::string_view sentence,
             void (*gradient)(gradient_context&)) {
  return {
    .id = id,
    .name = name,
    .sentence = sentence,
    .reference = "Su et al., RoFormer",
    .fields = {{"x", field_kind::reg},
               {"base", field_kind::float64, true},
               {"start", field_kind::nat32, true},
               {"interleaved", field_kind::boolean, true}},
    .strided = true,
    .infer = infer_rope,
    .gradient = gradient,
    .split = [](const typed_call& call) { return leading_axes(call.result->dims.rank() - 2, 1); },
    .costs = [](const typed_call& call) { return traffic(call, 3); },
    .pytorch = "rope(x, base, start, interleaved)",
    .example = rope_example,
    .wrong = [](sampler& random) -> wrong_sample {
      return {{{random.tensor({2, 3})}, {attribute{}, attribute{}, attribute{}}},
              device_errc::shape_mismatch};
    },
    .tolerance = 8,
  };
}

} // namespace

std::vector<row> attention_rows() {
  auto forward = attention_row();
  auto train = forward;
  train.id = op::attention_train;
  train.name = "attention_train";
  train.sentence = "attention, and as second result its weights, or the logarithm of their sum.";
  train.infer_second = attention_kept;
  auto back = rope_row(op::rope_backward, "rope_backward", "rope by the opposite angles.",
                       rope_gradient<op::rope>);
  back.wrong = nullptr;
  back.pytorch = {};
  return {
    forward,
    train,
    attention_backward_row(op::attention_backward, "attention_backward",
                           "The gradients of attention for q, k and v, packed by heads.",
                           infer_attention_backward),
    attention_backward_row(
      op::attention_mask_backward, "attention_mask_backward",
      "The gradient of attention for a mask that is added.",
      [](const rule_context& c) -> result<register_type> { return weights_type(c, 1); }),
    rope_row(
      op::rope, "rope",
      "x [.., places, width] with each pair of a place's elements turned by (start + place) / "
      "base^(pair / pairs): pairs are halves apart, or next to each other if `interleaved`; "
      "base is 10000, start 0.",
      rope_gradient<op::rope_backward>),
    back,
  };
}

} // namespace moxzi::device
