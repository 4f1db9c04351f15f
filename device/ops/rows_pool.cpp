#include <algorithm>

#include "device/ops/options.hpp"
#include "device/ops/pointwise_rows.hpp"
#include "device/ops/windows.hpp"

namespace moxzi::device {

namespace {

std::vector<uint32_t> sizes_after(const shape& dims, size_t from) {
  std::vector<uint32_t> out;
  for (size_t i = from; i < dims.rank(); ++i) out.push_back(static_cast<uint32_t>(dims[i]));
  return out;
}

/// x, kernel, stride and padding of a pooling. What no window may lack is one real place.
result<windows> check_pool(const rule_context& c, size_t least, size_t most, bool apart) {
  auto& x = c.operand(0);
  if (auto ok = want_float("x", x); !ok) return ok.error();
  auto count = c.list(0).size();
  if (count < least || count > most)
    return complain(device_errc::shape_mismatch,
                    "kernel [{}] has {} entries; {} wanted, one for each spatial dimension",
                    fmt::join(c.list(0), ", "), count,
                    least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most));
  if (auto ok = want_spatial("x", x.dims, count); !ok) return ok.error();
  if (auto ok = want_entries("kernel", c.attr(0), count, 1); !ok) return ok.error();
  if (auto ok = want_entries("stride", c.attr(1), count, 1); !ok) return ok.error();
  if (auto ok = want_entries("padding", c.attr(2), count, 0); !ok) return ok.error();
  auto how = pooling_windows(std::vector<attribute>{c.attr(0), c.attr(1), c.attr(2)}, apart);
  for (size_t i = 0; i < count; ++i) {
    auto& one = how.each[i];
    if (!apart && one.padding > one.kernel / 2)
      return complain(device_errc::invalid_value, "padding {} is more than half of kernel {}",
                      one.padding, one.kernel);
    if (one.places(x.dims[i + 2]) < 1)
      return complain(device_errc::shape_mismatch,
                      "x {} has {} places with padding {}, but a window takes {}",
                      to_string(x.dims), x.dims[i + 2], one.padding, one.kernel);
  }
  return how;
}

result<register_type> infer_pool(const rule_context& c) {
  auto how = check_pool(c, 1, spatial_max, false);
  if (!how) return how.error();
  auto& x = c.operand(0);
  register_type out{x.type, x.storage, {x.dims[0], x.dims[1]}, {x.factors[0], x.factors[1]}};
  for (size_t i = 0; i < how->count; ++i) {
    out.dims.push(how->each[i].places(x.dims[i + 2]));
    out.factors.push_back(c.fresh_axis(out.dims.last()));
  }
  return out;
}

/// The operand's batch and channels with the listed sizes.
result<register_type> infer_spread(const rule_context& c, size_t attribute) {
  auto& gradient = c.operand(0);
  register_type out{gradient.type,
                    gradient.storage,
                    {gradient.dims[0], gradient.dims[1]},
                    {gradient.factors[0], gradient.factors[1]}};
  for (auto size : c.list(attribute)) {
    out.dims.push(size);
    out.factors.push_back(c.fresh_axis(size));
  }
  return out;
}

std::vector<split_axis> split_planes(const typed_call& call) {
  return leading_axes(2, call.operands.size());
}

/// The second operand is split as the first.
std::vector<split_axis> split_both_planes(const typed_call&) {
  return {{{0, 0}, 0}, {{1, 1}, 1}};
}

cost pool_cost(const typed_call& call) {
  return traffic(call, static_cast<double>(pooling_windows(call.attributes).volume()));
}

cost pool_backward_cost(const typed_call& call) {
  auto sum = traffic(call, 0);
  sum.flops = static_cast<double>(call.operands[0]->dims.elements())
              * static_cast<double>(pooling_windows(call.attributes).volume());
  return sum;
}

// -- gradients -----------------------------------------------------------------

/// The windows and the spatial sizes of x.
std::vector<attribute> back_to_x(gradient_context& g) {
  return {g.attr(0), g.attr(1), g.attr(2), sizes_after(g.type_of(g.operand(0)).dims, 2)};
}

void max_pool_gradient(gradient_context& g) {
  auto places = g.emit(op::second_of, {g.self()});
  g.give(0, g.emit(op::max_pool_backward, {g.upstream(), places}, back_to_x(g)));
}

void avg_pool_gradient(gradient_context& g) {
  g.give(0, g.emit(op::avg_pool_backward, {g.upstream()}, back_to_x(g)));
}

void avg_pool_backward_gradient(gradient_context& g) {
  g.give(0, g.emit(op::avg_pool, {g.upstream()}, {g.attr(0), g.attr(1), g.attr(2)}));
}

// -- global_avg_pool -----------------------------------------------------------

result<register_type> infer_global(const rule_context& c) {
  auto& x = c.operand(0);
  if (auto ok = want_float("x", x); !ok) return ok.error();
  if (x.dims.rank() < 3)
    return complain(device_errc::shape_mismatch,
                    "x is {}; [batch, channels, ..] with spatial dimensions wanted",
                    to_string(x.dims));
  return register_type{x.type, x.storage, {x.dims[0], x.dims[1]}, {x.factors[0], x.factors[1]}};
}

void global_gradient(gradient_context& g) {
  auto dims = g.type_of(g.operand(0)).dims;
  auto wanted = sizes_after(g.type_of(g.upstream()).dims, 0);
  double places = 1;
  for (size_t i = 2; i < dims.rank(); ++i) {
    wanted.push_back(1);
    places *= static_cast<double>(dims[i]);
  }
  words w(g);
  auto each = w.times(g.emit(op::reshape, {g.upstream()}, {wanted}), places > 0 ? 1 / places : 0);
  g.give(0, w.mul(g.emit(op::ones_like, {g.operand(0)}), each));
}

cost sums(const typed_call& call) {
  auto sum = traffic(call, 0);
  sum.flops = static_cast<double>(call.operands[0]->dims.elements());
  return sum;
}

// -- unfold --------------------------------------------------------------------

result<register_type> infer_unfold(const rule_context& c) {
  auto how = check_pool(c, 2, 2, true);
  if (!how) return how.error();
  auto& x = c.operand(0);
  auto rows = x.dims[1] * how->volume();
  auto places = how->each[0].places(x.dims[2]) * how->each[1].places(x.dims[3]);
  register_type out{x.type,
                    x.storage,
                    {x.dims[0], rows, places},
                    {x.factors[0], c.fresh_axis(rows), c.fresh_axis(places)}};
  if (auto ok = want_size(out.dims); !ok) return ok.error();
  return out;
}

result<register_type> infer_unfold_backward(const rule_context& c) {
  auto& gradient = c.operand(0);
  auto how = pooling_windows(std::vector<attribute>{c.attr(0), c.attr(1), c.attr(2)}, true);
  auto channels = gradient.dims[1] / how.volume();
  register_type out{gradient.type,
                    gradient.storage,
                    {gradient.dims[0], channels},
                    {gradient.factors[0], c.fresh_axis(channels)}};
  for (auto size : c.list(3)) {
    out.dims.push(size);
    out.factors.push_back(c.fresh_axis(size));
  }
  return out;
}

void unfold_gradient(gradient_context& g) {
  g.give(0, g.emit(op::unfold_backward, {g.upstream()}, back_to_x(g)));
}

void unfold_backward_gradient(gradient_context& g) {
  g.give(0, g.emit(op::unfold, {g.upstream()}, {g.attr(0), g.attr(1), g.attr(2)}));
}

std::vector<split_axis> split_batch(const typed_call&) {
  return {{{0}, 0, join::none}};
}

cost copying(const typed_call& call) {
  return traffic(call, 1);
}

// -- upsample ------------------------------------------------------------------

result<register_type> infer_upsample(const rule_context& c) {
  auto& x = c.operand(0);
  if (auto ok = want_float("x", x); !ok) return ok.error();
  auto& scale = c.list(0);
  if (scale.empty() || scale.size() > spatial_max)
    return complain(device_errc::shape_mismatch,
                    "scale [{}] has {} entries; 1 to 3 wanted, one for each spatial dimension",
                    fmt::join(scale, ", "), scale.size());
  if (auto ok = want_spatial("x", x.dims, scale.size()); !ok) return ok.error();
  if (auto ok = want_entries("scale", c.attr(0), scale.size(), 1); !ok) return ok.error();
  register_type out{x.type, x.storage, {x.dims[0], x.dims[1]}, {x.factors[0], x.factors[1]}};
  for (size_t i = 0; i < scale.size(); ++i) {
    out.dims.push(x.dims[i + 2] * scale[i]);
    out.factors.push_back(c.fresh_axis(out.dims.last()));
  }
  if (auto ok = want_size(out.dims); !ok) return ok.error();
  return out;
}

result<register_type> infer_upsample_backward(const rule_context& c) {
  auto& gradient = c.operand(0);
  register_type out{gradient.type,
                    gradient.storage,
                    {gradient.dims[0], gradient.dims[1]},
                    {gradient.factors[0], gradient.factors[1]}};
  for (size_t i = 0; i < c.list(0).size(); ++i) {
    out.dims.push(gradient.dims[i + 2] / c.list(0)[i]);
    out.factors.push_back(c.fresh_axis(out.dims.last()));
  }
  return out;
}

void upsample_gradient(gradient_context& g) {
  g.give(0, g.emit(op::upsample_backward, {g.upstream()}, {g.attr(0), g.attr(1)}));
}

void upsample_backward_gradient(gradient_context& g) {
  g.give(0, g.emit(op::upsample, {g.upstream()}, {g.attr(0), g.attr(1)}));
}

// -- samples -------------------------------------------------------------------

struct sampled {
  std::vector<uint32_t> kernel, stride, padding;
  shape x, places;
};

sampled pooling(sampler& random, int64_t count) {
  sampled out;
  auto batch = random.below(6) == 0 ? 0 : 1 + random.below(3), channels = 1 + random.below(3);
  out.x = out.places = {batch, channels};
  auto entry = [](int64_t x) { return static_cast<uint32_t>(x); };
  for (int64_t i = 0; i < count; ++i) {
    window one{1 + random.below(3), 1 + random.below(3), 0, 1, 0};
    one.padding = random.below(one.kernel / 2 + 1);
    out.kernel.push_back(entry(one.kernel));
    out.stride.push_back(entry(one.stride));
    out.padding.push_back(entry(one.padding));
    out.x.push(one.kernel + random.below(5));
    out.places.push(one.places(out.x.last()));
  }
  return out;
}

template <contents What>
sample pool_example(sampler& random) {
  auto one = pooling(random, 1 + random.below(3));
  bool plain = random.coin();
  return {{random.tensor(one.x, What)},
          {one.kernel, plain ? attribute{} : attribute{one.stride},
           plain ? attribute{} : attribute{one.padding}}};
}

sample unfold_example(sampler& random) {
  auto one = pooling(random, 2);
  bool plain = random.coin();
  return {{random.tensor(one.x)},
          {one.kernel, plain ? attribute{} : attribute{one.stride},
           plain ? attribute{} : attribute{one.padding}}};
}

sample unfold_backward_example(sampler& random) {
  auto one = pooling(random, 2);
  int64_t rows = one.x[1], places = 1;
  for (size_t i = 0; i < 2; ++i) rows *= one.kernel[i], places *= one.places[i + 2];
  return {{random.tensor({one.x[0], rows, places})},
          {one.kernel, one.stride, one.padding, sizes_after(one.x, 2)}};
}

sample max_backward_example(sampler& random) {
  // One window, so that all places of the plane are in it.
  auto one = pooling(random, 1 + random.below(3));
  std::vector<uint32_t> row(one.kernel.size(), 1);
  row.back() = static_cast<uint32_t>(one.x.last());
  shape places{one.x[0], one.x[1]};
  while (places.rank() < one.x.rank()) places.push(1);
  return {{random.tensor(places), random.indices(places, one.x.last())}, {row, {}, {}, row}};
}

sample avg_backward_example(sampler& random) {
  auto one = pooling(random, 1 + random.below(3));
  return {{random.tensor(one.places)},
          {one.kernel, one.stride, one.padding, sizes_after(one.x, 2)}};
}

sample global_example(sampler& random) {
  auto dims = random.some_dims(3, 5);
  return {{random.tensor(dims)}, {}};
}

sample upsample_example(sampler& random) {
  auto one = pooling(random, 1 + random.below(3));
  return {{random.tensor(one.x)}, {one.kernel, random.coin() ? attribute{} : random.below(2)}};
}

sample upsample_backward_example(sampler& random) {
  auto one = pooling(random, 1 + random.below(3));
  for (size_t i = 2; i < one.x.rank(); ++i) one.x[i] *= one.kernel[i - 2];
  return {{random.tensor(one.x)}, {one.kernel, random.below(2)}};
}

wrong_sample wrong_pool(sampler& random) {
  return {{{random.tensor({1, 2, 3})}, {std::vector<uint32_t>{4}, {}, {}}},
          device_errc::shape_mismatch};
}

wrong_sample wrong_unfold(sampler& random) {
  return {{{random.tensor({1, 2, 3})}, {std::vector<uint32_t>{2}, {}, {}}},
          device_errc::shape_mismatch};
}

wrong_sample wrong_upsample(sampler& random) {
  return {{{random.tensor({1, 2, 3})}, {std::vector<uint32_t>{0}, {}}}, device_errc::invalid_value};
}

wrong_sample wrong_global(sampler& random) {
  return {{{random.tensor({2, 3})}, {}}, device_errc::shape_mismatch};
}

// -- rows ----------------------------------------------------------------------

std::vector<field> fields_of_pool(std::string_view x, bool back) {
  std::vector<field> out{{x, field_kind::reg},
                         {"kernel", field_kind::nat32s},
                         {"stride", field_kind::nat32s, true},
                         {"padding", field_kind::nat32s, true}};
  if (back) out.push_back({"sizes", field_kind::nat32s});
  return out;
}

row pool(op id, std::string_view name, std::string_view sentence, std::string_view reference) {
  row out;
  out.id = id;
  out.name = name;
  out.sentence = sentence;
  out.reference = reference;
  out.fields = fields_of_pool("x", false);
  out.infer = infer_pool;
  out.split = split_planes;
  out.costs = pool_cost;
  out.wrong = wrong_pool;
  out.tolerance = 8;
  return out;
}

/// The row that gives what a pooling's gradient is, in the sizes of its x.
row pool_backward(op id, std::string_view name, std::string_view sentence) {
  auto out = pool(id, name, sentence, "internal");
  out.fields = fields_of_pool("gradient", true);
  out.infer = [](const rule_context& c) { return infer_spread(c, 3); };
  out.costs = pool_backward_cost;
  out.wrong = nullptr;
  return out;
}

std::vector<row> max_rows() {
  auto forward = pool(op::max_pool, "max_pool",
                      "The largest of each window of x [batch, channels, ..], over 1 to 3 spatial "
                      "dimensions; `stride` is the kernel unless given.",
                      "torch.nn.functional.max_pool2d");
  forward.gradient = max_pool_gradient;
  forward.training_form = op::max_pool_train;
  forward.pytorch = "(F.max_pool1d, F.max_pool2d, F.max_pool3d)[x.dim() - 3](x, kernel, stride, "
                    "padding or 0)";
  forward.example = pool_example<contents::distinct>;
  auto train = forward;
  train.id = train.training_form = op::max_pool_train;
  train.name = "max_pool_train";
  train.sentence = "max_pool, and as second result where in its plane each was found first.";
  train.infer_second = [](const rule_context& c) {
    auto out = *infer_pool(c);
    out.type = dtype::i64;
    out.storage = elem::i32;
    return out;
  };
  auto backward = pool_backward(op::max_pool_backward, "max_pool_backward",
                                "The gradient at each place that was the largest of a window.");
  backward.fields.insert(backward.fields.begin() + 1, {"places", field_kind::reg});
  backward.no_gradient = "second derivatives of max_pool have no rule";
  backward.split = split_both_planes;
  backward.example = max_backward_example;
  return {forward, train, backward};
}

std::vector<row> average_rows() {
  auto average = pool(op::avg_pool, "avg_pool",
                      "The mean of each window of x [batch, channels, ..], zeros of the padding "
                      "counted, over 1 to 3 spatial dimensions.",
                      "torch.nn.functional.avg_pool2d");
  average.gradient = avg_pool_gradient;
  // PyTorch has no half precision in three dimensions.
  average.pytorch = "(F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[x.dim() - 3](x.double(), kernel, "
                    "stride, padding or 0).to(x.dtype)";
  average.example = pool_example<contents::any>;
  auto backward = pool_backward(op::avg_pool_backward, "avg_pool_backward",
                                "Each window's gradient, shared by its places.");
  backward.gradient = avg_pool_backward_gradient;
  backward.example = avg_backward_example;
  auto global = pool(op::global_avg_pool, "global_avg_pool",
                     "The mean over all spatial dimensions of x [batch, channels, ..]: [batch, "
                     "channels].",
                     "torch.nn.functional.adaptive_avg_pool2d");
  global.fields = {{"x", field_kind::reg}};
  global.form = field_form::bare;
  global.infer = infer_global;
  global.gradient = global_gradient;
  global.costs = sums;
  global.pytorch = "x.flatten(2).mean(2)";
  global.example = global_example;
  global.wrong = wrong_global;
  return {average, backward, global};
}

std::vector<row> unfold_rows() {
  auto unfold = pool(op::unfold, "unfold",
                     "The windows of x [batch, channels, height, width] as columns: [batch, "
                     "channels · places of a window, windows]; `stride` is 1 unless given.",
                     "torch.nn.functional.unfold");
  unfold.infer = infer_unfold;
  unfold.gradient = unfold_gradient;
  unfold.split = split_batch;
  unfold.costs = copying;
  unfold.pytorch = "F.unfold(x, kernel, 1, padding or 0, stride or 1)";
  unfold.example = unfold_example;
  unfold.wrong = wrong_unfold;
  auto backward = pool_backward(op::unfold_backward, "unfold_backward",
                                "The sum of what columns say of each place.");
  backward.infer = infer_unfold_backward;
  backward.gradient = unfold_backward_gradient;
  backward.split = split_batch;
  backward.costs = sums;
  backward.example = unfold_backward_example;
  return {unfold, backward};
}

std::vector<row> upsample_rows() {
  auto upsample = pool(op::upsample, "upsample",
                       "x [batch, channels, ..] with spatial sizes times `scale`: repeated "
                       "(nearest, unless given) or interpolated between centres (linear).",
                       "torch.nn.functional.interpolate");
  upsample.fields = {{"x", field_kind::reg},
                     {"scale", field_kind::nat32s},
                     {"mode", field_kind::choice, true, {"nearest", "linear"}}};
  upsample.infer = infer_upsample;
  upsample.gradient = upsample_gradient;
  upsample.costs = copying;
  upsample.pytorch =
    "F.interpolate(x, scale_factor=[float(s) for s in scale], mode='nearest' if mode != 'linear' "
    "else ('linear', 'bilinear', 'trilinear')[x.dim() - 3])";
  upsample.example = upsample_example;
  upsample.wrong = wrong_upsample;
  auto backward = upsample;
  backward.id = op::upsample_backward;
  backward.name = "upsample_backward";
  backward.sentence = "The gradient of upsample: each place's sum of what it went into.";
  backward.fields[0].name = "gradient";
  backward.infer = infer_upsample_backward;
  backward.gradient = upsample_backward_gradient;
  backward.costs = sums;
  backward.pytorch = {};
  backward.example = upsample_backward_example;
  backward.wrong = nullptr;
  return {upsample, backward};
}

} // namespace

std::vector<row> pooling_rows() {
  std::vector<row> out;
  for (auto part : {max_rows, average_rows, unfold_rows, upsample_rows})
    for (auto& one : part()) out.push_back(std::move(one));
  return out;
}

} // namespace moxzi::device
