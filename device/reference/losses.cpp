#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "device/ops/options.hpp"
#include "device/reference/kernels.hpp"

namespace moxzi::device::reference {

namespace {

// -- of rows with a target -----------------------------------------------------

std::optional<int64_t> ignored(const attribute& from) {
  auto value = std::get_if<int64_t>(&from);
  return value ? std::optional(*value) : std::nullopt;
}

/// Both rows: with a second output also the gradient.
bool cross_entropy(const kernel_call& call, fault& why) {
  auto &logits = call.inputs[0], &targets = call.inputs[1], &weights = call.inputs[2];
  auto rows = logits.dims[0], classes = logits.dims[1];
  auto how = reduction_of(call.attributes[0]);
  auto skip = ignored(call.attributes[1]);
  auto smoothing = real_number(call.attributes[2], 0);
  auto weight = [&](int64_t c) { return weights.data ? get(weights, c) : 1.0; };
  double all = 0, divisor = 0, loss = 0;
  for (int64_t c = 0; c < classes; ++c) all += weight(c);
  for (int64_t r = 0; r < rows; ++r) {
    auto target = get_integer(targets, r);
    if (target == skip) continue;
    if (target < 0 || target >= classes) return index_fault(why, "targets", target, classes);
    divisor += weight(target);
  }
  if (how != reduction::mean) divisor = 1;
  for (int64_t r = 0; r < rows; ++r) {
    auto target = get_integer(targets, r);
    bool skipped = target == skip;
    auto logit = [&](int64_t c) { return get(logits, r * classes + c); };
    auto highest = -std::numeric_limits<double>::infinity();
    for (int64_t c = 0; c < classes; ++c) highest = std::max(highest, logit(c));
    double sum = 0, mine = 0;
    for (int64_t c = 0; c < classes; ++c) sum += std::exp(logit(c) - highest);
    // Which share of the loss each class' -log has.
    auto share = [&](int64_t c) {
      return weight(c)
             * ((c == target ? 1 - smoothing : 0) + smoothing / static_cast<double>(classes));
    };
    auto shares = weight(skipped ? 0 : target) * (1 - smoothing)
                  + smoothing / static_cast<double>(classes) * all;
    for (int64_t c = 0; c < classes && !skipped; ++c)
      if (share(c) != 0) mine += share(c) * (highest + std::log(sum) - logit(c));
    loss += mine;
    if (how == reduction::none) set(call.outputs[0], r, mine);
    for (int64_t c = 0; c < classes && call.outputs.size() > 1; ++c)
      set(call.outputs[1], r * classes + c,
          skipped ? 0 : (std::exp(logit(c) - highest) / sum * shares - share(c)) / divisor);
  }
  if (how != reduction::none) set(call.outputs[0], 0, loss / divisor);
  return true;
}

/// Calls `work(row, target)` for the rows that count; their number, or nothing if a target is
/// outside.
template <class Work>
std::optional<double> for_targets(const tensor_view& targets, int64_t classes,
                                  const attribute& skip, fault& why, const Work& work) {
  double count = 0;
  for (int64_t r = 0; r < targets.elements; ++r) {
    auto target = get_integer(targets, r);
    if (target == ignored(skip)) continue;
    if (target < 0 || target >= classes) {
      index_fault(why, "targets", target, classes);
      return std::nullopt;
    }
    work(r, target);
    ++count;
  }
  return count;
}

bool nll(const kernel_call& call, fault& why) {
  auto &logs = call.inputs[0], &out = call.outputs[0];
  auto classes = logs.dims[1];
  auto how = reduction_of(call.attributes[0]);
  double sum = 0;
  for (int64_t n = 0; n < out.elements; ++n) set(out, n, 0);
  auto count =
    for_targets(call.inputs[1], classes, call.attributes[1], why, [&](int64_t row, int64_t target) {
      auto loss = -get(logs, row * classes + target);
      sum += loss;
      if (how == reduction::none) set(out, row, loss);
    });
  if (!count) return false;
  if (how != reduction::none) set(out, 0, how == reduction::mean ? sum / *count : sum);
  return true;
}

bool nll_backward(const kernel_call& call, fault& why) {
  auto &gradient = call.inputs[0], &targets = call.inputs[1], &out = call.outputs[0];
  auto classes = out.dims[1];
  auto how = reduction_of(call.attributes[0]);
  for (int64_t n = 0; n < out.elements; ++n) set(out, n, 0);
  auto count = for_targets(targets, classes, call.attributes[1], why, [](int64_t, int64_t) {});
  if (!count) return false;
  for_targets(targets, classes, call.attributes[1], why, [&](int64_t row, int64_t target) {
    auto by = get(gradient, how == reduction::none ? row : 0);
    set(out, row * classes + target, how == reduction::mean ? -by / *count : -by);
  });
  return true;
}

// -- element by element --------------------------------------------------------

double loss_of(op id, double a, double b, double delta) {
  auto apart = std::abs(a - b);
  switch (id) {
    case op::mse:
      return apart * apart;
    case op::l1:
      return apart;
    case op::huber:
      return apart <= delta ? apart * apart / 2 : delta * (apart - delta / 2);
    case op::bce_logits:
      return std::max(a, 0.0) - a * b + std::log1p(std::exp(-std::abs(a)));
    default: // kl
      return (b == 0 ? 0 : b * std::log(b)) - b * a;
  }
}

bool difference(const kernel_call& call, fault&) {
  auto &a = call.inputs[0], &b = call.inputs[1], &out = call.outputs[0];
  auto how = reduction_of(call.attributes.back());
  auto delta = real_number(call.attributes[0], 0);
  double sum = 0;
  for (int64_t n = 0; n < a.elements; ++n) {
    auto loss = loss_of(call.id, get(a, n), get(b, n), delta);
    sum += loss;
    if (how == reduction::none) set(out, n, loss);
  }
  if (how != reduction::none)
    set(out, 0, how == reduction::mean ? sum / static_cast<double>(a.elements) : sum);
  return true;
}

} // namespace

kernel_function find_loss_kernel(op id) noexcept {
  switch (id) {
    case op::cross_entropy:
    case op::cross_entropy_train:
      return cross_entropy;
    case op::nll:
      return nll;
    case op::nll_backward:
      return nll_backward;
    case op::mse:
    case op::l1:
    case op::huber:
    case op::bce_logits:
    case op::kl:
      return difference;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::reference
