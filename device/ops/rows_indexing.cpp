#include "device/ops/rows.hpp"

namespace moxzi::device {

namespace {

result<register_type> infer_embedding(const rule_context& c) {
  auto &table = c.operand(0), &ids = c.operand(1);
  if (auto ok = want_float("table", table); !ok) return ok.error();
  if (auto ok = want_integer("ids", ids); !ok) return ok.error();
  if (table.dims.rank() != 2)
    return complain(device_errc::shape_mismatch,
                    "table is {} and ids {}; a table of rank 2, [rows, columns], wanted",
                    to_string(table.dims), to_string(ids.dims));
  register_type out{table.type, table.storage, ids.dims, ids.factors};
  if (!out.dims.push(table.dims[1]))
    return complain(device_errc::shape_mismatch, "ids is {}; at most {} dimensions",
                    to_string(ids.dims), rank_max - 1);
  out.factors.push_back(table.factors[1]);
  if (auto ok = want_size(out.dims); !ok) return ok.error();
  return out;
}

void embedding_gradient(gradient_context& g) {
  auto rows = g.type_of(g.operand(0)).dims[0];
  g.give(0, g.emit(op::embedding_backward, {g.upstream(), g.operand(1)}, {rows}));
}

/// Along the ids or along the columns.
std::vector<split_axis> split_embedding(const typed_call& call) {
  std::vector<split_axis> axes;
  auto ids = static_cast<int>(call.operands[1]->dims.rank());
  for (int i = 0; i < ids; ++i) axes.push_back({{-1, i}, i, join::none});
  axes.push_back({{1, -1}, ids, join::none});
  return axes;
}

result<register_type> infer_embedding_backward(const rule_context& c) {
  auto& upstream = c.operand(0);
  return register_type{upstream.type,
                       upstream.storage,
                       {c.integer(0), upstream.dims.last()},
                       {c.fresh_axis(c.integer(0)), upstream.factors.back()}};
}

std::vector<split_axis> split_embedding_backward(const typed_call& call) {
  std::vector<split_axis> axes;
  auto ids = static_cast<int>(call.operands[1]->dims.rank());
  for (int i = 0; i < ids; ++i) axes.push_back({{i, i}, -1, join::sum});
  axes.push_back({{ids, -1}, 1, join::none});
  return axes;
}

cost embedding_cost(const typed_call& call) {
  // Rows of the table are read, not all of it.
  auto out = static_cast<double>(call.result->dims.elements()) * size_of(call.result->storage);
  auto& ids = *call.operands[1];
  return {0, 2 * out + static_cast<double>(ids.dims.elements()) * size_of(ids.storage)};
}

cost embedding_backward_cost(const typed_call& call) {
  auto sum = traffic(call, 0);
  sum.flops = static_cast<double>(call.operands[0]->dims.elements());
  return sum;
}

/// Each place that took a row of the table gets that row of the upstream's.
void embedding_backward_gradient(gradient_context& g) {
  g.give(0, g.emit(op::embedding, {g.upstream(), g.operand(1)}));
}

sample embedding_example(sampler& random) {
  auto rows = random.some();
  return {{random.tensor({rows, random.size()}), random.indices(random.dims(0, 3), rows)}, {}};
}

wrong_sample wrong_embedding(sampler& random) {
  return {{{random.tensor({2, 3, 4}), random.indices({2}, 2)}, {}}, device_errc::shape_mismatch};
}

sample embedding_backward_example(sampler& random) {
  auto dims = random.dims(0, 2);
  auto with_columns = dims;
  with_columns.push(random.size());
  auto rows = random.some();
  return {{random.tensor(with_columns), random.indices(dims, rows)}, {rows}};
}

} // namespace

std::vector<row> indexing_rows() {
  return {
    {
      .id = op::embedding,
      .name = "embedding",
      .sentence = "For each of `ids` that row of `table` [rows, columns]: ids' shape with columns "
                  "added.",
      .reference = "torch.nn.functional.embedding",
      .fields = {{"table", field_kind::reg}, {"ids", field_kind::reg}},
      .infer = infer_embedding,
      .gradient = embedding_gradient,
      .split = split_embedding,
      .costs = embedding_cost,
      .pytorch = "F.embedding(ids, table)",
      .example = embedding_example,
      .wrong = wrong_embedding,
    },
    {
      .id = op::embedding_backward,
      .name = "embedding_backward",
      .sentence = "Each row's sum of the gradients of the places that took it.",
      .reference = "torch.nn.functional.embedding",
      .fields = {{"gradient", field_kind::reg},
                 {"ids", field_kind::reg},
                 {"rows", field_kind::nat32}},
      .infer = infer_embedding_backward,
      .gradient = embedding_backward_gradient,
      .split = split_embedding_backward,
      .costs = embedding_backward_cost,
      .example = embedding_backward_example,
      .tolerance = 8,
    },
  };
}

} // namespace moxzi::device
