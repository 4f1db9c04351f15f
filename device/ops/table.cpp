#include "device/ops/table.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "device/ops/rows.hpp"

namespace moxzi::device {

namespace {

std::vector<row> build() {
  std::vector<row> rows;
  for (auto group :
       {source_rows,    shape_rows,   view_rows,          layout_rows,     moving_rows,
        indexing_rows,  picking_rows, arithmetic_rows,    comparison_rows, activation_rows,
        reduction_rows, order_rows,   linear_rows,        matmul_rows,     convolution_rows,
        pooling_rows,   softmax_rows, normalisation_rows, attention_rows,  batch_norm_rows,
        random_rows,    stored_rows,  recurrent_rows,     loss_rows,       gradient_rows})
    for (auto& entry : group()) rows.push_back(std::move(entry));
  std::ranges::sort(rows, {}, &row::id);
  for (size_t i = 0; i < rows.size(); ++i) {
    moxzi_assert(i == 0 || rows[i - 1].id < rows[i].id, "two rows {}", rows[i].name);
    if (rows[i].training_form == op{}) rows[i].training_form = rows[i].id;
  }
  return rows;
}

} // namespace

std::span<const row> table() {
  static const std::vector<row> rows = build();
  return rows;
}

const row* find_row(op id) noexcept {
  auto rows = table();
  auto found = std::ranges::lower_bound(rows, id, {}, &row::id);
  return found != rows.end() && found->id == id ? &*found : nullptr;
}

const row* find_row(std::string_view name) noexcept {
  for (auto& entry : table())
    if (entry.name == name && !entry.internal()) return &entry;
  return nullptr;
}

} // namespace moxzi::device
