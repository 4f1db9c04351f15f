#include <algorithm>

#include "device/ops/pointwise_rows.hpp"
#include "device/ops/view_row.hpp"

// Rows that take elements from, or put them to, places that other data names.

namespace moxzi::device {

namespace {

/// ids has x's rank, and outside of `dim` no more places.
result<void> want_ids(const rule_context& c) {
  auto &x = c.operand(0), &ids = c.operand(1);
  if (auto ok = want_integer("ids", ids); !ok) return ok;
  if (auto ok = want_dim(c.integer(0), "x", x); !ok) return ok;
  bool fits = x.dims.rank() == ids.dims.rank();
  for (size_t i = 0; i < x.dims.rank() && fits; ++i)
    fits = static_cast<int64_t>(i) == c.integer(0) || ids.dims[i] <= x.dims[i];
  if (fits) return {};
  return complain(device_errc::shape_mismatch,
                  "ids {} does not fit x {}: as many dimensions wanted, and outside of dim {} no "
                  "more places",
                  to_string(ids.dims), to_string(x.dims), c.integer(0));
}

result<void> want_src(const rule_context& c) {
  auto &x = c.operand(0), &ids = c.operand(1), &src = c.operand(2);
  if (auto ok = want_ids(c); !ok) return ok;
  if (auto ok = want_same_type("x", x, "src", src); !ok) return ok;
  if (src.dims == ids.dims) return {};
  return complain(device_errc::shape_mismatch, "src {} and ids {} must have one shape",
                  to_string(src.dims), to_string(ids.dims));
}

// -- gather --------------------------------------------------------------------

result<register_type> infer_gather(const rule_context& c) {
  if (auto ok = want_ids(c); !ok) return ok.error();
  auto &x = c.operand(0), &ids = c.operand(1);
  return register_type{x.type, x.storage, ids.dims, ids.factors};
}

/// Zeros like operand `n`.
reg zeros_like(gradient_context& g, size_t n) {
  auto like = g.type_of(g.operand(n));
  return g.emit(op::full, {}, {sizes_of(like.dims), 0.0, static_cast<int64_t>(like.type)});
}

void gather_gradient(gradient_context& g) {
  g.give(0, g.emit(op::scatter_add, {zeros_like(g, 0), g.operand(1), g.upstream()}, {g.attr(0)}));
}

/// Where x and ids have the same places; along `dim` of gather x is whole.
std::vector<split_axis> split_like_ids(const typed_call& call, bool along) {
  std::vector<split_axis> axes;
  auto dim = dim_at(call.attributes[0]);
  auto &x = call.operands[0]->dims, &ids = call.operands[1]->dims;
  for (size_t i = 0; i < x.rank(); ++i) {
    auto at = static_cast<int>(i);
    std::vector<int> operands(call.operands.size(), at);
    if (i == dim) {
      if (!along) continue;
      operands[0] = -1;
    } else if (x[i] != ids[i]) {
      continue;
    }
    axes.push_back({operands, at, join::none});
  }
  return axes;
}

std::vector<split_axis> split_gather(const typed_call& call) {
  return split_like_ids(call, true);
}

/// x and ids that name places in it.
sample ids_example(sampler& random) {
  auto dims = random.some_dims(1, 4), ids = dims;
  auto dim = static_cast<size_t>(random.below(static_cast<int64_t>(dims.rank())));
  for (size_t i = 0; i < dims.rank(); ++i)
    ids[i] = i == dim ? random.size() : dims[i] - (random.coin() ? 0 : random.below(dims[i] + 1));
  return {{random.tensor(dims), random.indices(ids, dims[dim])}, {static_cast<int64_t>(dim)}};
}

wrong_sample wrong_ids(sampler& random) {
  return {{{random.tensor({2, 3}), random.indices({3, 3}, 3)}, {int64_t{1}}},
          device_errc::shape_mismatch};
}

// -- index_select --------------------------------------------------------------

result<register_type> infer_index_select(const rule_context& c) {
  auto out = c.operand(0);
  auto& ids = c.operand(1);
  if (auto ok = want_integer("ids", ids); !ok) return ok.error();
  if (auto ok = want_rank("ids", ids, 1); !ok) return ok.error();
  if (auto ok = want_dim(c.integer(0), "x", out); !ok) return ok.error();
  auto dim = static_cast<size_t>(c.integer(0));
  out.dims[dim] = ids.dims[0];
  out.factors[dim] = ids.factors[0];
  if (auto ok = want_size(out.dims); !ok) return ok.error();
  return out;
}

/// As the gradient of an embedding whose columns are all other dimensions.
void index_select_gradient(gradient_context& g) {
  auto dims = g.type_of(g.operand(0)).dims;
  auto up = g.upstream();
  auto dim = dim_at(g.attr(0));
  auto front = [&](reg x) {
    return dim == 0 ? x : g.emit(op::transpose, {x}, {int64_t{0}, g.attr(0)});
  };
  auto moved = front(up);
  auto sizes = g.type_of(moved).dims;
  auto places = dims[dim], columns = int64_t{1};
  for (size_t i = 1; i < sizes.rank(); ++i) columns *= sizes[i];
  auto rows = g.emit(
    op::reshape, {moved},
    {std::vector<uint32_t>{static_cast<uint32_t>(sizes[0]), static_cast<uint32_t>(columns)}});
  auto sums = g.emit(op::embedding_backward, {rows, g.operand(1)}, {places});
  sizes[0] = places;
  g.give(0, front(g.emit(op::reshape, {sums}, {sizes_of(sizes)})));
}

std::vector<split_axis> split_index_select(const typed_call& call) {
  std::vector<split_axis> axes;
  auto dim = static_cast<int>(dim_at(call.attributes[0]));
  for (int i = 0; i < static_cast<int>(call.result->dims.rank()); ++i)
    axes.push_back(i == dim ? split_axis{{-1, 0}, i, join::none}
                            : split_axis{{i, -1}, i, join::none});
  return axes;
}

sample index_select_example(sampler& random) {
  auto dims = random.dims(1, 4);
  auto dim = static_cast<size_t>(random.below(static_cast<int64_t>(dims.rank())));
  dims[dim] = std::max<int64_t>(dims[dim], 1);
  return {{random.tensor(dims), random.indices({random.size()}, dims[dim])},
          {static_cast<int64_t>(dim)}};
}

wrong_sample wrong_index_select(sampler& random) {
  return {{{random.tensor({2, 3}), random.indices({3, 3}, 2)}, {int64_t{0}}},
          device_errc::shape_mismatch};
}

// -- scatter, scatter_add ------------------------------------------------------

result<register_type> infer_scatter(const rule_context& c) {
  if (auto ok = want_src(c); !ok) return ok.error();
  auto out = c.operand(0);
  if (c.operand(2).storage != out.storage) out.storage = stored_as(out.type);
  return out;
}

result<register_type> infer_scatter_add(const rule_context& c) {
  if (auto ok = want_number("x", c.operand(0)); !ok) return ok.error();
  if (auto ok = want_src(c); !ok) return ok.error();
  auto out = c.operand(0);
  out.storage = stored_as(out.type);
  return out;
}

/// What was written over has no part in the result: neither x's elements nor those of src that a
/// later one replaced.
void scatter_gradient(gradient_context& g) {
  auto ids = g.operand(1), up = g.upstream();
  if (g.wants(0)) g.give(0, g.emit(op::scatter, {up, ids, zeros_like(g, 2)}, {g.attr(0)}));
  if (!g.wants(2)) return;
  auto dims = g.type_of(ids).dims;
  auto number = static_cast<int64_t>(dtype::i64);
  auto order = g.emit(op::reshape, {g.emit(op::arange, {}, {int64_t{0}, dims.elements(), {}, {}})},
                      {sizes_of(dims)});
  auto nobody = g.emit(op::full, {}, {sizes_of(g.type_of(up).dims), -1.0, number});
  auto last = g.emit(op::scatter, {nobody, ids, order}, {g.attr(0)});
  auto stands = g.emit(op::eq, {g.emit(op::gather, {last, ids}, {g.attr(0)}), order});
  auto mine = g.emit(op::gather, {up, ids}, {g.attr(0)});
  g.give(2, g.emit(op::mask_fill, {mine, g.emit(op::logical_not, {stands})}, {0.0}));
}

void scatter_add_gradient(gradient_context& g) {
  g.give(0, g.upstream());
  if (g.wants(2)) g.give(2, g.emit(op::gather, {g.upstream(), g.operand(1)}, {g.attr(0)}));
}

std::vector<split_axis> split_scatter(const typed_call& call) {
  return split_like_ids(call, false);
}

/// No place is named twice: PyTorch's gradient does not tell which one stands.
sample scatter_example(sampler& random) {
  auto ids = random.dims(1, 3), dims = ids;
  for (size_t i = 0; i < ids.rank(); ++i) dims[i] = ids[i] = std::min<int64_t>(ids[i], 4);
  auto dim = static_cast<size_t>(random.below(static_cast<int64_t>(dims.rank())));
  dims[dim] = ids.elements() + random.below(3);
  return {{random.tensor(dims), sample_operand{dtype::i64, ids, contents::distinct, 0},
           random.tensor(ids)},
          {static_cast<int64_t>(dim)}};
}

sample scatter_add_example(sampler& random) {
  auto out = ids_example(random);
  out.operands.push_back(random.tensor(out.operands[1]->dims));
  return out;
}

wrong_sample wrong_scatter(sampler& random) {
  return {{{random.tensor({2, 3}), random.indices({2, 3}, 3), random.tensor({2, 2})}, {int64_t{1}}},
          device_errc::shape_mismatch};
}

// -- one_hot -------------------------------------------------------------------

result<register_type> infer_one_hot(const rule_context& c) {
  auto& ids = c.operand(0);
  if (auto ok = want_integer("ids", ids); !ok) return ok.error();
  register_type out{dtype::i64, elem::i64, ids.dims, ids.factors};
  if (!out.dims.push(c.integer(0)))
    return complain(device_errc::shape_mismatch, "ids is {}; at most {} dimensions",
                    to_string(ids.dims), rank_max - 1);
  out.factors.push_back(c.fresh_axis(c.integer(0)));
  if (auto ok = want_size(out.dims); !ok) return ok.error();
  return out;
}

std::vector<split_axis> split_one_hot(const typed_call& call) {
  return leading_axes(call.operands[0]->dims.rank(), 1);
}

sample one_hot_example(sampler& random) {
  auto classes = random.some();
  auto ids = random.indices(random.dims(0, 3), classes);
  ids.type = random.type();
  return {{ids}, {classes}};
}

wrong_sample wrong_one_hot(sampler& random) {
  return {{{random.tensor({1'000, 1'000})}, {int64_t{100'000}}}, device_errc::shape_mismatch};
}

// -- rows ----------------------------------------------------------------------

row picking(op id, std::string_view name, std::string_view sentence, std::vector<field> fields,
            std::string_view pytorch, const view_rules& rules) {
  auto out = with_rules(view(id, name, sentence, {}, pytorch), rules);
  out.fields = std::move(fields);
  out.runs = row_runs::kernel;
  out.costs = moves;
  return out;
}

} // namespace

std::vector<row> picking_rows() {
  field x{"x", field_kind::reg}, dim{"dim", field_kind::nat32}, ids{"ids", field_kind::reg},
    src{"src", field_kind::reg};
  auto scatter_add =
    picking(op::scatter_add, "scatter_add", "x, and src added where ids say along dimension `dim`.",
            {x, dim, ids, src}, "torch.scatter_add(x, dim, ids.long(), src)",
            {infer_scatter_add, nullptr, scatter_add_gradient, split_scatter, scatter_add_example,
             wrong_scatter});
  scatter_add.takes = number_types;
  scatter_add.tolerance = 16;
  auto one_hot = picking(
    op::one_hot, "one_hot", "For each of ids a row of `classes` i64, 0 but 1 at that place.",
    {ids, {"classes", field_kind::nat32}}, "F.one_hot(ids.long(), classes)",
    {infer_one_hot, nullptr, nullptr, split_one_hot, one_hot_example, wrong_one_hot});
  one_hot.reference = "torch.nn.functional.one_hot";
  one_hot.takes = integer_types;
  one_hot.no_gradient = "its result is of integers";
  return {
    picking(op::gather, "gather",
            "For each of ids that place of x along dimension `dim`; ids' shape.", {x, dim, ids},
            "torch.gather(x, dim, ids.long())",
            {infer_gather, nullptr, gather_gradient, split_gather, ids_example, wrong_ids}),
    picking(op::index_select, "index_select",
            "The places of dimension `dim` that ids, of one dimension, name.", {x, dim, ids},
            "torch.index_select(x, dim, ids.long())",
            {infer_index_select, nullptr, index_select_gradient, split_index_select,
             index_select_example, wrong_index_select}),
    picking(
      op::scatter, "scatter",
      "x, and src instead where ids say along dimension `dim`; of several for one place the "
      "last.",
      {x, dim, ids, src}, "torch.scatter(x, dim, ids.long(), src)",
      {infer_scatter, nullptr, scatter_gradient, split_scatter, scatter_example, wrong_scatter}),
    scatter_add,
    one_hot,
  };
}

} // namespace moxzi::device
