#include "device/reference/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/assert.hpp"
#include "device/half.hpp"
#include "device/pointwise/chain.hpp"

namespace moxzi::device::reference {

namespace {

// -- indexing ------------------------------------------------------------------

bool embedding(const kernel_call& call, fault& why) {
  auto &table = call.inputs[0], &ids = call.inputs[1], &out = call.outputs[0];
  auto rows = table.dims[0], columns = table.dims[1];
  for (int64_t i = 0; i < ids.elements; ++i) {
    auto id = get_integer(ids, i);
    if (id < 0 || id >= rows) return index_fault(why, "ids", id, rows);
    for (int64_t j = 0; j < columns; ++j) set(out, i * columns + j, get(table, id * columns + j));
  }
  return true;
}

bool embedding_backward(const kernel_call& call, fault& why) {
  auto &g = call.inputs[0], &ids = call.inputs[1], &out = call.outputs[0];
  auto rows = out.dims[0], columns = out.dims[1];
  std::vector<double> sums(static_cast<size_t>(out.elements));
  for (int64_t i = 0; i < ids.elements; ++i) {
    auto id = get_integer(ids, i);
    if (id < 0 || id >= rows) return index_fault(why, "ids", id, rows);
    for (int64_t j = 0; j < columns; ++j)
      sums[static_cast<size_t>(id * columns + j)] += get(g, i * columns + j);
  }
  for (int64_t n = 0; n < out.elements; ++n) set(out, n, sums[static_cast<size_t>(n)]);
  return true;
}

// -- linear --------------------------------------------------------------------

/// Rows of a matrix that is all leading dimensions by the last.
int64_t rows_of(const tensor_view& x) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < x.dims.rank(); ++i) rows *= x.dims[i];
  return rows;
}

bool linear(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &w = call.inputs[1], &b = call.inputs[2], &y = call.outputs[0];
  auto outs = w.dims[0], ins = w.dims[1], rows = rows_of(x);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t o = 0; o < outs; ++o) {
      double sum = b.data ? get(b, o) : 0;
      for (int64_t i = 0; i < ins; ++i) sum += get(x, r * ins + i) * get(w, o * ins + i);
      set(y, r * outs + o, sum);
    }
  return true;
}

bool linear_input_backward(const kernel_call& call, fault&) {
  auto &g = call.inputs[0], &w = call.inputs[1], &out = call.outputs[0];
  auto outs = w.dims[0], ins = w.dims[1], rows = rows_of(g);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < ins; ++i) {
      double sum = 0;
      for (int64_t o = 0; o < outs; ++o) sum += get(g, r * outs + o) * get(w, o * ins + i);
      set(out, r * ins + i, sum);
    }
  return true;
}

bool linear_weight_backward(const kernel_call& call, fault&) {
  auto &g = call.inputs[0], &x = call.inputs[1], &out = call.outputs[0];
  auto outs = out.dims[0], ins = out.dims[1], rows = rows_of(x);
  for (int64_t o = 0; o < outs; ++o)
    for (int64_t i = 0; i < ins; ++i) {
      double sum = 0;
      for (int64_t r = 0; r < rows; ++r) sum += get(g, r * outs + o) * get(x, r * ins + i);
      set(out, o * ins + i, sum);
    }
  return true;
}

bool linear_bias_backward(const kernel_call& call, fault&) {
  auto &g = call.inputs[0], &out = call.outputs[0];
  auto rows = rows_of(g);
  for (int64_t o = 0; o < out.elements; ++o) {
    double sum = 0;
    for (int64_t r = 0; r < rows; ++r) sum += get(g, r * out.elements + o);
    set(out, o, sum);
  }
  return true;
}

// -- element by element --------------------------------------------------------

bool chain(const kernel_call& call, fault&) {
  pointwise::run_chain(call, pointwise::precision::wide, 0, call.outputs[0].elements);
  return true;
}

} // namespace

double get(const tensor_view& from, int64_t n) noexcept {
  switch (from.type) {
    case elem::f64:
      return from.as<double>()[n];
    case elem::f32:
      return from.as<float>()[n];
    case elem::f16:
      return from_f16(from.as<uint16_t>()[n]);
    case elem::bf16:
      return from_bf16(from.as<uint16_t>()[n]);
    default:
      return static_cast<double>(get_integer(from, n));
  }
}

