#include "device/aten/kernels.hpp"

#include <algorithm>

#include "device/host_executable.hpp"

namespace moxzi::device::aten {

namespace {

/// All dimensions but the last as one.
at::Tensor as_rows(const at::Tensor& x) {
  int64_t rows = 1;
  for (int64_t i = 0; i + 1 < x.dim(); i++) rows *= x.size(i);
  return x.reshape({rows, x.size(-1)});
}

// -- indexing ------------------------------------------------------------------

void embedding(const aten_call& call, index_watch& watch) {
  auto &table = call.inputs[0], &out = call.outputs[0];
  auto ids = checked(call.inputs[1], "ids", table.size(0), watch);
  if (out.numel() == 0 || table.size(0) == 0) return;
  auto rows = as_rows(out);
  at::index_select_out(rows, table, 0, ids);
}

/// `index_add` and `scatter_add` add in any order on a GPU; this one sorts and is repeatable.
void embedding_backward(const aten_call& call, index_watch& watch) {
  auto &gradient = call.inputs[0], &out = call.outputs[0];
  auto ids = checked(call.inputs[1], "ids", out.size(0), watch);
  if (out.numel() == 0) return;
  if (ids.numel() == 0) {
    out.zero_();
    return;
  }
  out.copy_(at::embedding_dense_backward(as_rows(gradient), ids, out.size(0), -1, false));
}

// -- linear --------------------------------------------------------------------

void linear(const aten_call& call, index_watch&) {
  auto x = as_rows(call.inputs[0]), out = as_rows(call.outputs[0]);
  if (out.numel() == 0) return;
  if (call.inputs.size() > 2 && call.inputs[2].defined())
    at::addmm_out(out, call.inputs[2], x, call.inputs[1].t());
  else
    at::mm_out(out, x, call.inputs[1].t());
}

void linear_input_backward(const aten_call& call, index_watch&) {
  auto out = as_rows(call.outputs[0]);
  at::mm_out(out, as_rows(call.inputs[0]), call.inputs[1]);
}

void linear_weight_backward(const aten_call& call, index_watch&) {
  auto out = call.outputs[0];
  at::mm_out(out, as_rows(call.inputs[0]).t(), as_rows(call.inputs[1]));
}

void linear_bias_backward(const aten_call& call, index_watch&) {
  auto out = call.outputs[0];
  at::sum_out(out, as_rows(call.inputs[0]), 0);
}

} // namespace

at::Tensor checked(const at::Tensor& ids, const char* name, int64_t limit, index_watch& watch,
                   std::optional<int64_t> ignored) {
  auto wide = ids.reshape({-1}).to(at::kLong);
  if (wide.numel() == 0) return wide;
  auto wrong = wide.lt(0).logical_or_(wide.ge(limit));
  if (ignored) wrong.logical_and_(wide.ne(*ignored));
  if (watch.named && !watch.first && wrong.any().item<bool>()) {
    const auto first = wrong.to(at::kByte).argmax().item<int64_t>();
    index_fault(watch.first.emplace(), name, wide[first].item<int64_t>(), limit);
  }
  if (watch.bad.defined()) watch.bad.logical_or_(wrong.any());
  return wide.clamp(0, std::max<int64_t>(limit - 1, 0));
}

at::Tensor seen_signed(const at::Tensor& x) {
  if (x.scalar_type() == at::kUInt16) return x.view(at::kShort);
  return x.scalar_type() == at::kUInt32 ? x.view(at::kInt) : x;
}

at::Tensor widened(const at::Tensor& x) {
  const bool rare = x.scalar_type() == at::kUInt16 || x.scalar_type() == at::kUInt32;
  return rare ? x.to(at::kLong) : x;
}

aten_kernel find_kernel(op id) noexcept {
  if (auto* found = find_normalisation_kernel(id)) return found;
  if (auto* found = find_attention_kernel(id)) return found;
  for (auto* find :
       {find_moving_kernel, find_picking_kernel, find_reduction_kernel, find_order_kernel})
    if (auto* kernel = find(id)) return kernel;
  if (auto* found = find_random_kernel(id)) return found;
  if (auto* found = find_batch_norm_kernel(id)) return found;
  switch (id) {
    case op::embedding:
      return embedding;
    case op::embedding_backward:
      return embedding_backward;
    case op::linear:
      return linear;
    case op::linear_input_backward:
      return linear_input_backward;
    case op::linear_weight_backward:
      return linear_weight_backward;
    case op::linear_bias_backward:
      return linear_bias_backward;
    default:
      break;
  }
  for (auto find :
       {find_product_kernel, find_pooling_kernel, find_loss_kernel, find_recurrent_kernel})
    if (auto kernel = find(id)) return kernel;
  return nullptr;
}

at::Tensor at_least_f32(const at::Tensor& x) {
  const bool half =
    x.defined() && (x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16);
  return half ? x.to(at::kFloat) : x;
}

at::ScalarType scalar_type(elem type) {
  switch (type) {
    case elem::u8:
      return at::kByte;
    case elem::i8:
      return at::kChar;
    case elem::u16:
      return at::kUInt16;
    case elem::i16:
      return at::kShort;
    case elem::u32:
      return at::kUInt32;
    case elem::i32:
      return at::kInt;
    case elem::i64:
      return at::kLong;
    case elem::f16:
      return at::kHalf;
    case elem::bf16:
      return at::kBFloat16;
    case elem::f32:
      return at::kFloat;
    case elem::f64:
      return at::kDouble;
    default:
      return at::kBool;
  }
}

elem elem_of(at::ScalarType type) {
  for (int i = 0; i <= static_cast<int>(elem::boolean); i++)
    if (scalar_type(static_cast<elem>(i)) == type) return static_cast<elem>(i);
  TORCH_CHECK(false, "no element is a ", type);
}

} // namespace moxzi::device::aten
