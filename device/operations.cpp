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

var operations_without_operands::value(std::string name) {
  return operation_call(op::value, in_).with(name).made();
}

var operations_without_operands::scalar(double value) {
  return operation_call(op::scalar, in_).with(value).made();
}

var operations_without_operands::full(std::vector<uint32_t> shape, double value,
    const full_options& options) {
  return operation_call(op::full, in_).with(shape).with(value).with(options.dtype).made();
}

var operations_without_operands::arange(int64_t start, int64_t end, const arange_options& options) {
  return operation_call(op::arange, in_).with(start).with(end).with(options.step)
    .with(options.dtype).made();
}

var operations_without_operands::eye(uint32_t n, const eye_options& options) {
  return operation_call(op::eye, in_).with(n).with(options.dtype).made();
}

var operations_without_operands::random(std::vector<uint32_t> shape, distribution kind,
    const random_options& options) {
  return operation_call(op::random, in_).with(shape).with(kind).with(options.seed).made();
}

var narrow(var x, uint32_t dim, uint32_t start, uint32_t len) {
  return operation_call(op::narrow).on(x).with(dim).with(start).with(len).made();
}

var slice(var x, uint32_t dim, uint32_t start, uint32_t end, uint32_t step) {
  return operation_call(op::slice).on(x).with(dim).with(start).with(end).with(step).made();
}

var select(var x, uint32_t dim, uint32_t index) {
  return operation_call(op::select).on(x).with(dim).with(index).made();
}

var reshape(var x, std::vector<uint32_t> shape) {
  return operation_call(op::reshape).on(x).with(shape).made();
}

var flatten(var x, uint32_t from, uint32_t to) {
  return operation_call(op::flatten).on(x).with(from).with(to).made();
}

var permute(var x, std::vector<uint32_t> dims) {
  return operation_call(op::permute).on(x).with(dims).made();
}

var transpose(var x, uint32_t a, uint32_t b) {
  return operation_call(op::transpose).on(x).with(a).with(b).made();
}

var squeeze(var x, uint32_t dim) {
  return operation_call(op::squeeze).on(x).with(dim).made();
}

var unsqueeze(var x, uint32_t dim) {
  return operation_call(op::unsqueeze).on(x).with(dim).made();
}

var expand(var x, std::vector<uint32_t> shape) {
  return operation_call(op::expand).on(x).with(shape).made();
}

var repeat(var x, std::vector<uint32_t> times) {
  return operation_call(op::repeat).on(x).with(times).made();
}

var concat(const std::vector<var>& xs, uint32_t dim) {
  return operation_call(op::concat).on(xs).with(dim).made();
}

var stack(const std::vector<var>& xs, uint32_t dim) {
  return operation_call(op::stack).on(xs).with(dim).made();
}

var pad(var x, std::vector<uint32_t> before, std::vector<uint32_t> after, double value) {
  return operation_call(op::pad).on(x).with(before).with(after).with(value).made();
}

var flip(var x, std::vector<uint32_t> dims) {
  return operation_call(op::flip).on(x).with(dims).made();
}

var roll(var x, uint32_t dim, int32_t shift) {
  return operation_call(op::roll).on(x).with(dim).with(shift).made();
}

var tril(var x, int32_t diagonal) {
  return operation_call(op::tril).on(x).with(diagonal).made();
}

var triu(var x, int32_t diagonal) {
  return operation_call(op::triu).on(x).with(diagonal).made();
}

var cast(var x, device::dtype to) {
  return operation_call(op::cast).on(x).with(to).made();
}

var detach(var x) {
  return operation_call(op::detach).on(x).made();
}

var recompute(var x) {
  return operation_call(op::recompute).on(x).made();
}

var embedding(var table, var ids) {
  return operation_call(op::embedding).on(table).on(ids).made();
}

var gather(var x, uint32_t dim, var ids) {
  return operation_call(op::gather).on(x).with(dim).on(ids).made();
}

var index_select(var x, uint32_t dim, var ids) {
  return operation_call(op::index_select).on(x).with(dim).on(ids).made();
}

var scatter(var x, uint32_t dim, var ids, var src) {
  return operation_call(op::scatter).on(x).with(dim).on(ids).on(src).made();
}