void set(const tensor_view& to, int64_t n, double value) noexcept {
  switch (to.type) {
    case elem::f64:
      to.as<double>()[n] = value;
      break;
    case elem::f32:
      to.as<float>()[n] = static_cast<float>(value);
      break;
    case elem::f16:
      to.as<uint16_t>()[n] = to_f16(static_cast<float>(value));
      break;
    case elem::bf16:
      to.as<uint16_t>()[n] = to_bf16(static_cast<float>(value));
      break;
    case elem::u8:
    case elem::boolean:
      to.as<uint8_t>()[n] = static_cast<uint8_t>(value);
      break;
    case elem::i8:
      to.as<int8_t>()[n] = static_cast<int8_t>(value);
      break;
    case elem::u16:
      to.as<uint16_t>()[n] = static_cast<uint16_t>(value);
      break;
    case elem::i16:
      to.as<int16_t>()[n] = static_cast<int16_t>(value);
      break;
    case elem::u32:
      to.as<uint32_t>()[n] = static_cast<uint32_t>(value);
      break;
    case elem::i32:
      to.as<int32_t>()[n] = static_cast<int32_t>(value);
      break;
    default:
      to.as<int64_t>()[n] = static_cast<int64_t>(value);
      break;
  }
}

int64_t get_integer(const tensor_view& from, int64_t n) noexcept {
  switch (from.type) {
    case elem::u8:
    case elem::boolean:
      return from.as<uint8_t>()[n];
    case elem::i8:
      return from.as<int8_t>()[n];
    case elem::u16:
      return from.as<uint16_t>()[n];
    case elem::i16:
      return from.as<int16_t>()[n];
    case elem::u32:
      return from.as<uint32_t>()[n];
    case elem::i32:
      return from.as<int32_t>()[n];
    default:
      return from.as<int64_t>()[n];
  }
}

void set_integer(const tensor_view& to, int64_t n, int64_t value) noexcept {
  switch (size_of(to.type)) {
    case 1:
      to.as<uint8_t>()[n] = static_cast<uint8_t>(value);
      break;
    case 2:
      to.as<uint16_t>()[n] = static_cast<uint16_t>(value);
      break;
    case 4:
      to.as<uint32_t>()[n] = static_cast<uint32_t>(value);
      break;
    default:
      to.as<int64_t>()[n] = value;
  }
}

void move(const tensor_view& to, int64_t n, const tensor_view& from, int64_t m) noexcept {
  if (is_float(from.type))
    set(to, n, get(from, m));
  else
    set_integer(to, n, get_integer(from, m));
}

shape position(int64_t n, const shape& dims) noexcept {
  auto at = dims;
  for (size_t i = dims.rank(); i-- > 0;) {
    at[i] = n % dims[i];
    n /= dims[i];
  }
  return at;
}

int64_t number_at(const shape& position, const shape& strides) noexcept {
  int64_t n = 0;
  for (size_t i = 0; i < position.rank(); ++i) n += position[i] * strides[i];
  return n;
}

kernel_function find_kernel(op id) noexcept {
  if (id == chain_op) return chain;
  if (auto found = find_normalisation_kernel(id)) return found;
  if (auto found = find_attention_kernel(id)) return found;
  for (auto find :
       {find_moving_kernel, find_picking_kernel, find_reduction_kernel, find_order_kernel})
    if (auto kernel = find(id)) return kernel;
  if (auto found = find_random_kernel(id)) return found;
  if (auto found = find_batch_norm_kernel(id)) return found;
  switch (id) {
    case op::embedding:
      return embedding;
    case op::embedding_backward:
      return embedding_backward;
    case op::linear:
      return linear;
    case op::linear_input_backward:
      return linear_input_backward;
    case op::linear_weight_backward:
      return linear_weight_backward;
    case op::linear_bias_backward:
      return linear_bias_backward;
    default:
      break;
  }
  for (auto find :
       {find_product_kernel, find_pooling_kernel, find_loss_kernel, find_recurrent_kernel})
    if (auto kernel = find(id)) return kernel;
  return nullptr;
}

} // namespace moxzi::device::reference
