// embedding, its gradient, and cross entropy: what takes indices from data.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "device/aten/host.hpp"
#include "device/ops/options.hpp"
#include "device/torch/indices.hpp"
#include "device/torch/kernels.hpp"
#include "device/torch/loops.hpp"
#include "device/torch/softmax.hpp"

namespace moxzi::device::torch {

namespace {

// -- embedding -----------------------------------------------------------------

bool embedding(const kernel_call& call, fault& why) {
  auto &table = call.inputs[0], &ids = call.inputs[1];
  if (!check_indices(ids, "ids", table.dims[0], why)) return false;
  const auto row_bytes = static_cast<size_t>(table.dims[1]) * size_of(table.type);
  if (row_bytes == 0) return true;
  const auto* from = table.as<const char>();
  auto* to = call.outputs[0].as<char>();
  const auto grain = std::max<int64_t>(1, 65536 / static_cast<int64_t>(row_bytes));
  with_integers(ids, [&call, &ids, from, to, row_bytes, grain](const auto* values) {
    for_parts(call.threads, ids.elements, grain,
              [to, from, values, row_bytes](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; i++)
                  std::memcpy(to + static_cast<size_t>(i) * row_bytes,
                              from + static_cast<size_t>(values[i]) * row_bytes, row_bytes);
              });
  });
  return true;
}

template <class T, class Id>
void add_rows(T* to, const T* from, const Id* ids, int64_t count, int64_t columns, int64_t begin,
              int64_t end) {
  std::memset(to + begin * columns, 0, static_cast<size_t>((end - begin) * columns) * sizeof(T));
  for (int64_t i = 0; i < count; i++) {
    const auto id = static_cast<int64_t>(ids[i]);
    if (id < begin || id >= end) continue;
    T* __restrict row = to + id * columns;
    const T* __restrict term = from + i * columns;
    for (int64_t j = 0; j < columns; j++) row[j] += term[j];
  }
}

/// Each thread has some rows of the table and adds to them in the order of the ids, so that the
/// sums don't depend on the number of threads.
template <class T>
void embedding_backward_of(const kernel_call& call) {
  auto &gradient = call.inputs[0], &ids = call.inputs[1], &out = call.outputs[0];
  const int64_t rows = out.dims[0], columns = out.dims[1];
  if (out.elements == 0) return;
  const auto grain = std::max<int64_t>(1, 262144 / columns);
  with_integers(ids, [&call, &gradient, &ids, &out, rows, columns, grain](const auto* values) {
    const T* from = gradient.as<const T>();
    T* to = out.as<T>();
    const int64_t count = ids.elements;
    for_parts(call.threads, rows, grain,
              [to, from, values, count, columns](int64_t begin, int64_t end) {
                add_rows(to, from, values, count, columns, begin, end);
              });
  });
}

bool embedding_backward(const kernel_call& call, fault& why) {
  if (!check_indices(call.inputs[1], "ids", call.outputs[0].dims[0], why)) return false;
  if (call.outputs[0].type == elem::f64)
    embedding_backward_of<double>(call);
  else
    embedding_backward_of<float>(call);
  return true;
}

// -- cross entropy -------------------------------------------------------------

constexpr int64_t rows_at_once = 64; // whose targets are widened together
constexpr int64_t parts_max = 256;   // partial sums of the loss; fixed, so that it has one value

template <class T>
double rows_loss(const kernel_call& call, int64_t begin, int64_t end) {
  auto& logits = call.inputs[0];
  const int64_t columns = logits.dims[1];
  const auto scale = static_cast<T>(1.0 / static_cast<double>(logits.dims[0]));
  T* gradient = call.outputs.size() > 1 ? call.outputs[1].as<T>() : nullptr;
  double loss = 0;
  std::array<int64_t, rows_at_once> targets;
  for (int64_t i = begin; i < end; i += rows_at_once) {
    const auto rows = std::min(rows_at_once, end - i);
    with_integers(call.inputs[1], [&targets, i, rows](const auto* values) {
      for (int64_t j = 0; j < rows; j++)
        targets[static_cast<size_t>(j)] = static_cast<int64_t>(values[i + j]);
    });
    loss += cross_entropy_rows(logits.as<const T>() + i * columns, targets.data(), rows, columns,
                               scale, gradient ? gradient + i * columns : nullptr);
  }
  return loss;
}

template <class T>
void cross_entropy_of(const kernel_call& call) {
  const int64_t rows = call.inputs[0].dims[0];
  if (rows == 0) {
    *call.outputs[0].as<T>() = std::numeric_limits<T>::quiet_NaN(); // the mean of nothing
    return;
  }
  // Blocks depend on the shape alone.
  const int64_t blocks = std::min((rows + rows_at_once - 1) / rows_at_once, parts_max);
  const int64_t block = (rows + blocks - 1) / blocks;
  std::array<double, parts_max> sums{};
  for_parts(call.threads, blocks, 1, [&call, &sums, rows, block](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
      sums[static_cast<size_t>(i)] =
        rows_loss<T>(call, std::min(i * block, rows), std::min((i + 1) * block, rows));
  });
  double loss = 0;
  for (int64_t i = 0; i < blocks; i++) loss += sums[static_cast<size_t>(i)];
  *call.outputs[0].as<T>() = static_cast<T>(loss / static_cast<double>(rows));
}

/// The mean over all rows, each with its target alone; any other form is ATen's.
bool is_plain(const kernel_call& call) {
  return reduction_of(call.attributes[0]) == reduction::mean
         && std::holds_alternative<std::monostate>(call.attributes[1])
         && real_number(call.attributes[2], 0) == 0 && call.inputs[2].dims.rank() == 0;
}

bool cross_entropy(const kernel_call& call, fault& why) {
  if (!is_plain(call)) return aten::find_host_kernel(call.id)(call, why);
  if (!check_indices(call.inputs[1], "targets", call.inputs[0].dims[1], why)) return false;
  if (call.inputs[0].type == elem::f64)
    cross_entropy_of<double>(call);
  else
    cross_entropy_of<float>(call);
  return true;
}

} // namespace

kernel_function find_indexing_kernel(op id) noexcept {
  switch (id) {
    case op::embedding:
      return embedding;
    case op::embedding_backward:
      return embedding_backward;
    case op::cross_entropy:
    case op::cross_entropy_train:
      return cross_entropy;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::torch
