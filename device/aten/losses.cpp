#include <limits>

#include "device/aten/kernels.hpp"
#include "device/ops/options.hpp"

namespace moxzi::device::aten {

namespace {

// -- of rows with a target -----------------------------------------------------

std::optional<int64_t> ignored(const attribute& from) {
  auto value = std::get_if<int64_t>(&from);
  return value ? std::optional(*value) : std::nullopt;
}

/// 1 for rows that count.
at::Tensor counted(const at::Tensor& targets, const attribute& skip,
                   const at::TensorOptions& like) {
  const auto wide = targets.reshape({-1}).to(at::kLong);
  auto value = std::get_if<int64_t>(&skip);
  return value ? wide.ne(*value).to(like) : at::ones(wide.sizes(), like);
}

/// True in each row's column.
at::Tensor hits(const at::Tensor& targets, int64_t classes) {
  return targets.unsqueeze(1).eq(at::arange(classes, targets.options()));
}

constexpr int64_t nothing_ignored = std::numeric_limits<int64_t>::min();

/// The mean over all rows, each with its target alone.
void plain_cross_entropy(const aten_call& call, const at::Tensor& targets) {
  auto& logits = call.inputs[0];
  auto loss = call.outputs[0];
  auto logs = at::_log_softmax(logits, 1, false);
  auto total = at::empty({}, logits.options());
  at::nll_loss_forward_out(loss, total, logs, targets, {}, at::Reduction::Mean, nothing_ignored);
  if (call.outputs.size() < 2) return;
  auto one = at::ones({}, logits.options());
  auto picked =
    at::nll_loss_backward(one, logs, targets, {}, at::Reduction::Mean, nothing_ignored, total);
  auto gradient = call.outputs[1];
  at::_log_softmax_backward_data_out(gradient, picked, logs, 1, logits.scalar_type());
}

void full_cross_entropy(const aten_call& call, const at::Tensor& targets) {
  const auto how = reduction_of(call.attributes[0]);
  const auto logits = at_least_f32(call.inputs[0]);
  const auto classes = logits.size(1);
  const auto smoothing = real_number(call.attributes[2], 0);
  const auto weights = call.inputs[2].defined() ? call.inputs[2].to(logits.scalar_type())
                                                : at::ones({classes}, logits.options());
  const auto rows = counted(call.inputs[1], call.attributes[1], logits.options());
  const auto logs = at::log_softmax(logits, 1);
  const auto hit = hits(targets, classes);
  const auto own = weights.index_select(0, targets) * rows;
  const auto each = smoothing / static_cast<double>(classes);
  // Which share of its row's loss each class' -log has.
  const auto share = (hit.to(weights.scalar_type()) * (1 - smoothing) + each) * weights;
  const auto losses = (share * logs).sum(1).neg() * rows;
  const auto divisor = how == reduction::mean ? own.sum() : at::ones({}, own.options());
  call.outputs[0].copy_(how == reduction::none ? losses : losses.sum() / divisor);
  if (call.outputs.size() < 2) return;
  const auto slope = logs.exp() * share.sum(1, true) - share;
  call.outputs[1].copy_((slope / divisor).masked_fill(rows.eq(0).unsqueeze(1), 0));
}

void cross_entropy(const aten_call& call, index_watch& watch) {
  auto& logits = call.inputs[0];
  auto& out = call.outputs[0];
  const auto targets =
    checked(call.inputs[1], "targets", logits.size(1), watch, ignored(call.attributes[1]));
  if (logits.numel() == 0) {
    const bool mean = reduction_of(call.attributes[0]) == reduction::mean;
    out.fill_(mean ? std::numeric_limits<double>::quiet_NaN() : 0);
    return;
  }
  const bool plain = reduction_of(call.attributes[0]) == reduction::mean
                     && !ignored(call.attributes[1]) && real_number(call.attributes[2], 0) == 0
                     && !call.inputs[2].defined();
  plain ? plain_cross_entropy(call, targets) : full_cross_entropy(call, targets);
}

void nll(const aten_call& call, index_watch& watch) {
  const auto how = reduction_of(call.attributes[0]);
  const auto logs = at_least_f32(call.inputs[0]);
  const auto targets =
    checked(call.inputs[1], "targets", logs.size(1), watch, ignored(call.attributes[1]));
  auto& out = call.outputs[0];
  if (logs.numel() == 0) {
    out.fill_(how == reduction::mean ? std::numeric_limits<double>::quiet_NaN() : 0);
    return;
  }
  const auto rows =
    counted(call.inputs[1], call.attributes[1], at::TensorOptions(at::kBool).device(logs.device()));
  const auto losses =
    logs.gather(1, targets.unsqueeze(1)).squeeze(1).neg().masked_fill(rows.logical_not(), 0);
  if (how == reduction::none)
    out.copy_(losses);
  else
    out.copy_(how == reduction::mean ? losses.sum() / rows.sum() : losses.sum());
}

void nll_backward(const aten_call& call, index_watch& watch) {
  auto& out = call.outputs[0];
  const auto how = reduction_of(call.attributes[0]);
  const auto gradient = at_least_f32(call.inputs[0]);
  const auto targets =
    checked(call.inputs[1], "targets", out.size(1), watch, ignored(call.attributes[1]));
  if (out.numel() == 0) return;
  const auto rows = counted(call.inputs[1], call.attributes[1], gradient.options());
  auto each = how == reduction::mean ? gradient / rows.sum() : gradient;
  each = (each * rows).neg().unsqueeze(1);
  const auto misses = hits(targets, out.size(1)).logical_and_(rows.to(at::kBool).unsqueeze(1));
  out.copy_(each.expand(out.sizes()).masked_fill(misses.logical_not(), 0));
}

// -- element by element --------------------------------------------------------

int64_t reduction_number(reduction how) {
  switch (how) {
    case reduction::mean:
      return at::Reduction::Mean;
    case reduction::sum:
      return at::Reduction::Sum;
    default:
      return at::Reduction::None;
  }
}

template <op Id>
void difference(const aten_call& call, index_watch&) {
  const auto a = at_least_f32(call.inputs[0]), b = at_least_f32(call.inputs[1]);
  const auto how = reduction_number(reduction_of(call.attributes.back()));
  auto& out = call.outputs[0];
  if constexpr (Id == op::mse)
    out.copy_(at::mse_loss(a, b, how));
  else if constexpr (Id == op::l1)
    out.copy_(at::l1_loss(a, b, how));
  else if constexpr (Id == op::huber)
    out.copy_(at::huber_loss(a, b, how, std::get<double>(call.attributes[0])));
  else if constexpr (Id == op::bce_logits)
    out.copy_(at::binary_cross_entropy_with_logits(a, b, {}, {}, how));
  else
    out.copy_(at::kl_div(a, b, how));
}

} // namespace

aten_kernel find_loss_kernel(op id) noexcept {
  switch (id) {
    case op::cross_entropy:
    case op::cross_entropy_train:
      return cross_entropy;
    case op::nll:
      return nll;
    case op::nll_backward:
      return nll_backward;
    case op::mse:
      return difference<op::mse>;
    case op::l1:
      return difference<op::l1>;
    case op::huber:
      return difference<op::huber>;
    case op::bce_logits:
      return difference<op::bce_logits>;
    case op::kl:
      return difference<op::kl>;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::aten
