#include "device/ops/rows.hpp"

namespace moxzi::device {

namespace {

constexpr int64_t infer_size = UINT32_MAX;

std::string join_sizes(const std::vector<uint32_t>& sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

// -- narrow --------------------------------------------------------------------

result<register_type> infer_narrow(const rule_context& c) {
  auto out = c.operand(0);
  auto dim = c.integer(0), start = c.integer(1), len = c.integer(2);
  if (auto ok = want_dim(dim, "x", out); !ok) return ok.error();
  auto size = out.dims[dim];
  if (start + len > size)
    return complain(device_errc::dim_range,
                    "start {} + len {} = {} is past the end of dim {} of x {}, which has {} places",
                    start, len, start + len, dim, to_string(out.dims), size);
  if (len != size) {
    out.dims[dim] = len;
    out.factors[dim] = c.fresh_axis(len);
  }
  return out;
}

void narrow_gradient(gradient_context& g) {
  auto dim = std::get<int64_t>(g.attr(0));
  g.give(0, g.emit(op::narrow_backward, {g.upstream()},
                   {g.attr(0), g.attr(1), g.type_of(g.operand(0)).dims[dim]}));
}

std::optional<look> look_narrow(const typed_call& call, const shape& strides) {
  auto dim = static_cast<size_t>(std::get<int64_t>(call.attributes[0]));
  return look{std::get<int64_t>(call.attributes[1]) * strides[dim], strides};
}

std::vector<split_axis> split_narrow(const typed_call& call) {
  auto axes = leading_axes(call.result->dims.rank(), 1);
  axes.erase(axes.begin() + std::get<int64_t>(call.attributes[0]));
  return axes;
}

result<register_type> infer_narrow_backward(const rule_context& c) {
  auto out = c.operand(0);
  auto dim = c.integer(0);
  out.dims[dim] = c.integer(2);
  out.factors[dim] = c.fresh_axis(c.integer(2));
  return out;
}

void narrow_backward_gradient(gradient_context& g) {
  auto len = g.type_of(g.operand(0)).dims[std::get<int64_t>(g.attr(0))];
  g.give(0, g.emit(op::narrow, {g.upstream()}, {g.attr(0), g.attr(1), len}));
}

// -- reshape -------------------------------------------------------------------

result<register_type> infer_reshape(const rule_context& c) {
  auto& x = c.operand(0);
  auto& wanted = c.list(0);
  if (wanted.size() > rank_max)
    return complain(device_errc::shape_mismatch, "shape {} has {} dimensions; at most {}",
                    join_sizes(wanted), wanted.size(), rank_max);
  shape dims;
  int64_t known = 1, unknown = -1;
  for (auto size : wanted) {
    if (size == infer_size) {
      if (unknown >= 0)
        return complain(device_errc::reshape_count, "x {} to {}: only one size can be left open",
                        to_string(x.dims), join_sizes(wanted));
      unknown = static_cast<int64_t>(dims.rank());
    } else {
      // Saturates: beyond the limit it only has to differ from every count of elements.
      known = std::min<int64_t>(known * size, int64_t{1} << 31);
    }
    dims.push(size);
  }
  auto count = x.dims.elements();
  if (unknown >= 0) {
    if (known == 0 || count % known != 0)
      return complain(device_errc::reshape_count,
                      "x {} to {}: {} elements can't be dealt out in groups of {}",
                      to_string(x.dims), join_sizes(wanted), count, known);
    dims[static_cast<size_t>(unknown)] = count / known;
  } else if (known != count) {
    return complain(device_errc::reshape_count, "x {} to {}: {} elements can't become {}",
                    to_string(x.dims), join_sizes(wanted), count, known);
  }
  if (auto ok = want_size(dims); !ok) return ok.error();
  return register_type{x.type, x.storage, dims, regrouped(x, dims, c)};
}

void reshape_gradient(gradient_context& g) {
  g.give(0, g.emit(op::reshape, {g.upstream()}, {sizes_of(g.type_of(g.operand(0)).dims)}));
}

std::optional<look> look_reshape(const typed_call& call, const shape& strides) {
  auto seen = reshaped_strides(call.operands[0]->dims, strides, call.result->dims);
  if (!seen) return std::nullopt;
  return look{0, *seen};
}

/// A dimension can be split where one of the result starts with the same axis.
std::vector<split_axis> split_reshape(const typed_call& call) {
  std::vector<split_axis> axes;
  auto& x = *call.operands[0];
  auto& out = *call.result;
  for (size_t i = 0; i < x.dims.rank(); ++i)
    for (size_t j = 0; j < out.dims.rank(); ++j)
      if (!x.factors[i].empty() && !out.factors[j].empty()
          && x.factors[i][0].axis == out.factors[j][0].axis)
        axes.push_back(
          {{static_cast<int>(i)}, static_cast<int>(j), join::none, 0, static_cast<int>(j)});
  return axes;
}

// -- samples -------------------------------------------------------------------

sample narrow_example(sampler& random) {
  auto dims = random.dims(1, 4);
  auto dim = random.below(static_cast<int64_t>(dims.rank()));
  auto start = random.below(dims[static_cast<size_t>(dim)] + 1);
  auto len = random.below(dims[static_cast<size_t>(dim)] - start + 1);
  return {{random.tensor(dims)}, {dim, start, len}};
}

wrong_sample wrong_narrow(sampler& random) {
  return {{{random.tensor({3})}, {int64_t{0}, int64_t{2}, int64_t{2}}}, device_errc::dim_range};
}

/// The same sizes, some of them merged.
sample reshape_example(sampler& random) {
  auto dims = random.dims(0, 4);
  std::vector<uint32_t> to;
  for (auto size : dims.sizes()) {
    if (!to.empty() && random.coin())
      to.back() *= static_cast<uint32_t>(size);
    else
      to.push_back(static_cast<uint32_t>(size));
  }
  if (!to.empty() && dims.elements() > 0 && random.coin())
    to[static_cast<size_t>(random.below(static_cast<int64_t>(to.size())))] = infer_size;
  return {{random.tensor(dims)}, {to}};
}

wrong_sample wrong_reshape(sampler& random) {
  return {{{random.tensor({2, 3})}, {std::vector<uint32_t>{7}}}, device_errc::reshape_count};
}

sample narrow_backward_example(sampler& random) {
  auto dims = random.dims(1, 4);
  auto dim = random.below(static_cast<int64_t>(dims.rank()));
  auto start = random.below(4);
  auto size = dims[static_cast<size_t>(dim)] + start + random.below(3);
  return {{random.tensor(dims)}, {dim, start, size}};
}

std::vector<row> internal_rows() {
  return {
    {
      .id = op::narrow_backward,
      .name = "narrow_backward",
      .sentence = "The gradient in the places that were taken, zero elsewhere.",
      .reference = "torch.narrow",
      .fields = {{"gradient", field_kind::reg},
                 {"dim", field_kind::nat32},
                 {"start", field_kind::nat32},
                 {"size", field_kind::nat32}},
      .strided = true,
      .infer = infer_narrow_backward,
      .gradient = narrow_backward_gradient,
      .split = split_narrow,
      .costs = moves,
      .example = narrow_backward_example,
    },
    {
      .id = op::contiguous,
      .name = "contiguous",
      .sentence = "The same elements, copied without gaps.",
      .reference = "torch.Tensor.contiguous",
      .fields = {{"x", field_kind::reg}},
      .takes = all_types,
      .strided = true,
      .infer = [](const rule_context& c) -> result<register_type> { return c.operand(0); },
      .no_gradient = "the plan puts it in, after gradients are made",
      .costs = moves,
      .example = [](sampler& random) -> sample {
        return {{random.tensor(random.dims(0, 4))}, {}};
      },
    },
  };
}

} // namespace

std::vector<row> shape_rows() {
  std::vector<row> rows{
    {
      .id = op::narrow,
      .name = "narrow",
      .sentence = "`len` places of dimension `dim`, from `start` on.",
      .reference = "torch.narrow",
      .fields = {{"x", field_kind::reg},
                 {"dim", field_kind::nat32},
                 {"start", field_kind::nat32},
                 {"len", field_kind::nat32}},
      .runs = row_runs::view,
      .takes = all_types,
      .infer = infer_narrow,
      .gradient = narrow_gradient,
      .split = split_narrow,
      .costs = free_of_charge,
      .look = look_narrow,
      .pytorch = "torch.narrow(x, dim, start, len)",
      .example = narrow_example,
      .wrong = wrong_narrow,
    },
    {
      .id = op::reshape,
      .name = "reshape",
      .sentence = "The same elements in another shape; one size may be 4294967295, which leaves it "
                  "open.",
      .reference = "torch.reshape",
      .fields = {{"x", field_kind::reg}, {"shape", field_kind::nat32s}},
      .runs = row_runs::view,
      .takes = all_types,
      .infer = infer_reshape,
      .gradient = reshape_gradient,
      .split = split_reshape,
      .costs = free_of_charge,
      .look = look_reshape,
      .pytorch = "x.reshape([-1 if size == 4294967295 else size for size in shape])",
      .example = reshape_example,
      .wrong = wrong_reshape,
    },
  };
  for (auto& more : internal_rows()) rows.push_back(std::move(more));
  return rows;
}

} // namespace moxzi::device
