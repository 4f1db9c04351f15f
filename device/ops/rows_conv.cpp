#include "device/ops/options.hpp"
#include "device/ops/pointwise_rows.hpp"
#include "device/ops/windows.hpp"

// A convolution is linear in x and in w, and its three products are each other's gradients: conv,
// conv_transpose and conv_weight_backward.

namespace moxzi::device {

namespace {

constexpr size_t stride_at = 0, groups_at = 3, output_padding_at = 4;

int64_t groups_of(const attribute& from) {
  return whole_number(from, 1);
}

// -- shapes --------------------------------------------------------------------

std::vector<attribute> attributes_of(const rule_context& c) {
  return {c.attr(0), c.attr(1), c.attr(2), c.attr(3), c.attr(4)};
}

/// Checks all but the channels.
result<void> check_call(const rule_context& c, bool transposed) {
  auto &x = c.operand(0), &w = c.operand(1);
  if (auto ok = want_float("x", x); !ok) return ok;
  if (auto ok = want_same_type("x", x, "w", w); !ok) return ok;
  if (w.dims.rank() < 3 || w.dims.rank() > 2 + spatial_max)
    return complain(device_errc::shape_mismatch,
                    "w is {} of rank {}; {} wanted, with 1 to 3 spatial dimensions",
                    to_string(w.dims), w.dims.rank(),
                    transposed ? "[in, out / groups, ..]" : "[out, in / groups, ..]");
  auto count = w.dims.rank() - 2;
  if (auto ok = want_spatial("x", x.dims, count); !ok) return ok;
  if (auto ok = want_spatial("w", w.dims, count); !ok) return ok;
  constexpr std::pair<std::string_view, int64_t> lists[] = {
    {"stride", 1}, {"padding", 0}, {"dilation", 1}};
  for (size_t i = 0; i < std::size(lists); ++i)
    if (auto ok = want_entries(lists[i].first, c.attr(stride_at + i), count, lists[i].second); !ok)
      return ok;
  if (auto ok = want_entries("output_padding", c.attr(output_padding_at), count, 0); !ok) return ok;
  auto groups = groups_of(c.attr(groups_at));
  if (groups < 1 || w.dims[0] % groups != 0)
    return complain(device_errc::shape_mismatch, "w is {}, which {} groups don't divide",
                    to_string(w.dims), groups);
  return {};
}

result<void> check_bias(const rule_context& c, int64_t channels) {
  if (!c.has(2)) return {};
  auto &w = c.operand(1), &b = c.operand(2);
  if (auto ok = want_same_type("w", w, "b", b); !ok) return ok;
  if (b.dims == shape{channels}) return {};
  return complain(device_errc::shape_mismatch, "b {} does not fit w {}: b [{}] wanted",
                  to_string(b.dims), to_string(w.dims), channels);
}

/// The result with the batch of x and these channels; spatial sizes follow.
register_type result_of(const rule_context& c, int64_t channels, axis_factors of) {
  auto& x = c.operand(0);
  return {x.type, x.storage, {x.dims[0], channels}, {x.factors[0], std::move(of)}};
}

result<register_type> infer_conv(const rule_context& c) {
  if (auto ok = check_call(c, false); !ok) return ok.error();
  auto &x = c.operand(0), &w = c.operand(1);
  auto groups = groups_of(c.attr(groups_at));
  if (x.dims[1] != w.dims[1] * groups)
    return complain(device_errc::shape_mismatch,
                    "x {} does not fit w {} in {} groups: x has {} channels, {} wanted",
                    to_string(x.dims), to_string(w.dims), groups, x.dims[1], w.dims[1] * groups);
  if (auto ok = check_bias(c, w.dims[0]); !ok) return ok.error();
  auto how = convolution_windows(w.dims, attributes_of(c));
  auto out = result_of(c, w.dims[0], w.factors[0]);
  for (size_t i = 0; i < how.count; ++i) {
    if (how.each[i].output_padding != 0)
      return complain(device_errc::invalid_value,
                      "output_padding is for conv_transpose; leave it out");
    auto places = how.each[i].places(x.dims[i + 2]);
    if (places < 1)
      return complain(device_errc::shape_mismatch,
                      "x {} does not fit w {}: {} places with padding {}, but a window takes {}",
                      to_string(x.dims), to_string(w.dims), x.dims[i + 2], how.each[i].padding,
                      how.each[i].reach());
    out.dims.push(places);
    out.factors.push_back(c.fresh_axis(places));
  }
  if (auto ok = want_size(out.dims); !ok) return ok.error();
  return out;
}

result<register_type> infer_conv_transpose(const rule_context& c) {
  if (auto ok = check_call(c, true); !ok) return ok.error();
  auto &x = c.operand(0), &w = c.operand(1);
  auto groups = groups_of(c.attr(groups_at));
  if (x.dims[1] != w.dims[0])
    return complain(device_errc::shape_mismatch,
                    "x {} does not fit w {}: x has {} channels, {} wanted", to_string(x.dims),
                    to_string(w.dims), x.dims[1], w.dims[0]);
  auto channels = w.dims[1] * groups;
  if (auto ok = check_bias(c, channels); !ok) return ok.error();
  auto how = convolution_windows(w.dims, attributes_of(c));
  auto out = result_of(c, channels, groups == 1 ? w.factors[1] : c.fresh_axis(channels));
  for (size_t i = 0; i < how.count; ++i) {
    auto& one = how.each[i];
    if (one.output_padding >= std::max(one.stride, one.dilation))
      return complain(device_errc::invalid_value,
                      "output_padding {} must be less than stride {} or dilation {}",
                      one.output_padding, one.stride, one.dilation);
    auto places = one.spread(x.dims[i + 2]);
    if (places < 1)
      return complain(device_errc::shape_mismatch,
                      "x {} with w {} has nothing left without padding {}", to_string(x.dims),
                      to_string(w.dims), one.padding);
    out.dims.push(places);
    out.factors.push_back(c.fresh_axis(places));
  }
  if (auto ok = want_size(out.dims); !ok) return ok.error();
  return out;
}

/// gradient [batch, out, ..], x [batch, in, ..] and the kernel's sizes.
result<register_type> infer_weight_backward(const rule_context& c) {
  auto &gradient = c.operand(0), &x = c.operand(1);
  auto groups = groups_of(c.attr(groups_at));
  auto channels = x.dims[1] / groups;
  register_type out{gradient.type,
                    gradient.storage,
                    {gradient.dims[1], channels},
                    {gradient.factors[1], groups == 1 ? x.factors[1] : c.fresh_axis(channels)}};
  for (auto size : c.list(5)) {
    out.dims.push(size);
    out.factors.push_back(c.fresh_axis(size));
  }
  return out;
}

// -- gradients -----------------------------------------------------------------

/// The attributes of the rule's operation, with another `output_padding`.
std::vector<attribute> same_windows(gradient_context& g, attribute output_padding) {
  return {g.attr(0), g.attr(1), g.attr(2), g.attr(3), std::move(output_padding)};
}

/// conv_transpose that gives exactly the sizes of `wanted`.
reg spread_to(gradient_context& g, reg x, reg w, const shape& wanted) {
  std::vector<attribute> plain = same_windows(g, {});
  auto how = convolution_windows(g.type_of(w).dims, plain);
  std::vector<uint32_t> rest;
  for (size_t i = 0; i < how.count; ++i)
    rest.push_back(
      static_cast<uint32_t>(wanted[i + 2] - how.each[i].spread(g.type_of(x).dims[i + 2])));
  return g.emit(op::conv_transpose, {x, w, no_register}, same_windows(g, rest));
}

reg weights_from(gradient_context& g, reg gradient, reg x, const shape& w) {
  std::vector<uint32_t> kernel;
  for (size_t i = 2; i < w.rank(); ++i) kernel.push_back(static_cast<uint32_t>(w[i]));
  auto attributes = same_windows(g, {});
  attributes.emplace_back(std::move(kernel));
  return g.emit(op::conv_weight_backward, {gradient, x}, std::move(attributes));
}

/// The sum over all places of each channel.
void give_bias(gradient_context& g) {
  if (!g.wants(2)) return;
  auto dims = g.type_of(g.upstream()).dims;
  std::vector<uint32_t> one(dims.rank() - 1, 1);
  one[0] = static_cast<uint32_t>(dims[1]);
  auto sum = g.emit(op::sum_to, {g.upstream()}, {one});
  g.give(2, g.emit(op::reshape, {sum}, {std::vector<uint32_t>{one[0]}}));
}

/// x is read first: its place may be free then for its own gradient.
void conv_gradient(gradient_context& g) {
  auto x = g.operand(0), w = g.operand(1);
  if (g.wants(1)) g.give(1, weights_from(g, g.upstream(), x, shape(g.type_of(w).dims)));
  give_bias(g);
  if (g.wants(0)) g.give(0, spread_to(g, g.upstream(), w, shape(g.type_of(x).dims)));
}

void conv_transpose_gradient(gradient_context& g) {
  auto x = g.operand(0), w = g.operand(1);
  if (g.wants(0)) g.give(0, g.emit(op::conv, {g.upstream(), w, no_register}, same_windows(g, {})));
  if (g.wants(1)) g.give(1, weights_from(g, x, g.upstream(), shape(g.type_of(w).dims)));
  give_bias(g);
}

void weight_backward_gradient(gradient_context& g) {
  auto gradient = g.operand(0), x = g.operand(1);
  if (g.wants(0)) g.give(0, g.emit(op::conv, {x, g.upstream(), no_register}, same_windows(g, {})));
  if (g.wants(1)) g.give(1, spread_to(g, gradient, g.upstream(), shape(g.type_of(x).dims)));
}

// -- splits and costs ----------------------------------------------------------

/// Along the batch or the channels of the result; along what is summed over if there is no bias.
std::vector<split_axis> split_conv(const typed_call& call) {
  std::vector<split_axis> axes{{{0, -1, -1}, 0, join::none}};
  if (groups_of(call.attributes[groups_at]) != 1) return axes;
  axes.push_back({{-1, 0, 0}, 1, join::none});
  if (!call.operands[2]) axes.push_back({{1, 1, -1}, -1, join::sum});
  return axes;
}

std::vector<split_axis> split_conv_transpose(const typed_call& call) {
  std::vector<split_axis> axes{{{0, -1, -1}, 0, join::none}};
  if (groups_of(call.attributes[groups_at]) != 1) return axes;
  axes.push_back({{-1, 1, 0}, 1, join::none});
  if (!call.operands[2]) axes.push_back({{1, 0, -1}, -1, join::sum});
  return axes;
}

std::vector<split_axis> split_weight_backward(const typed_call& call) {
  std::vector<split_axis> axes{{{0, 0}, -1, join::sum}};
  if (groups_of(call.attributes[groups_at]) != 1) return axes;
  axes.push_back({{1, -1}, 0, join::none});
  axes.push_back({{-1, 1}, 1, join::none});
  return axes;
}

/// One multiplication and addition for each place of the larger side and each weight that it meets.
cost products(const typed_call& call, const shape& places, const shape& w) {
  auto sum = traffic(call, 0);
  sum.flops = 2 * static_cast<double>(places[0]) * static_cast<double>(w.elements());
  for (size_t i = 2; i < places.rank(); ++i) sum.flops *= static_cast<double>(places[i]);
  return sum;
}

cost conv_cost(const typed_call& call) {
  return products(call, call.result->dims, call.operands[1]->dims);
}

cost conv_transpose_cost(const typed_call& call) {
  return products(call, call.operands[0]->dims, call.operands[1]->dims);
}

cost weight_backward_cost(const typed_call& call) {
  return products(call, call.operands[0]->dims, call.result->dims);
}

// -- samples -------------------------------------------------------------------

struct sampled {
  std::vector<uint32_t> stride, padding, dilation, kernel;
  shape x, w;
  int64_t groups = 1;
};

/// w is [outer, inner / groups, ..]; x has `inner` channels, or `outer` if transposed.
sampled convolution(sampler& random, bool transposed) {
  sampled out;
  out.groups = random.coin() ? 1 : 1 + random.below(3);
  auto outer = out.groups * (1 + random.below(3)), inner = 1 + random.below(3);
  out.w = {outer, inner};
  out.x = {random.below(6) == 0 ? 0 : 1 + random.below(3), transposed ? outer : inner * out.groups};
  auto count = 1 + random.below(3);
  auto entry = [](int64_t x) { return static_cast<uint32_t>(x); };
  for (int64_t i = 0; i < count; ++i) {
    auto kernel = 1 + random.below(3), dilation = 1 + random.below(2);
    out.kernel.push_back(entry(kernel));
    out.stride.push_back(entry(1 + random.below(3)));
    out.padding.push_back(entry(random.below(dilation * (kernel - 1) / 2 + 1)));
    out.dilation.push_back(entry(dilation));
    out.w.push(kernel);
    out.x.push(dilation * (kernel - 1) + 1 + random.below(4));
  }
  return out;
}

attribute seldom(sampler& random, const std::vector<uint32_t>& list, uint32_t otherwise) {
  bool plain = true;
  for (auto one : list) plain = plain && one == otherwise;
  return plain && random.coin() ? attribute{} : attribute{list};
}

sample conv_example(sampler& random) {
  auto one = convolution(random, false);
  sample out{{random.tensor(one.x), random.tensor(one.w), {}},
             {seldom(random, one.stride, 1),
              seldom(random, one.padding, 0),
              seldom(random, one.dilation, 1),
              one.groups == 1 ? attribute{} : attribute{one.groups},
              {}}};
  if (random.coin()) out.operands[2] = random.tensor({one.w[0]});
  return out;
}

sample conv_transpose_example(sampler& random) {
  auto one = convolution(random, true);
  std::vector<uint32_t> more;
  for (auto stride : one.stride) more.push_back(static_cast<uint32_t>(random.below(stride)));
  sample out{{random.tensor(one.x), random.tensor(one.w), {}},
             {one.stride, one.padding, one.dilation, one.groups, seldom(random, more, 0)}};
  if (random.coin()) out.operands[2] = random.tensor({one.w[1] * one.groups});
  return out;
}

sample weight_backward_example(sampler& random) {
  auto one = convolution(random, false);
  shape gradient{one.x[0], one.w[0]};
  for (size_t i = 0; i < one.kernel.size(); ++i)
    gradient.push(window{one.kernel[i], one.stride[i], one.padding[i], one.dilation[i], 0}.places(
      one.x[i + 2]));
  return {{random.tensor(gradient), random.tensor(one.x)},
          {one.stride, one.padding, one.dilation, one.groups, {}, one.kernel}};
}

wrong_sample wrong_conv(sampler& random) {
  return {{{random.tensor({1, 3, 5}), random.tensor({2, 2, 3}), {}}, {{}, {}, {}, {}, {}}},
          device_errc::shape_mismatch};
}

wrong_sample wrong_conv_transpose(sampler& random) {
  return {{{random.tensor({1, 2, 5}), random.tensor({2, 2, 3}), {}},
           {{}, {}, {}, {}, std::vector<uint32_t>{1}}},
          device_errc::invalid_value};
}

std::vector<field> fields_of_conv() {
  return {{"x", field_kind::reg},
          {"w", field_kind::reg},
          {"b", field_kind::opt_reg, true},
          {"stride", field_kind::nat32s, true},
          {"padding", field_kind::nat32s, true},
          {"dilation", field_kind::nat32s, true},
          {"groups", field_kind::nat32, true},
          {"output_padding", field_kind::nat32s, true}};
}

} // namespace

std::vector<row> convolution_rows() {
  row conv{
    .id = op::conv,
    .name = "conv",
    .sentence = "Cross-correlation of x [batch, in, ..] with w [out, in / groups, ..], plus b "
                "[out] if given, over 1 to 3 spatial dimensions; lists have one entry for each or "
                "one for all.",
    .reference = "torch.nn.functional.conv2d",
    .fields = fields_of_conv(),
    .infer = infer_conv,
    .gradient = conv_gradient,
    .split = split_conv,
    .costs = conv_cost,
    .pytorch = "(F.conv1d, F.conv2d, F.conv3d)[w.dim() - 3](x, w, b, stride or 1, padding or 0, "
               "dilation or 1, groups or 1)",
    .example = conv_example,
    .wrong = wrong_conv,
    .tolerance = 16,
  };
  auto transpose = conv;
  transpose.id = op::conv_transpose;
  transpose.name = "conv_transpose";
  transpose.sentence = "The gradient of conv as an operation: x [batch, in, ..] spread by w [in, "
                       "out / groups, ..], plus b [out] if given.";
  transpose.reference = "torch.nn.functional.conv_transpose2d";
  transpose.infer = infer_conv_transpose;
  transpose.gradient = conv_transpose_gradient;
  transpose.split = split_conv_transpose;
  transpose.costs = conv_transpose_cost;
  transpose.pytorch = "(F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[w.dim() - 3]("
                      "x, w, b, stride or 1, padding or 0, output_padding or 0, groups or 1, "
                      "dilation or 1)";
  transpose.example = conv_transpose_example;
  transpose.wrong = wrong_conv_transpose;
  auto weights = conv;
  weights.id = op::conv_weight_backward;
  weights.name = "conv_weight_backward";
  weights.sentence = "The gradient of conv with respect to weights of these `kernel` sizes.";
  weights.fields = {{"gradient", field_kind::reg},
                    {"x", field_kind::reg},
                    {"stride", field_kind::nat32s, true},
                    {"padding", field_kind::nat32s, true},
                    {"dilation", field_kind::nat32s, true},
                    {"groups", field_kind::nat32, true},
                    {"output_padding", field_kind::nat32s, true},
                    {"kernel", field_kind::nat32s}};
  weights.infer = infer_weight_backward;
  weights.gradient = weight_backward_gradient;
  weights.split = split_weight_backward;
  weights.costs = weight_backward_cost;
  weights.example = weight_backward_example;
  return {conv, transpose, weights};
}

} // namespace moxzi::device
