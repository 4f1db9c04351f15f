#include <deque>

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
  if (dim >= static_cast<int64_t>(out.dims.rank()))
    return complain(device_errc::dim_range, "dim {} of x {}, which has {} dimensions", dim,
                    to_string(out.dims), out.dims.rank());
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

// -- reshape -------------------------------------------------------------------

/// Deals the factors of the old dimensions out to the new ones. Where the sizes don't divide, the
/// rest of the dimensions are axes of their own.
std::vector<axis_factors> regroup(const register_type& from, const shape& to,
                                  const rule_context& c) {
  std::vector<axis_factors> out(to.rank());
  std::deque<axis_factor> left;
  for (auto& dim : from.factors)
    for (auto& factor : dim)
      if (factor.size != 1) left.push_back(factor);
  bool lost = to.elements() == 0;
  for (size_t i = 0; i < to.rank(); ++i) {
    auto need = to[i];
    while (need > 1 && !lost) {
      auto& front = left.front();
      if (need % front.size == 0) {
        need /= front.size;
        out[i].push_back(front);
        left.pop_front();
      } else if (front.size % need == 0) {
        out[i].push_back({front.axis, need});
        front = c.fresh_axis(front.size / need)[0];
        need = 1;
      } else {
        lost = true;
      }
    }
    if (lost) out[i] = c.fresh_axis(to[i]);
  }
  return out;
}

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
  return register_type{x.type, x.storage, dims, regroup(x, dims, c)};
}

void reshape_gradient(gradient_context& g) {
  std::vector<uint32_t> dims;
  for (auto size : g.type_of(g.operand(0)).dims.sizes())
    dims.push_back(static_cast<uint32_t>(size));
  g.give(0, g.emit(op::reshape, {g.upstream()}, {dims}));
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
        axes.push_back({{static_cast<int>(i)}, static_cast<int>(j), join::none});
  return axes;
}

cost free_of_charge(const typed_call&) {
  return {};
}

cost moves(const typed_call& call) {
  return traffic(call, 0);
}

} // namespace

std::vector<row> shape_rows() {
  return {
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
      .infer = infer_narrow,
      .gradient = narrow_gradient,
      .split = split_narrow,
      .costs = free_of_charge,
    },
    {
      .id = op::reshape,
      .name = "reshape",
      .sentence = "The same elements in another shape; one size may be 4294967295, which leaves it "
                  "open.",
      .reference = "torch.reshape",
      .fields = {{"x", field_kind::reg}, {"shape", field_kind::nat32s}},
      .runs = row_runs::view,
      .infer = infer_reshape,
      .gradient = reshape_gradient,
      .split = split_reshape,
      .costs = free_of_charge,
    },
    {
      .id = op::narrow_backward,
      .name = "narrow_backward",
      .sentence = "The gradient in the places that were taken, zero elsewhere.",
      .reference = "torch.narrow",
      .fields = {{"gradient", field_kind::reg},
                 {"dim", field_kind::nat32},
                 {"start", field_kind::nat32},
                 {"size", field_kind::nat32}},
      .infer = infer_narrow_backward,
      .no_gradient = "internal",
      .split = split_narrow,
      .costs = moves,
    },
    {
      .id = op::contiguous,
      .name = "contiguous",
      .sentence = "The same elements, copied without gaps.",
      .reference = "torch.Tensor.contiguous",
      .fields = {{"x", field_kind::reg}},
      .infer = [](const rule_context& c) -> result<register_type> { return c.operand(0); },
      .no_gradient = "internal",
      .costs = moves,
    },
  };
}

} // namespace moxzi::device
