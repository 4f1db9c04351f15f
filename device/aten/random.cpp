// What draws random numbers.

#include <cmath>
#include <limits>
#include <numbers>

#include "device/aten/draws.hpp"
#include "device/host_executable.hpp"

namespace moxzi::device::aten {

namespace {

/// As `normal_of`, for all elements.
at::Tensor normals(const aten_call& call, int64_t elements) {
  constexpr auto lanes = static_cast<int64_t>(draw_lanes);
  const auto whole = (elements + 4 * lanes - 1) / (4 * lanes) * 4 * lanes;
  const auto words =
    words_of_elements(call, call.attributes[2], whole).to(at::kDouble).view({-1, 2, 2, lanes});
  const auto radius = words.select(2, 0).add(0.5).mul(0x1p-32).log().mul(-2).sqrt();
  const auto angle = words.select(2, 1).mul(2 * std::numbers::pi).mul(0x1p-32);
  return at::stack({radius * angle.cos(), radius * angle.sin()}, 2)
    .view({-1})
    .narrow(0, 0, elements);
}

void random(const aten_call& call, index_watch&) {
  auto& out = call.outputs[0];
  if (out.numel() == 0) return;
  auto* p = std::get_if<double>(&call.attributes[1]);
  if (!p && std::get<int64_t>(call.attributes[1]) == 1) {
    out.copy_(normals(call, out.numel()).view(out.sizes()));
    return;
  }
  const auto words = words_of_elements(call, call.attributes[2], out.numel()).view(out.sizes());
  if (p)
    out.copy_(words.lt(static_cast<int64_t>(words_below(*p))));
  else
    out.copy_(words.bitwise_right_shift(8).to(at::kFloat).mul_(0x1p-24));
}

void dropout(const aten_call& call, index_watch&) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  if (out.numel() == 0) return;
  const auto p = std::get<double>(call.attributes[0]);
  const auto kept = kept_by_dropout(call, call.attributes[1], out.sizes(), p);
  out.copy_(at::where(kept, x * dropout_scale(p), at::zeros({}, x.options())));
}

// -- categorical ---------------------------------------------------------------

/// Weights of classes that may not be drawn become 0.
at::Tensor permitted(const at::Tensor& weights, const attribute& top_k, const attribute& top_p) {
  auto* k = std::get_if<int64_t>(&top_k);
  auto* p = std::get_if<double>(&top_p);
  if (!k && !p) return weights;
  auto [sorted, order] = at::sort(weights, true, -1, true);
  const auto classes = weights.size(-1);
  if (k && *k < classes) sorted.narrow(-1, *k, classes - *k).zero_();
  if (p) {
    const auto sums = sorted.cumsum(-1);
    const auto before =
      at::cat({at::zeros_like(sums.narrow(-1, 0, 1)), sums.narrow(-1, 0, classes - 1)}, -1);
    auto out = before.ge(sums.narrow(-1, classes - 1, 1) * *p);
    out.narrow(-1, 0, 1).fill_(false);
    sorted.masked_fill_(out, 0);
  }
  return at::zeros_like(weights).scatter_(-1, order, sorted);
}

void categorical(const aten_call& call, index_watch& watch) {
  auto& out = call.outputs[0];
  if (out.numel() == 0) return;
  auto* given = std::get_if<double>(&call.attributes[0]);
  const double temperature = given ? *given : 1;
  const auto logits = call.inputs[0].to(at::kDouble).reshape({out.numel(), -1});
  const auto most = logits.amax(-1, true);
  // A row's largest is NaN where any is.
  const auto wrong = most.isfinite().logical_not().view({-1});
  if (watch.named && !watch.first && wrong.any().item<bool>()) {
    auto& why = watch.first.emplace();
    why.code = device_errc::index_range;
    why.what = fmt::format("row {} of logits has no largest number to choose by",
                           wrong.to(at::kByte).argmax().item<int64_t>());
  }
  if (watch.bad.defined()) watch.bad.logical_or_(wrong.any());
  if (temperature == 0) {
    out.copy_(logits.eq(most).to(at::kByte).argmax(-1).view(out.sizes()));
    return;
  }
  const auto weights =
    permitted((logits - most).div_(temperature).exp_(), call.attributes[1], call.attributes[2]);
  const auto below = weights.cumsum(-1);
  const auto& seed = call.attributes[3];
  const auto high = words_of_blocks(call, seed, out.numel(), 0);
  const auto low = words_of_blocks(call, seed, out.numel(), 1);
  const auto uniform =
    high.mul(1 << 20).add(low.bitwise_right_shift(12)).to(at::kDouble).mul_(0x1p-52).unsqueeze(-1);
  const auto target = uniform * below.narrow(-1, below.size(-1) - 1, 1);
  out.copy_(below.le(target).sum(-1).clamp(0, below.size(-1) - 1).view(out.sizes()));
}

} // namespace

aten_kernel find_random_kernel(op id) noexcept {
  switch (id) {
    case op::random:
      return random;
    case op::dropout_active:
      return dropout;
    case op::categorical:
      return categorical;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::aten
