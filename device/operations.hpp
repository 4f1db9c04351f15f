#pragma once

// Written from the table of operations. After a change of the table:
//   MOXZI_WRITE_INTERFACE=1 ctest --preset release -R operations_text
// clang-format off

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/var.hpp"

/// All operations of programs. Shapes are written [rows, columns]; what an option is when it is
/// absent, its operation's sentence or the named reference says.
namespace moxzi::device {

enum class mode_choice : int64_t { nearest, linear };

enum class out_choice : int64_t { sequence, last, cell };

enum class reduce_choice : int64_t { mean, sum, none };

// -- sources

/// What `full` can be told beside its operands.
struct full_options {
  std::optional<device::dtype> dtype = {};
};

/// What `arange` can be told beside its operands.
struct arange_options {
  std::optional<int64_t> step = {};
  std::optional<device::dtype> dtype = {};
};

/// What `eye` can be told beside its operands.
struct eye_options {
  std::optional<device::dtype> dtype = {};
};

/// What `random` can be told beside its operands.
struct random_options {
  std::optional<uint64_t> seed = {};
};

/// The operations that take no value: members of `program_builder`.
class operations_without_operands {
public:
  /// The tensor sent as input of this number; integers compute as i64, floats as f32.
  var input(uint32_t number);

  /// The parameter of this name, as it is before the step.
  var param(std::string name);

  /// The stored value of this name, as it is before the run.
  var value(std::string name);

  /// One number, f32, of no dimensions.
  /// As torch.tensor.
  var scalar(double value);

  /// `value` everywhere; f32 unless `dtype` says otherwise.
  /// As torch.full.
  var full(std::vector<uint32_t> shape, double value, const full_options& options = {});

  /// start, start + step, …, without `end`; steps of 1 and i64 unless said otherwise.
  /// As torch.arange.
  var arange(int64_t start, int64_t end, const arange_options& options = {});

  /// The unit matrix [n, n]; f32 unless `dtype` says otherwise.
  /// As torch.eye.
  var eye(uint32_t n, const eye_options& options = {});

