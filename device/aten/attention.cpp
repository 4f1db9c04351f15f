// attention, its backward rows, and rope. Halves are computed in f32.

#include <limits>

#include "device/aten/draws.hpp"
#include "device/ops/attention_shape.hpp"

namespace moxzi::device::aten {

namespace {

at::Tensor wide(const at::Tensor& x) {
  return x.scalar_type() != at::kDouble ? x.to(at::kFloat) : x;
}

shape shape_of(const at::Tensor& x) {
  return shape(std::span<const int64_t>(x.sizes().data(), x.sizes().size()));
}

/// One call: q [batch, heads, group, queries, width] and k, v with a group of 1, which is repeated.
class attending {
public:
  attending(const aten_call& call, size_t first)
      : sizes(shape_of(call.inputs[first]), shape_of(call.inputs[first + 1]),
              shape_of(call.inputs[first + 2]), call.attributes),
        mask_(call.inputs.back()) {
    q = grouped(wide(call.inputs[first]), sizes.queries);
    k = shared(wide(call.inputs[first + 1]));
    v = shared(wide(call.inputs[first + 2]));
    const auto dims = call.inputs[first].sizes();
    lead_.assign(dims.begin(), dims.end() - 2);
  }

  /// A tensor with q's heads.
  at::Tensor grouped(const at::Tensor& x, int64_t places) const {
    return x.reshape({sizes.batch, sizes.heads, sizes.group, places, x.size(-1)});
  }

  /// What may be seen, as one tensor to add to scores; undefined = everything.
  at::Tensor hidden() const {
    at::Tensor out;
    if (!sizes.sees_all()) {
      const auto options = q.options().dtype(at::kLong);
      const auto i = at::arange(sizes.queries, options).unsqueeze(1);
      const auto away = at::arange(sizes.keys, options).unsqueeze(0) - i; // of key from query
      auto far = away.abs().ge(sizes.window);
      if (sizes.causal) far = far.logical_or(away.gt(0));
      out = at::zeros(far.sizes(), q.options()).masked_fill_(far, minus_infinity);
    }
    if (!mask_.defined()) return out;
    auto mask =
      mask_.scalar_type() == at::kBool
        ? at::zeros(mask_.sizes(), q.options()).masked_fill_(mask_.logical_not(), minus_infinity)
        : wide(mask_);
    // Its heads are q's: split where they are there, all alike where not.
    std::vector<int64_t> to(5, 1);
    const auto rank = mask.dim();
    for (int64_t d = 1; d <= rank && d <= 2; d++)
      to[static_cast<size_t>(5 - d)] = mask.size(rank - d);
    if (rank > 2) {
      std::vector<int64_t> whole(lead_);
      whole.push_back(to[3]);
      whole.push_back(to[4]);
      mask = mask.expand(whole).reshape({sizes.batch, sizes.heads, sizes.group, to[3], to[4]});
    } else {
      mask = mask.reshape(to);
    }
    return out.defined() ? out + mask : mask;
  }

  /// The weights, and for each query the logarithm of the sum of their exponentials.
  at::Tensor weights(at::Tensor& log_sum) const {
    auto scores = at::matmul(q, k.transpose(-1, -2)).mul_(sizes.scale);
    if (const auto less = hidden(); less.defined()) scores.add_(less);
    log_sum = at::logsumexp(scores, -1);
    auto out = at::exp(scores - log_sum.unsqueeze(-1));
    // A query that sees nothing has no weights.
    return out.masked_fill_(scores.eq(minus_infinity), 0);
  }

  attention_shape sizes;
  at::Tensor q, k, v;

private:
  static constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

  at::Tensor shared(const at::Tensor& x) const {
    return x.reshape({sizes.batch, sizes.heads, 1, sizes.keys, x.size(-1)});
  }

