#include <algorithm>

#include "device/ops/view_row.hpp"

// Rows along one dimension whose places have an order.

namespace moxzi::device {

namespace {

// -- types ---------------------------------------------------------------------

/// Numbers in, the same shape out.
result<register_type> infer_along(const rule_context& c, dtype type) {
  auto out = c.operand(0);
  if (auto ok = want_number("x", out); !ok) return ok.error();
  if (auto ok = want_dim(c.integer(0), "x", out); !ok) return ok.error();
  out.type = type;
  out.storage = stored_as(type);
  return out;
}

result<register_type> infer_sorted(const rule_context& c) {
  return infer_along(c, c.operand(0).type);
}

/// Integers add up and multiply in i64.
result<register_type> infer_running(const rule_context& c) {
  auto type = c.operand(0).type;
  return infer_along(c, is_float(type) ? type : dtype::i64);
}

result<register_type> infer_argsort(const rule_context& c) {
  return infer_along(c, dtype::i64);
}

result<register_type> infer_argmax(const rule_context& c) {
  auto all = infer_argsort(c);
  if (!all) return all;
  auto dim = static_cast<size_t>(c.integer(0));
  if (all->dims[dim] == 0)
    return complain(device_errc::shape_mismatch,
                    "dim {} of x {} has no places, and nothing is the extreme of nothing", dim,
                    to_string(all->dims));
  register_type out{all->type, all->storage, {}, {}};
  for (size_t i = 0; i < all->dims.rank(); ++i) {
    if (i == dim) continue;
    out.dims.push(all->dims[i]);
    out.factors.push_back(all->factors[i]);
  }
  return out;
}

result<register_type> infer_topk(const rule_context& c, dtype type) {
  auto out = infer_along(c, type);
  if (!out) return out;
  auto dim = static_cast<size_t>(c.integer(0));
  auto k = c.integer(1);
  if (k > out->dims[dim])
    return complain(device_errc::dim_range, "k is {}, but dim {} of x {} has {} places", k, dim,
                    to_string(out->dims), out->dims[dim]);
  if (k != out->dims[dim]) {
    out->dims[dim] = k;
    out->factors[dim] = c.fresh_axis(k);
  }
  return out;
}

result<register_type> infer_topk_values(const rule_context& c) {
  return infer_topk(c, c.operand(0).type);
}

result<register_type> infer_topk_indices(const rule_context& c) {
  return infer_topk(c, dtype::i64);
}

// -- gradients -----------------------------------------------------------------

reg flipped(gradient_context& g, reg x) {
  return g.emit(op::flip, {x}, {std::vector<uint32_t>{static_cast<uint32_t>(dim_at(g.attr(0)))}});
}

/// Each element is in all later sums.
void cumsum_gradient(gradient_context& g) {
  g.give(0, flipped(g, g.emit(op::cumsum, {flipped(g, g.upstream())}, {g.attr(0)})));
}

void cumprod_gradient(gradient_context& g) {
  g.give(0, g.emit(op::cumprod_backward, {g.upstream(), g.operand(0)}, {g.attr(0)}));
}

/// Back to where the values came from.
void returned(gradient_context& g, reg places) {
  auto x = g.type_of(g.operand(0));
  auto zeros = g.emit(op::full, {}, {sizes_of(x.dims), 0.0, static_cast<int64_t>(x.type)});
  g.give(0, g.emit(op::scatter, {zeros, places, g.upstream()}, {g.attr(0)}));
}

void sort_gradient(gradient_context& g) {
  returned(g, g.emit(op::argsort, {g.operand(0)}, {g.attr(0), g.attr(1)}));
}

void topk_gradient(gradient_context& g) {
  returned(g, g.emit(op::topk_indices, {g.operand(0)}, {g.attr(0), g.attr(1)}));
}

// -- splits, costs -------------------------------------------------------------

std::vector<split_axis> split_along(const typed_call& call) {
  return other_axes(call, dim_at(call.attributes[0]));
}

std::vector<split_axis> split_argmax(const typed_call& call) {
  std::vector<split_axis> axes;
  auto dim = static_cast<int>(dim_at(call.attributes[0]));
  for (int i = 0; i < static_cast<int>(call.operands[0]->dims.rank()); ++i)
    if (i != dim) axes.push_back({{i}, i < dim ? i : i - 1, join::none});
  return axes;
}

cost scan_cost(const typed_call& call) {
  auto sum = traffic(call, 0);
  sum.flops = static_cast<double>(call.operands[0]->dims.elements());
  return sum;
}

/// As if each element was looked at sixteen times.
cost sort_cost(const typed_call& call) {
  auto sum = scan_cost(call);
  sum.flops *= 16;
  return sum;
}

// -- samples -------------------------------------------------------------------

sample along(sampler& random, contents what, int64_t least) {
  auto dims = random.dims(1, 4);
  auto dim = random.below(static_cast<int64_t>(dims.rank()));
  auto& size = dims[static_cast<size_t>(dim)];
  size = std::max(size, least);
  return {{random.tensor(dims, what)}, {dim}};
}

sample running_example(sampler& random) {
  return along(random, contents::any, 0);
}

/// Few places, since their products grow.
sample cumprod_example(sampler& random) {
  auto out = running_example(random);
  auto& dims = out.operands[0]->dims;
  for (size_t i = 0; i < dims.rank(); ++i) dims[i] = std::min<int64_t>(dims[i], 4);
  return out;
}

/// Equal elements among integers, none among floats, where sorting has no slope.
sample sort_example(sampler& random) {
  auto out = along(random, is_float(random.type()) ? contents::distinct : contents::any, 0);
  out.attributes.emplace_back();
  if (random.coin()) out.attributes.back() = random.coin();
  return out;
}

sample argmax_example(sampler& random) {
  return along(random, contents::any, 1);
}

sample topk_example(sampler& random) {
  auto out = along(random, is_float(random.type()) ? contents::distinct : contents::any, 0);
  auto dim = static_cast<size_t>(std::get<int64_t>(out.attributes[0]));
  out.attributes.resize(2);
  out.attributes[1] = random.below(out.operands[0]->dims[dim] + 1);
  return out;
}

sample cumprod_backward_example(sampler& random) {
  auto out = cumprod_example(random);
  out.operands.push_back(out.operands[0]);
  return out;
}

wrong_sample wrong_dim(sampler& random) {
  return {{{random.tensor({2, 3})}, {int64_t{2}}}, device_errc::dim_range};
}

wrong_sample wrong_sort(sampler& random) {
  return {{{random.tensor({2, 3})}, {int64_t{2}, {}}}, device_errc::dim_range};
}

wrong_sample wrong_argmax(sampler& random) {
  return {{{random.tensor({2, 0})}, {int64_t{1}}}, device_errc::shape_mismatch};
}

wrong_sample wrong_topk(sampler& random) {
  return {{{random.tensor({2, 3})}, {int64_t{1}, int64_t{4}}}, device_errc::dim_range};
}

// -- rows ----------------------------------------------------------------------

row numbers_along(op id, std::string_view name, std::string_view sentence, std::string_view pytorch,
                  const view_rules& rules) {
  auto out = with_rules(view(id, name, sentence, {{"dim", field_kind::nat32}}, pytorch), rules);
  out.runs = row_runs::kernel;
  out.takes = number_types;
  out.costs = scan_cost;
  return out;
}

row extreme(op id, std::string_view name, std::string_view sentence, std::string_view pytorch) {
  auto out =
    numbers_along(id, name, sentence, pytorch,
                  {infer_argmax, nullptr, nullptr, split_argmax, argmax_example, wrong_argmax});
  out.no_gradient = "its result is a place";
  return out;
}

row running(op id, std::string_view name, std::string_view sentence, std::string_view pytorch,
            void (*gradient)(gradient_context&), sample (*example)(sampler&)) {
  auto out = numbers_along(id, name, sentence, pytorch,
                           {infer_running, nullptr, gradient, split_along, example, wrong_dim});
  out.tolerance = 16;
  return out;
}

row sorting(op id, std::string_view name, std::string_view sentence, std::string_view pytorch,
            const view_rules& rules, const field& more) {
  auto out = numbers_along(id, name, sentence, pytorch, rules);
  out.fields.push_back(more);
  out.costs = sort_cost;
  if (!out.gradient) out.no_gradient = "its result is places";
  return out;
}

} // namespace

std::vector<row> order_rows() {
  auto backward = running(op::cumprod_backward, "cumprod_backward",
                          "What flows back to each factor of running products, without dividing.",
                          {}, nullptr, cumprod_backward_example);
  backward.reference = "torch.cumprod";
  backward.fields = {
    {"gradient", field_kind::reg}, {"x", field_kind::reg}, {"dim", field_kind::nat32}};
  backward.takes = float_types;
  backward.wrong = nullptr;
  backward.no_gradient = "second derivatives of cumprod have no rule";
  field descending{"descending", field_kind::boolean, true}, k{"k", field_kind::nat32};
  auto topk_values = sorting(
    op::topk_values, "topk_values", "The `k` greatest along dimension `dim`, the greatest first.",
    "torch.sort(x, dim=dim, descending=True, stable=True)[0].narrow(dim, 0, k)",
    {infer_topk_values, nullptr, topk_gradient, split_along, topk_example, wrong_topk}, k);
  auto topk_indices =
    sorting(op::topk_indices, "topk_indices",
            "Where the `k` greatest along dimension `dim` are, the greatest first, equal ones in "
            "their order.",
            "torch.sort(x, dim=dim, descending=True, stable=True)[1].narrow(dim, 0, k)",
            {infer_topk_indices, nullptr, nullptr, split_along, topk_example, wrong_topk}, k);
  topk_values.reference = topk_indices.reference = "torch.topk";
  return {
    extreme(op::argmax, "argmax",
            "Where the greatest along dimension `dim` is, which the result lacks; the first of "
            "equals, and of NaNs.",
            "torch.argmax(x, dim)"),
    extreme(op::argmin, "argmin",
            "Where the least along dimension `dim` is, which the result lacks; the first of "
            "equals, and of NaNs.",
            "torch.argmin(x, dim)"),
    running(op::cumsum, "cumsum", "Sums of all places up to each along `dim`; of integers i64.",
            "torch.cumsum(x, dim)", cumsum_gradient, running_example),
    running(op::cumprod, "cumprod",
            "Products of all places up to each along `dim`; of integers i64.",
            "torch.cumprod(x, dim)", cumprod_gradient, cumprod_example),
    backward,
    sorting(
      op::sort, "sort", "The least first along dimension `dim`, or last; NaN is the greatest.",
      "torch.sort(x, dim=dim, descending=descending or False, stable=True)[0]",
      {infer_sorted, nullptr, sort_gradient, split_along, sort_example, wrong_sort}, descending),
    sorting(op::argsort, "argsort",
            "Where each of the sorted values along dimension `dim` comes from, equal ones in their "
            "order.",
            "torch.sort(x, dim=dim, descending=descending or False, stable=True)[1]",
            {infer_argsort, nullptr, nullptr, split_along, sort_example, wrong_sort}, descending),
    topk_values,
    topk_indices,
  };
}

} // namespace moxzi::device