var scatter_add(var x, uint32_t dim, var ids, var src) {
  return operation_call(op::scatter_add).on(x).with(dim).on(ids).on(src).made();
}

var one_hot(var ids, uint32_t classes) {
  return operation_call(op::one_hot).on(ids).with(classes).made();
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

var matmul(var a, var b, const matmul_options& options) {
  return operation_call(op::matmul).on(a).on(b).with(options.ta).with(options.tb).made();
}

var einsum(std::string eq, const std::vector<var>& xs) {
  return operation_call(op::einsum).with(eq).on(xs).made();
}

var conv(var x, var w, std::optional<var> b, const conv_options& options) {
  return operation_call(op::conv).on(x).on(w).on(b).with(options.stride).with(options.padding)
    .with(options.dilation).with(options.groups).with(options.output_padding).made();
}

var conv_transpose(var x, var w, std::optional<var> b, const conv_transpose_options& options) {
  return operation_call(op::conv_transpose).on(x).on(w).on(b).with(options.stride)
    .with(options.padding).with(options.dilation).with(options.groups)
    .with(options.output_padding).made();
}

var unfold(var x, std::vector<uint32_t> kernel, const unfold_options& options) {
  return operation_call(op::unfold).on(x).with(kernel).with(options.stride).with(options.padding)
    .made();
}

var max_pool(var x, std::vector<uint32_t> kernel, const max_pool_options& options) {
  return operation_call(op::max_pool).on(x).with(kernel).with(options.stride)
    .with(options.padding).made();
}

var avg_pool(var x, std::vector<uint32_t> kernel, const avg_pool_options& options) {
  return operation_call(op::avg_pool).on(x).with(kernel).with(options.stride)
    .with(options.padding).made();
}

var global_avg_pool(var x) {
  return operation_call(op::global_avg_pool).on(x).made();
}

var upsample(var x, std::vector<uint32_t> scale, const upsample_options& options) {
  return operation_call(op::upsample).on(x).with(scale).with(options.mode).made();
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

var batch_norm(var x, std::string mean, std::string variance, std::optional<var> w,
    std::optional<var> b, const batch_norm_options& options) {
  return operation_call(op::batch_norm).on(x).on(w).on(b).with(mean).with(variance)
    .with(options.momentum).with(options.eps).with(options.train).made();
}

var dropout(var x, double p, const dropout_options& options) {
  return operation_call(op::dropout).on(x).with(p).with(options.seed).made();
}

var attention(var q, var k, var v, const attention_options& options) {
  return operation_call(op::attention).on(q).on(k).on(v).with(options.causal).on(options.mask)
    .with(options.scale).with(options.window).with(options.kv_heads).with(options.dropout).made();
}

var rope(var x, const rope_options& options) {
  return operation_call(op::rope).on(x).with(options.base).with(options.start)
    .with(options.interleaved).made();
}

var rnn(var x, var w_ih, var w_hh, std::optional<var> b_ih, std::optional<var> b_hh,
    std::optional<var> h0, std::optional<var> c0, const rnn_options& options) {
  return operation_call(op::rnn).on(x).on(w_ih).on(w_hh).on(b_ih).on(b_hh).on(h0).on(c0)
    .with(options.reverse).with(options.out).made();
}

var gru(var x, var w_ih, var w_hh, std::optional<var> b_ih, std::optional<var> b_hh,
    std::optional<var> h0, std::optional<var> c0, const gru_options& options) {
  return operation_call(op::gru).on(x).on(w_ih).on(w_hh).on(b_ih).on(b_hh).on(h0).on(c0)
    .with(options.reverse).with(options.out).made();
}

var lstm(var x, var w_ih, var w_hh, std::optional<var> b_ih, std::optional<var> b_hh,
    std::optional<var> h0, std::optional<var> c0, const lstm_options& options) {
  return operation_call(op::lstm).on(x).on(w_ih).on(w_hh).on(b_ih).on(b_hh).on(h0).on(c0)
    .with(options.reverse).with(options.out).made();
}

var sum(var x, const sum_options& options) {
  return operation_call(op::sum).on(x).with(options.dims).with(options.keep).made();
}

var mean(var x, const mean_options& options) {
  return operation_call(op::mean).on(x).with(options.dims).with(options.keep).made();
}

var prod(var x, const prod_options& options) {
  return operation_call(op::prod).on(x).with(options.dims).with(options.keep).made();
}

var max(var x, const max_options& options) {
  return operation_call(op::max).on(x).with(options.dims).with(options.keep).made();
}

var min(var x, const min_options& options) {
  return operation_call(op::min).on(x).with(options.dims).with(options.keep).made();
}

var logsumexp(var x, const logsumexp_options& options) {
  return operation_call(op::logsumexp).on(x).with(options.dims).with(options.keep).made();
}

var any(var x, const any_options& options) {
  return operation_call(op::any).on(x).with(options.dims).with(options.keep).made();
}

var all(var x, const all_options& options) {
  return operation_call(op::all).on(x).with(options.dims).with(options.keep).made();
}

var variance(var x, const variance_options& options) {
  return operation_call(op::variance).on(x).with(options.dims).with(options.keep)
    .with(options.unbiased).made();
}

var std(var x, const std_options& options) {
  return operation_call(op::std).on(x).with(options.dims).with(options.keep)
    .with(options.unbiased).made();
}

var norm(var x, double p, const norm_options& options) {
  return operation_call(op::norm).on(x).with(p).with(options.dims).with(options.keep).made();
}

var argmax(var x, uint32_t dim) {
  return operation_call(op::argmax).on(x).with(dim).made();
}

var argmin(var x, uint32_t dim) {
  return operation_call(op::argmin).on(x).with(dim).made();
}

var cumsum(var x, uint32_t dim) {
  return operation_call(op::cumsum).on(x).with(dim).made();
}

var cumprod(var x, uint32_t dim) {
  return operation_call(op::cumprod).on(x).with(dim).made();
}

var sort(var x, uint32_t dim, const sort_options& options) {
  return operation_call(op::sort).on(x).with(dim).with(options.descending).made();
}

var argsort(var x, uint32_t dim, const argsort_options& options) {
  return operation_call(op::argsort).on(x).with(dim).with(options.descending).made();
}

var topk_values(var x, uint32_t dim, uint32_t k) {
  return operation_call(op::topk_values).on(x).with(dim).with(k).made();
}

var topk_indices(var x, uint32_t dim, uint32_t k) {
  return operation_call(op::topk_indices).on(x).with(dim).with(k).made();
}

var cross_entropy(var logits, var targets, const cross_entropy_options& options) {
  return operation_call(op::cross_entropy).on(logits).on(targets).with(options.reduce)
    .with(options.ignore_index).with(options.smoothing).on(options.class_weights).made();
}

var nll(var log_probs, var targets, const nll_options& options) {
  return operation_call(op::nll).on(log_probs).on(targets).with(options.reduce)
    .with(options.ignore_index).made();
}

var bce_logits(var logits, var targets, const bce_logits_options& options) {
  return operation_call(op::bce_logits).on(logits).on(targets).with(options.reduce).made();
}

var mse(var a, var b, const mse_options& options) {
  return operation_call(op::mse).on(a).on(b).with(options.reduce).made();
}

var l1(var a, var b, const l1_options& options) {
  return operation_call(op::l1).on(a).on(b).with(options.reduce).made();
}

var huber(var a, var b, double delta, const huber_options& options) {
  return operation_call(op::huber).on(a).on(b).with(delta).with(options.reduce).made();
}

var kl(var log_q, var p, const kl_options& options) {
  return operation_call(op::kl).on(log_q).on(p).with(options.reduce).made();
}

var categorical(var logits, const categorical_options& options) {
  return operation_call(op::categorical).on(logits).with(options.temperature).with(options.top_k)
    .with(options.top_p).with(options.seed).made();
}

var store(var x, std::string name) {
  return operation_call(op::store).on(x).with(name).made();
}

var assign(var x, std::string name) {
  return operation_call(op::assign).on(x).with(name).made();
}

var grad(var loss, var x) {
  return operation_call(op{140}).on(loss).on(x).made();
}

} // namespace moxzi::device