  at::Tensor mask_;
  std::vector<int64_t> lead_; ///< q's dimensions before the queries
};

/// Weights, or their gradient, with what dropout leaves of them.
at::Tensor dropped(const aten_call& call, const attention_shape& sizes, const at::Tensor& weights) {
  if (!std::holds_alternative<double>(call.attributes[4])) return weights;
  const auto kept = kept_by_dropout(call, {}, weights.sizes(), sizes.dropout);
  return at::where(kept, weights * dropout_scale(sizes.dropout), at::zeros({}, weights.options()));
}

void attention(const aten_call& call, index_watch&) {
  auto out = call.outputs[0];
  const attending all(call, 0);
  if (all.sizes.keys == 0 || call.inputs[0].numel() == 0) {
    out.zero_();
    if (call.outputs.size() > 1) call.outputs[1].fill_(0);
    return;
  }
  at::Tensor log_sum;
  const auto weights = all.weights(log_sum);
  out.copy_(at::matmul(dropped(call, all.sizes, weights), all.v).reshape(out.sizes()));
  if (call.outputs.size() < 2) return;
  auto& kept = call.outputs[1];
  const bool whole = kept.dim() == call.inputs[0].dim();
  kept.copy_((whole ? weights : log_sum).reshape(kept.sizes()));
}

/// Weights and the gradient of the scores before the scale.
void backward_of(const aten_call& call, const attending& all, const at::Tensor& g,
                 at::Tensor& weights, at::Tensor& scores) {
  const auto& kept = call.inputs[4];
  at::Tensor ignored;
  weights = kept.dim() == call.inputs[1].dim() ? all.grouped(kept, all.sizes.queries)
                                               : all.weights(ignored);
  const auto from = dropped(call, all.sizes, at::matmul(g, all.v.transpose(-1, -2)));
  scores = weights * (from - (from * weights).sum(-1, true));
}

void attention_backward(const aten_call& call, index_watch&) {
  const attending all(call, 1);
  auto& sizes = all.sizes;
  if (call.outputs[0].numel() == 0) return;
  if (sizes.queries == 0 || sizes.keys == 0) {
    call.outputs[0].zero_();
    return;
  }
  const auto g = all.grouped(wide(call.inputs[0]), sizes.queries);
  at::Tensor weights, scores;
  backward_of(call, all, g, weights, scores);
  scores.mul_(sizes.scale);
  auto out = call.outputs[0].view({sizes.batch, sizes.heads, sizes.packed()});
  int64_t start = 0;
  const auto put = [&](const at::Tensor& part, int64_t length) {
    out.narrow(-1, start, length).copy_(part.reshape({sizes.batch, sizes.heads, length}));
    start += length;
  };
  put(at::matmul(scores, all.k), sizes.group * sizes.queries * sizes.width);
  put(at::matmul(scores.transpose(-1, -2), all.q).sum(2), sizes.keys * sizes.width);
  put(at::matmul(dropped(call, sizes, weights).transpose(-1, -2), g).sum(2),
      sizes.keys * sizes.v_width);
}

void attention_mask_backward(const aten_call& call, index_watch&) {
  if (call.outputs[0].numel() == 0) return;
  const attending all(call, 1);
  at::Tensor weights, scores;
  backward_of(call, all, all.grouped(wide(call.inputs[0]), all.sizes.queries), weights, scores);
  call.outputs[0].copy_(scores.reshape(call.outputs[0].sizes()));
}

// -- rope ----------------------------------------------------------------------

void turn(const aten_call& call, double direction) {
  const auto &x = call.inputs[0], &out = call.outputs[0];
  if (x.numel() == 0) return;
  auto* base = std::get_if<double>(&call.attributes[0]);
  auto* start = std::get_if<int64_t>(&call.attributes[1]);
  auto* beside = std::get_if<bool>(&call.attributes[2]);
  const auto pairs = x.size(-1) / 2;
  const auto options = x.options().dtype(at::kDouble);
  const auto rates =
    at::pow(base ? *base : 10000.0, at::arange(pairs, options).div_(-static_cast<double>(pairs)));
  const auto places = at::arange(x.size(-2), options).add_(start ? *start : 0);
  const auto angles = at::outer(places, rates).mul_(direction);
  const auto type = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto cosines = angles.cos().to(type), sines = angles.sin().to(type);
  const bool near = beside && *beside;
  const auto half = [&](const at::Tensor& of, int64_t which) {
    return near ? of.slice(-1, which, std::nullopt, 2) : of.narrow(-1, which * pairs, pairs);
  };
  const auto a = wide(half(x, 0)), b = wide(half(x, 1));
  half(out, 0).copy_(a * cosines - b * sines);
  half(out, 1).copy_(a * sines + b * cosines);
}

void rope(const aten_call& call, index_watch&) {
  turn(call, 1);
}

void rope_backward(const aten_call& call, index_watch&) {
  turn(call, -1);
}

} // namespace

aten_kernel find_attention_kernel(op id) noexcept {
  switch (id) {
    case op::attention:
    case op::attention_train:
      return attention;
    case op::attention_backward:
      return attention_backward;
    case op::attention_mask_backward:
      return attention_mask_backward;
    case op::rope:
      return rope;
    case op::rope_backward:
      return rope_backward;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::aten