  /// Random f32 numbers: uniform from 0 to below 1, standard normal, or 1 with the probability
  /// `bernoulli` and else 0; others in each run, unless the run or this has a seed.
  /// As Philox-4x32-10 (Salmon et al.).
  var random(std::vector<uint32_t> shape, distribution kind, const random_options& options = {});

protected:
  operations_without_operands() = default;
  void attach(program_under_way* to) noexcept {
    in_ = to;
  }

private:
  program_under_way* in_ = nullptr;
};

// -- shape

/// `len` places of dimension `dim`, from `start` on.
/// As torch.narrow.
var narrow(var x, uint32_t dim, uint32_t start, uint32_t len);

/// Places start, start + step, … of dimension `dim`, before `end`.
/// As NumPy's x[start:end:step].
var slice(var x, uint32_t dim, uint32_t start, uint32_t end, uint32_t step);

/// Place `index` of dimension `dim`, which the result lacks.
/// As torch.select.
var select(var x, uint32_t dim, uint32_t index);

/// The same elements in another shape; one size may be 4294967295, which leaves it open.
/// As torch.reshape.
var reshape(var x, std::vector<uint32_t> shape);

/// Dimensions `from` to `to` merged into one.
/// As torch.flatten.
var flatten(var x, uint32_t from, uint32_t to);

/// The dimensions of x in another order.
/// As torch.permute.
var permute(var x, std::vector<uint32_t> dims);

/// Dimensions a and b in each other's place.
/// As torch.transpose.
var transpose(var x, uint32_t a, uint32_t b);

/// x without dimension `dim`, whose size is 1.
/// As torch.squeeze.
var squeeze(var x, uint32_t dim);

/// x with one more dimension, of size 1, which is number `dim`.
/// As torch.unsqueeze.
var unsqueeze(var x, uint32_t dim);

/// x repeated, where its size is 1 or it has no such dimension, up to the shape.
/// As torch.Tensor.expand.
var expand(var x, std::vector<uint32_t> shape);

/// x as often along each dimension as `times` says; new dimensions come first.
/// As torch.Tensor.repeat.
var repeat(var x, std::vector<uint32_t> times);

/// All of xs, one after the other along dimension `dim`.
/// As torch.cat.
var concat(const std::vector<var>& xs, uint32_t dim);

/// All of xs, of one shape, along a new dimension, number `dim` of the result.
/// As torch.stack.
var stack(const std::vector<var>& xs, uint32_t dim);

/// x with so many places of `value` before and after it in each dimension.
/// As torch.nn.functional.pad.
var pad(var x, std::vector<uint32_t> before, std::vector<uint32_t> after, double value);

/// x with the order of these dimensions reversed.
/// As torch.flip.
var flip(var x, std::vector<uint32_t> dims);

/// x moved along dimension `dim` by `shift` places; what leaves at one end comes in at the other.
/// As torch.roll.
var roll(var x, uint32_t dim, int32_t shift);

/// Matrices with 0 above their diagonal, or another one that is `diagonal` places to the right.
/// As torch.tril.
var tril(var x, int32_t diagonal);

/// Matrices with 0 below their diagonal, or another one that is `diagonal` places to the right.
/// As torch.triu.
var triu(var x, int32_t diagonal);

/// x in another type; floats are cut to integers towards 0, and what is not 0 is true.
var cast(var x, device::dtype to);

/// x, through which no gradient flows.
/// As torch.Tensor.detach.
var detach(var x);

/// x; for its gradient, what it was made from is made again, back to inputs, parameters, other
/// recomputes and what is random, and not kept.
/// As torch.utils.checkpoint.
var recompute(var x);

// -- indexing

/// For each of `ids` that row of `table` [rows, columns]: ids' shape with columns added.
/// As torch.nn.functional.embedding.
var embedding(var table, var ids);

/// For each of ids that place of x along dimension `dim`; ids' shape.
/// As torch.gather.
var gather(var x, uint32_t dim, var ids);

/// The places of dimension `dim` that ids, of one dimension, name.
/// As torch.index_select.
var index_select(var x, uint32_t dim, var ids);

/// x, and src instead where ids say along dimension `dim`; of several for one place the last.
/// As torch.scatter.
var scatter(var x, uint32_t dim, var ids, var src);

/// x, and src added where ids say along dimension `dim`.
/// As torch.scatter_add.
var scatter_add(var x, uint32_t dim, var ids, var src);

/// For each of ids a row of `classes` i64, 0 but 1 at that place.
/// As torch.nn.functional.one_hot.
var one_hot(var ids, uint32_t classes);

/// a where cond is true, else b.
/// As torch.where.
var where(var cond, var a, var b);

/// x, but `value` where the mask is true.
/// As torch.masked_fill.
var mask_fill(var x, var mask, double value);

// -- element by element

/// -x.
/// As torch.neg.
var neg(var x);

/// x without its sign.
/// As torch.abs.
var abs(var x);

/// -1, 0 or 1, as x is.
/// As torch.sign.
var sign(var x);

/// e to the power of x.
/// As torch.exp.
var exp(var x);

/// e to the power of x, less 1, exact near 0.
/// As torch.expm1.
var expm1(var x);

/// The natural logarithm.
/// As torch.log.
var log(var x);

/// The natural logarithm of 1 + x, exact near 0.
/// As torch.log1p.
var log1p(var x);

/// The square root.
/// As torch.sqrt.
var sqrt(var x);

/// 1 / the square root.
/// As torch.rsqrt.
var rsqrt(var x);

/// x · x.
/// As torch.square.
var square(var x);

/// 1 / x.
/// As torch.reciprocal.
var reciprocal(var x);

/// The sine of radians.
/// As torch.sin.
var sin(var x);

/// The cosine of radians.
/// As torch.cos.
var cos(var x);

/// The hyperbolic tangent.
/// As torch.tanh.
var tanh(var x);

/// The error function.
/// As torch.erf.
var erf(var x);

/// The largest integer not above x.
/// As torch.floor.
var floor(var x);

/// The smallest integer not below x.
/// As torch.ceil.
var ceil(var x);

/// The nearest integer, half to even.
/// As torch.round.
var round(var x);

/// True where x is false or 0.
/// As torch.logical_not.
var logical_not(var x);

/// True where x is not a number.
/// As torch.isnan.
var is_nan(var x);

/// x, but 0 where that is below 0.
/// As torch.nn.functional.relu.
var relu(var x);

/// 1 / (1 + e to the power of -x).
/// As torch.sigmoid.
var sigmoid(var x);

/// x · sigmoid(x).
/// As torch.nn.functional.silu.
var silu(var x);

/// x times the normal distribution's share below x.
/// As torch.nn.functional.gelu.
var gelu(var x);

/// gelu by its approximation with tanh.
/// As torch.nn.functional.gelu.
var gelu_tanh(var x);

/// log(1 + e to the power of x).
/// As torch.nn.functional.softplus.
var softplus(var x);

/// x · tanh(softplus(x)).
/// As torch.nn.functional.mish.
var mish(var x);

/// x, but slope · x where that is below 0.
/// As torch.nn.functional.leaky_relu.
var leaky_relu(var x, double slope);

/// x, but alpha · (e to the power of x, less 1) where that is below 0.
/// As torch.nn.functional.elu.
var elu(var x, double alpha);

/// What `clamp` can be told beside its operands.
struct clamp_options {
  std::optional<double> min = {};
  std::optional<double> max = {};
};

/// x, but no less than `min` and no more than `max`.
/// As torch.clamp.
var clamp(var x, const clamp_options& options = {});

/// a + b.
/// As torch.add.
var add(var a, var b);

/// a - b.
/// As torch.sub.
var sub(var a, var b);

/// a · b.
/// As torch.mul.
var mul(var a, var b);

/// a / b.
/// As torch.div.
var div(var a, var b);

/// The remainder of a / b, with the sign of b.
/// As torch.remainder.
var rem(var a, var b);

/// a to the power of b.
/// As torch.pow.
var pow(var a, var b);

/// The lesser of a and b; NaN if one is.
/// As torch.minimum.
var minimum(var a, var b);

/// The greater of a and b; NaN if one is.
/// As torch.maximum.
var maximum(var a, var b);

/// x + by.
var add_scalar(var x, double by);

/// x · by.
var mul_scalar(var x, double by);

/// x to the power of `by`.
/// As torch.pow.
var pow_scalar(var x, double by);

/// True where a = b.
/// As torch.eq.
var eq(var a, var b);

/// True where a ≠ b.
/// As torch.ne.
var ne(var a, var b);

/// True where a < b.
/// As torch.lt.
var lt(var a, var b);

/// True where a ≤ b.
/// As torch.le.
var le(var a, var b);

/// True where a > b.
/// As torch.gt.
var gt(var a, var b);

/// True where a ≥ b.
/// As torch.ge.
var ge(var a, var b);

/// True where neither a nor b is false or 0.
/// As torch.logical_and.
var logical_and(var a, var b);

/// True where a or b is neither false nor 0.
/// As torch.logical_or.
var logical_or(var a, var b);

/// True where one of a and b is neither false nor 0.
/// As torch.logical_xor.
var logical_xor(var a, var b);

// -- linear algebra, convolution, pooling

/// x [.., in] times the transpose of w [out, in], plus b [out] if given.
/// As torch.nn.functional.linear.
var linear(var x, var w, std::optional<var> b = {});

/// What `matmul` can be told beside its operands.
struct matmul_options {
  std::optional<bool> ta = {};
  std::optional<bool> tb = {};
};

/// a [.., m, k] times b [.., k, n]; `ta` and `tb` say that the last two dimensions come swapped,
/// leading ones broadcast.
/// As torch.matmul.
var matmul(var a, var b, const matmul_options& options = {});

/// The sum of products that `eq` writes, as "bij,bjk->bik": one letter for each dimension of each
/// x; letters that the result lacks are summed over.
/// As torch.einsum.
var einsum(std::string eq, const std::vector<var>& xs);

/// What `conv` can be told beside its operands.
struct conv_options {
  std::optional<std::vector<uint32_t>> stride = {};
  std::optional<std::vector<uint32_t>> padding = {};
  std::optional<std::vector<uint32_t>> dilation = {};
  std::optional<uint32_t> groups = {};
  std::optional<std::vector<uint32_t>> output_padding = {};
};

/// Cross-correlation of x [batch, in, ..] with w [out, in / groups, ..], plus b [out] if given,
/// over 1 to 3 spatial dimensions; lists have one entry for each or one for all.
/// As torch.nn.functional.conv2d.
var conv(var x, var w, std::optional<var> b = {}, const conv_options& options = {});

/// What `conv_transpose` can be told beside its operands.
struct conv_transpose_options {
  std::optional<std::vector<uint32_t>> stride = {};
  std::optional<std::vector<uint32_t>> padding = {};
  std::optional<std::vector<uint32_t>> dilation = {};
  std::optional<uint32_t> groups = {};
  std::optional<std::vector<uint32_t>> output_padding = {};
};

/// The gradient of conv as an operation: x [batch, in, ..] spread by w [in, out / groups, ..],
/// plus b [out] if given.
/// As torch.nn.functional.conv_transpose2d.
var conv_transpose(var x, var w, std::optional<var> b = {},
    const conv_transpose_options& options = {});

/// What `unfold` can be told beside its operands.
struct unfold_options {
  std::optional<std::vector<uint32_t>> stride = {};
  std::optional<std::vector<uint32_t>> padding = {};
};

/// The windows of x [batch, channels, height, width] as columns: [batch, channels · places of a
/// window, windows]; `stride` is 1 unless given.
/// As torch.nn.functional.unfold.
var unfold(var x, std::vector<uint32_t> kernel, const unfold_options& options = {});

/// What `max_pool` can be told beside its operands.
struct max_pool_options {
  std::optional<std::vector<uint32_t>> stride = {};
  std::optional<std::vector<uint32_t>> padding = {};
};

/// The largest of each window of x [batch, channels, ..], over 1 to 3 spatial dimensions;
/// `stride` is the kernel unless given.
/// As torch.nn.functional.max_pool2d.
var max_pool(var x, std::vector<uint32_t> kernel, const max_pool_options& options = {});

/// What `avg_pool` can be told beside its operands.
struct avg_pool_options {
  std::optional<std::vector<uint32_t>> stride = {};
  std::optional<std::vector<uint32_t>> padding = {};
};

/// The mean of each window of x [batch, channels, ..], zeros of the padding counted, over 1 to 3
/// spatial dimensions.
/// As torch.nn.functional.avg_pool2d.
var avg_pool(var x, std::vector<uint32_t> kernel, const avg_pool_options& options = {});

/// The mean over all spatial dimensions of x [batch, channels, ..]: [batch, channels].
/// As torch.nn.functional.adaptive_avg_pool2d.
var global_avg_pool(var x);

/// What `upsample` can be told beside its operands.
struct upsample_options {
  std::optional<mode_choice> mode = {};
};

/// x [batch, channels, ..] with spatial sizes times `scale`: repeated (nearest, unless given) or
/// interpolated between centres (linear).
/// As torch.nn.functional.interpolate.
var upsample(var x, std::vector<uint32_t> scale, const upsample_options& options = {});

// -- normalisation, attention, recurrence

/// e to the power of x over the sum of these along `dim`.
/// As torch.nn.functional.softmax.
var softmax(var x, uint32_t dim);

/// The natural logarithm of softmax along `dim`.
/// As torch.nn.functional.log_softmax.
var log_softmax(var x, uint32_t dim);

/// What `layer_norm` can be told beside its operands.
struct layer_norm_options {
  std::optional<double> eps = {};
  std::optional<uint32_t> dims = {};
};

/// x less its mean, over its deviation, taken over the last `dims` dimensions (1), then times w,
/// plus b; eps is 1e-5.
/// As torch.nn.functional.layer_norm.
var layer_norm(var x, std::optional<var> w = {}, std::optional<var> b = {},
    const layer_norm_options& options = {});

/// What `rms_norm` can be told beside its operands.
struct rms_norm_options {
  std::optional<double> eps = {};
};

/// x over the root of the mean of its squares (plus eps) along the last dimension, times w; eps
/// is the step from 1 to the next number of f32, or of f64.
/// As torch.nn.functional.rms_norm.
var rms_norm(var x, std::optional<var> w = {}, const rms_norm_options& options = {});

/// What `group_norm` can be told beside its operands.
struct group_norm_options {
  std::optional<double> eps = {};
};

/// x [batch, channels, ..] less its mean, over its deviation, taken over each group of channels
/// of each sample, then times w [channels], plus b; eps is 1e-5.
/// As torch.nn.functional.group_norm.
var group_norm(var x, uint32_t groups, std::optional<var> w = {}, std::optional<var> b = {},
    const group_norm_options& options = {});

/// What `batch_norm` can be told beside its operands.
struct batch_norm_options {
  std::optional<double> momentum = {};
  std::optional<double> eps = {};
  std::optional<bool> train = {};
};

/// x [batch, channels, ..] less a mean, over a deviation, times w [channels], plus b. In a run
/// with `train`, or if `train` is true, these are the batch's own, and the stored values `mean`
/// and `variance` move towards them by `momentum` (0.1) when the run succeeds; otherwise they are
/// those values, which begin as 0 and 1. eps is 1e-5.
/// As torch.nn.functional.batch_norm.
var batch_norm(var x, std::string mean, std::string variance, std::optional<var> w = {},
    std::optional<var> b = {}, const batch_norm_options& options = {});

/// What `dropout` can be told beside its operands.
struct dropout_options {
  std::optional<uint64_t> seed = {};
};

/// In a run with `train`, x with each element 0 with probability p and else divided by 1 - p;
/// otherwise x. Others are dropped in each step; the run's or this operation's own seed says
/// which.
/// As torch.nn.functional.dropout.
var dropout(var x, double p, const dropout_options& options = {});

/// What `attention` can be told beside its operands.
struct attention_options {
  std::optional<bool> causal = {};
  std::optional<var> mask = {};
  std::optional<double> scale = {};
  std::optional<uint32_t> window = {};
  std::optional<uint32_t> kv_heads = {};
  std::optional<double> dropout = {};
};

/// softmax(scale · q · transpose(k)) · v for q [.., heads, queries, width], k [.., keys,
/// width] and v [.., keys, any width]: `causal` hides the keys after a query's own place,
/// `window` those that many places away or more, a boolean `mask` those where it is false, while
/// a floating-point one is added; a query that sees nothing gets zeros. `dropout` drops weights
/// in a run with `train`. `kv_heads` says that k and v have fewer heads, each for several of q's.
/// scale is 1 / √width.
/// As torch.nn.functional.scaled_dot_product_attention.
var attention(var q, var k, var v, const attention_options& options = {});

/// What `rope` can be told beside its operands.
struct rope_options {
  std::optional<double> base = {};
  std::optional<uint32_t> start = {};
  std::optional<bool> interleaved = {};
};

/// x [.., places, width] with each pair of a place's elements turned by (start + place) /
/// base^(pair / pairs): pairs are halves apart, or next to each other if `interleaved`; base is
/// 10000, start 0.
/// As Su et al., RoFormer.
var rope(var x, const rope_options& options = {});

/// What `rnn` can be told beside its operands.
struct rnn_options {
  std::optional<bool> reverse = {};
  std::optional<out_choice> out = {};
};

/// h = tanh(w_ih · x + b_ih + w_hh · h + b_hh) over x [batch, time, in], from h0 [batch,
/// hidden] or zeros: all h [batch, time, hidden] or the last.
/// As torch.nn.RNN.
var rnn(var x, var w_ih, var w_hh, std::optional<var> b_ih = {}, std::optional<var> b_hh = {},
    std::optional<var> h0 = {}, std::optional<var> c0 = {}, const rnn_options& options = {});

/// What `gru` can be told beside its operands.
struct gru_options {
  std::optional<bool> reverse = {};
  std::optional<out_choice> out = {};
};

/// A gated recurrence over x [batch, time, in]: all states [batch, time, hidden] or the last;
/// gates in PyTorch's order (reset, update, new).
/// As torch.nn.GRU.
var gru(var x, var w_ih, var w_hh, std::optional<var> b_ih = {}, std::optional<var> b_hh = {},
    std::optional<var> h0 = {}, std::optional<var> c0 = {}, const gru_options& options = {});

/// What `lstm` can be told beside its operands.
struct lstm_options {
  std::optional<bool> reverse = {};
  std::optional<out_choice> out = {};
};

/// Long short-term memory over x [batch, time, in]: all states [batch, time, hidden], the last,
/// or the last cell; gates in PyTorch's order (input, forget, cell, output).
/// As torch.nn.LSTM.
var lstm(var x, var w_ih, var w_hh, std::optional<var> b_ih = {}, std::optional<var> b_hh = {},
    std::optional<var> h0 = {}, std::optional<var> c0 = {}, const lstm_options& options = {});

// -- reductions

/// What `sum` can be told beside its operands.
struct sum_options {
  std::optional<std::vector<uint32_t>> dims = {};
  std::optional<bool> keep = {};
};

/// The sum over `dims`, all unless given, which `keep` leaves with size 1; of integers and
/// booleans an i64.
/// As torch.sum.
var sum(var x, const sum_options& options = {});

/// What `mean` can be told beside its operands.
struct mean_options {
  std::optional<std::vector<uint32_t>> dims = {};
  std::optional<bool> keep = {};
};

/// The mean over `dims`.
/// As torch.mean.
var mean(var x, const mean_options& options = {});

/// What `prod` can be told beside its operands.
struct prod_options {
  std::optional<std::vector<uint32_t>> dims = {};
  std::optional<bool> keep = {};
};

/// The product over `dims`; of integers an i64.
/// As torch.prod.
var prod(var x, const prod_options& options = {});

/// What `max` can be told beside its operands.
struct max_options {
  std::optional<std::vector<uint32_t>> dims = {};
  std::optional<bool> keep = {};
};

/// The greatest over `dims`, NaN if one is; its gradient is shared evenly by all that are.
/// As torch.amax.
var max(var x, const max_options& options = {});

/// What `min` can be told beside its operands.
struct min_options {
  std::optional<std::vector<uint32_t>> dims = {};
  std::optional<bool> keep = {};
};

/// The least over `dims`, NaN if one is; its gradient is shared evenly by all that are.
/// As torch.amin.
var min(var x, const min_options& options = {});

/// What `logsumexp` can be told beside its operands.
struct logsumexp_options {
  std::optional<std::vector<uint32_t>> dims = {};
  std::optional<bool> keep = {};
};

/// The logarithm of the sum of exponentials over `dims`, without overflow.
/// As torch.logsumexp.
var logsumexp(var x, const logsumexp_options& options = {});

/// What `any` can be told beside its operands.
struct any_options {
  std::optional<std::vector<uint32_t>> dims = {};
  std::optional<bool> keep = {};
};

/// True if one over `dims` is true, or not 0.
/// As torch.any.
var any(var x, const any_options& options = {});

/// What `all` can be told beside its operands.
struct all_options {
  std::optional<std::vector<uint32_t>> dims = {};
  std::optional<bool> keep = {};
};

/// True if all over `dims` are true, or not 0.
/// As torch.all.
var all(var x, const all_options& options = {});

/// What `variance` can be told beside its operands.
struct variance_options {
  std::optional<std::vector<uint32_t>> dims = {};
  std::optional<bool> keep = {};
  std::optional<bool> unbiased = {};
};

/// The variance over `dims`, with one less than there are as divisor unless `unbiased` is false.
/// As torch.var.
var variance(var x, const variance_options& options = {});

/// What `std` can be told beside its operands.
struct std_options {
  std::optional<std::vector<uint32_t>> dims = {};
  std::optional<bool> keep = {};
  std::optional<bool> unbiased = {};
};

/// The square root of the variance over `dims`.
/// As torch.std.
var std(var x, const std_options& options = {});

/// What `norm` can be told beside its operands.
struct norm_options {
  std::optional<std::vector<uint32_t>> dims = {};
  std::optional<bool> keep = {};
};

/// (Σ |x|ᵖ) to the power of 1/p over `dims`; p may be infinite.
/// As torch.linalg.vector_norm.
var norm(var x, double p, const norm_options& options = {});

/// Where the greatest along dimension `dim` is, which the result lacks; the first of equals, and
/// of NaNs.
/// As torch.argmax.
var argmax(var x, uint32_t dim);

/// Where the least along dimension `dim` is, which the result lacks; the first of equals, and of
/// NaNs.
/// As torch.argmin.
var argmin(var x, uint32_t dim);

/// Sums of all places up to each along `dim`; of integers i64.
/// As torch.cumsum.
var cumsum(var x, uint32_t dim);

/// Products of all places up to each along `dim`; of integers i64.
/// As torch.cumprod.
var cumprod(var x, uint32_t dim);

/// What `sort` can be told beside its operands.
struct sort_options {
  std::optional<bool> descending = {};
};

/// The least first along dimension `dim`, or last; NaN is the greatest.
/// As torch.sort.
var sort(var x, uint32_t dim, const sort_options& options = {});

/// What `argsort` can be told beside its operands.
struct argsort_options {
  std::optional<bool> descending = {};
};

/// Where each of the sorted values along dimension `dim` comes from, equal ones in their order.
/// As torch.sort.
var argsort(var x, uint32_t dim, const argsort_options& options = {});

/// The `k` greatest along dimension `dim`, the greatest first.
/// As torch.topk.
var topk_values(var x, uint32_t dim, uint32_t k);

/// Where the `k` greatest along dimension `dim` are, the greatest first, equal ones in their
/// order.
/// As torch.topk.
var topk_indices(var x, uint32_t dim, uint32_t k);

// -- losses

/// What `cross_entropy` can be told beside its operands.
struct cross_entropy_options {
  std::optional<reduce_choice> reduce = {};
  std::optional<int64_t> ignore_index = {};
  std::optional<double> smoothing = {};
  std::optional<var> class_weights = {};
};

/// -log softmax(logits [rows, classes]) at targets [rows], in natural logarithms, joined over the
/// rows whose target is not `ignore_index`; a share `smoothing` of each target is given to all
/// classes. class_weights take no gradient.
/// As torch.nn.functional.cross_entropy.
var cross_entropy(var logits, var targets, const cross_entropy_options& options = {});

/// What `nll` can be told beside its operands.
struct nll_options {
  std::optional<reduce_choice> reduce = {};
  std::optional<int64_t> ignore_index = {};
};

/// -log_probs [rows, classes] at targets [rows], joined over the rows whose target is not
/// `ignore_index`.
/// As torch.nn.functional.nll_loss.
var nll(var log_probs, var targets, const nll_options& options = {});

/// What `bce_logits` can be told beside its operands.
struct bce_logits_options {
  std::optional<reduce_choice> reduce = {};
};

/// The binary cross entropy of sigmoid(logits) and targets from 0 to 1, of one shape, as mean
/// unless `reduce` says else.
/// As torch.nn.functional.binary_cross_entropy_with_logits.
var bce_logits(var logits, var targets, const bce_logits_options& options = {});

/// What `mse` can be told beside its operands.
struct mse_options {
  std::optional<reduce_choice> reduce = {};
};

/// (a - b)², of one shape, as mean unless `reduce` says else.
/// As torch.nn.functional.mse_loss.
var mse(var a, var b, const mse_options& options = {});

/// What `l1` can be told beside its operands.
struct l1_options {
  std::optional<reduce_choice> reduce = {};
};

/// |a - b|, of one shape, as mean unless `reduce` says else.
/// As torch.nn.functional.l1_loss.
var l1(var a, var b, const l1_options& options = {});

/// What `huber` can be told beside its operands.
struct huber_options {
  std::optional<reduce_choice> reduce = {};
};

/// (a - b)² / 2 where |a - b| ≤ delta, else delta · (|a - b| - delta / 2); as mean unless
/// `reduce` says else.
/// As torch.nn.functional.huber_loss.
var huber(var a, var b, double delta, const huber_options& options = {});

/// What `kl` can be told beside its operands.
struct kl_options {
  std::optional<reduce_choice> reduce = {};
};

/// p · (log p - log_q), 0 where p is 0, of one shape, as mean over all elements unless `reduce`
/// says else.
/// As torch.nn.functional.kl_div.
var kl(var log_q, var p, const kl_options& options = {});

// -- sampling

/// What `categorical` can be told beside its operands.
struct categorical_options {
  std::optional<double> temperature = {};
  std::optional<uint32_t> top_k = {};
  std::optional<double> top_p = {};
  std::optional<uint64_t> seed = {};
};

/// For each row of logits [.., classes] a class drawn from softmax(logits / temperature), of the
/// `top_k` likeliest, and of the likeliest that together have probability `top_p`; a temperature
/// of 0 always takes the likeliest.
/// As torch.multinomial.
var categorical(var logits, const categorical_options& options = {});

// -- writes and loops

/// x, which becomes the stored value of this name when the run succeeds.
var store(var x, std::string name);

/// x, which becomes the contents of the parameter of this name, of the same shape and type, when
/// the run succeeds.
var assign(var x, std::string name);

// -- others

/// The gradient of a loss, one number, with respect to any register before it: operations like
/// others, which have gradients too. Zeros where the loss does not depend on x.
/// As torch.autograd.grad.
var grad(var loss, var x);

// -- operators

inline var operator+(var x, var y) {
  return add(x, y);
}
inline var operator-(var x, var y) {
  return sub(x, y);
}
inline var operator*(var x, var y) {
  return mul(x, y);
}
inline var operator/(var x, var y) {
  return div(x, y);
}
inline var operator-(var x) {
  return neg(x);
}
inline var operator+(var x, double y) {
  return add_scalar(x, y);
}
inline var operator+(double x, var y) {
  return add_scalar(y, x);
}
inline var operator-(var x, double y) {
  return add_scalar(x, -y);
}
inline var operator-(double x, var y) {
  return add_scalar(neg(y), x);
}
inline var operator*(var x, double y) {
  return mul_scalar(x, y);
}
inline var operator*(double x, var y) {
  return mul_scalar(y, x);
}
/// Times 1 / y.
inline var operator/(var x, double y) {
  return mul_scalar(x, 1 / y);
}
inline var operator/(double x, var y) {
  return mul_scalar(reciprocal(y), x);
}

} // namespace moxzi::device
