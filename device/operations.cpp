// Written from the table of operations. After a change of the table:
//   MOXZI_WRITE_INTERFACE=1 ctest --preset release -R operations_text
// clang-format off

#include "device/operations.hpp"

namespace moxzi::device {

var operations_without_operands::input(uint32_t number) {
  return operation_call(op::input, in_).with(number).made();
}

var operations_without_operands::param(std::string name) {
  return operation_call(op::param, in_).with(name).made();
}

var narrow(var x, uint32_t dim, uint32_t start, uint32_t len) {
  return operation_call(op::narrow).on(x).with(dim).with(start).with(len).made();
}

var reshape(var x, std::vector<uint32_t> shape) {
  return operation_call(op::reshape).on(x).with(shape).made();
}

var cast(var x, device::dtype to) {
  return operation_call(op::cast).on(x).with(to).made();
}

var embedding(var table, var ids) {
  return operation_call(op::embedding).on(table).on(ids).made();
}

var where(var cond, var a, var b) {
  return operation_call(op::where).on(cond).on(a).on(b).made();
}

var mask_fill(var x, var mask, double value) {
  return operation_call(op::mask_fill).on(x).on(mask).with(value).made();
}

var neg(var x) {
  return operation_call(op::neg).on(x).made();
}

var abs(var x) {
  return operation_call(op::abs).on(x).made();
}

var sign(var x) {
  return operation_call(op::sign).on(x).made();
}

var exp(var x) {
  return operation_call(op::exp).on(x).made();
}

var expm1(var x) {
  return operation_call(op::expm1).on(x).made();
}

var log(var x) {
  return operation_call(op::log).on(x).made();
}

var log1p(var x) {
  return operation_call(op::log1p).on(x).made();
}

var sqrt(var x) {
  return operation_call(op::sqrt).on(x).made();
}

var rsqrt(var x) {
  return operation_call(op::rsqrt).on(x).made();
}

var square(var x) {
  return operation_call(op::square).on(x).made();
}

var reciprocal(var x) {
  return operation_call(op::reciprocal).on(x).made();
}

var sin(var x) {
  return operation_call(op::sin).on(x).made();
}

var cos(var x) {
  return operation_call(op::cos).on(x).made();
}

var tanh(var x) {
  return operation_call(op::tanh).on(x).made();
}

var erf(var x) {
  return operation_call(op::erf).on(x).made();
}

var floor(var x) {
  return operation_call(op::floor).on(x).made();
}

var ceil(var x) {
  return operation_call(op::ceil).on(x).made();
}

var round(var x) {
  return operation_call(op::round).on(x).made();
}

var logical_not(var x) {
  return operation_call(op::logical_not).on(x).made();
}

var is_nan(var x) {
  return operation_call(op::is_nan).on(x).made();
}

var relu(var x) {
  return operation_call(op::relu).on(x).made();
}

var sigmoid(var x) {
  return operation_call(op::sigmoid).on(x).made();
}

var silu(var x) {
  return operation_call(op::silu).on(x).made();
}

var gelu(var x) {
  return operation_call(op::gelu).on(x).made();
}

var gelu_tanh(var x) {
  return operation_call(op::gelu_tanh).on(x).made();
}

var softplus(var x) {
  return operation_call(op::softplus).on(x).made();
}

var mish(var x) {
  return operation_call(op::mish).on(x).made();
}

var leaky_relu(var x, double slope) {
  return operation_call(op::leaky_relu).on(x).with(slope).made();
}

var elu(var x, double alpha) {
  return operation_call(op::elu).on(x).with(alpha).made();
}

var clamp(var x, const clamp_options& options) {
  return operation_call(op::clamp).on(x).with(options.min).with(options.max).made();
}

var add(var a, var b) {
  return operation_call(op::add).on(a).on(b).made();
}

var sub(var a, var b) {
  return operation_call(op::sub).on(a).on(b).made();
}

var mul(var a, var b) {
  return operation_call(op::mul).on(a).on(b).made();
}

var div(var a, var b) {
  return operation_call(op::div).on(a).on(b).made();
}

var rem(var a, var b) {
  return operation_call(op::rem).on(a).on(b).made();
}

var pow(var a, var b) {
  return operation_call(op::pow).on(a).on(b).made();
}

var minimum(var a, var b) {
  return operation_call(op::minimum).on(a).on(b).made();
}

var maximum(var a, var b) {
  return operation_call(op::maximum).on(a).on(b).made();
}

var add_scalar(var x, double by) {
  return operation_call(op::add_scalar).on(x).with(by).made();
}

var mul_scalar(var x, double by) {
  return operation_call(op::mul_scalar).on(x).with(by).made();
}

var pow_scalar(var x, double by) {
  return operation_call(op::pow_scalar).on(x).with(by).made();
}

var eq(var a, var b) {
  return operation_call(op::eq).on(a).on(b).made();
}

var ne(var a, var b) {
  return operation_call(op::ne).on(a).on(b).made();
}

var lt(var a, var b) {
  return operation_call(op::lt).on(a).on(b).made();
}

var le(var a, var b) {
  return operation_call(op::le).on(a).on(b).made();
}

var gt(var a, var b) {
  return operation_call(op::gt).on(a).on(b).made();
}

var ge(var a, var b) {
  return operation_call(op::ge).on(a).on(b).made();
}

var logical_and(var a, var b) {
  return operation_call(op::logical_and).on(a).on(b).made();
}

var logical_or(var a, var b) {
  return operation_call(op::logical_or).on(a).on(b).made();
}

var logical_xor(var a, var b) {
  return operation_call(op::logical_xor).on(a).on(b).made();
}

var linear(var x, var w, std::optional<var> b) {
  return operation_call(op::linear).on(x).on(w).on(b).made();
}

var softmax(var x, uint32_t dim) {
  return operation_call(op::softmax).on(x).with(dim).made();
}

var log_softmax(var x, uint32_t dim) {
  return operation_call(op::log_softmax).on(x).with(dim).made();
}

var layer_norm(var x, std::optional<var> w, std::optional<var> b,
    const layer_norm_options& options) {
  return operation_call(op::layer_norm).on(x).on(w).on(b).with(options.eps).with(options.dims)
    .made();
}

var rms_norm(var x, std::optional<var> w, const rms_norm_options& options) {
  return operation_call(op::rms_norm).on(x).on(w).with(options.eps).made();
}

var group_norm(var x, uint32_t groups, std::optional<var> w, std::optional<var> b,
    const group_norm_options& options) {
  return operation_call(op::group_norm).on(x).with(groups).on(w).on(b).with(options.eps).made();
}

var attention(var q, var k, var v, const attention_options& options) {
  return operation_call(op::attention).on(q).on(k).on(v).with(options.causal).on(options.mask)
    .with(options.scale).with(options.window).with(options.kv_heads).with(options.dropout).made();
}

var rope(var x, const rope_options& options) {
  return operation_call(op::rope).on(x).with(options.base).with(options.start)
    .with(options.interleaved).made();
}

var cross_entropy(var logits, var targets) {
  return operation_call(op::cross_entropy).on(logits).on(targets).made();
}

} // namespace moxzi::device
