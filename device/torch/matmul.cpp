// matmul over operands with any strides.

#include <algorithm>
#include <array>
#include <vector>

#include "device/ops/options.hpp"
#include "device/torch/gemm.hpp"
#include "device/torch/kernels.hpp"
#include "device/torch/loops.hpp"

namespace moxzi::device::torch {

namespace {

/// An operand as products take it: matrices whose rows or columns have no gaps.
template <class T>
struct matrices {
  const T* data = nullptr;
  bool transposed = false;
  int64_t step = 1;    ///< from row to row as it lies in memory
  shape batch_strides; ///< one for each batch dimension of the result; 0 where it is repeated
};

/// Copies an operand together whose matrices can't be taken as they are.
template <class T>
void compact(tensor_view& x, std::vector<T>& to) {
  to.resize(static_cast<size_t>(x.elements));
  const auto rank = x.dims.rank();
  std::array<int64_t, rank_max> at{};
  int64_t from = 0;
  for (auto& value : to) {
    value = x.as<const T>()[from];
    for (size_t d = rank; d-- > 0;) {
      from += x.strides[d];
      if (++at[d] < x.dims[d]) break;
      from -= x.strides[d] * x.dims[d];
      at[d] = 0;
    }
  }
  x.data = to.data();
  x.strides = row_major_strides(x.dims);
}

template <class T>
bool lie_in(const tensor_view& x, bool columns, matrices<T>& to) {
  const auto rank = x.dims.rank();
  const auto step_dim = columns ? rank - 1 : rank - 2, dense_dim = columns ? rank - 2 : rank - 1;
  const auto dense = x.dims[dense_dim];
  if (dense != 1 && x.strides[dense_dim] != 1) return false;
  const auto step = x.dims[step_dim] == 1 ? dense : x.strides[step_dim];
  if (step < std::max<int64_t>(dense, 1)) return false;
  to.step = step;
  to.transposed = columns;
  return true;
}

template <class T>
matrices<T> seen_as_matrices(tensor_view x, bool transposed, const shape& result,
                             std::vector<T>& scratch) {
  matrices<T> out;
  if (!lie_in(x, false, out) && !lie_in(x, true, out)) {
    compact(x, scratch);
    lie_in(x, false, out);
  }
  out.data = x.as<const T>();
  out.transposed = out.transposed != transposed;
  const auto missing = result.rank() - x.dims.rank();
  for (size_t d = 0; d + 2 < result.rank(); d++) {
    const bool repeated = d < missing || x.dims[d - missing] == 1;
    out.batch_strides.push(repeated ? 0 : x.strides[d - missing]);
  }
  return out;
}

/// Where matrix number `place` of the result's batch is.
int64_t offset_of(int64_t place, const shape& result, const shape& strides) {
  int64_t out = 0;
  for (size_t d = strides.rank(); d-- > 0;) {
    out += place % result[d] * strides[d];
    place /= result[d];
  }
  return out;
}

/// True if the matrices of a, one below the other, are one matrix, and b is the same for all.
template <class T>
bool is_one_product(const matrices<T>& a, const matrices<T>& b, const shape& result) {
  if (a.transposed) return false;
  auto next = a.step * result.last(1);
  for (size_t d = a.batch_strides.rank(); d-- > 0;) {
    if (b.batch_strides[d] != 0 || (result[d] != 1 && a.batch_strides[d] != next)) return false;
    next *= result[d];
  }
  return true;
}

template <class T>
struct kept_copies {
  std::vector<T> a, b;
};

template <class T>
void matmul_of(const kernel_call& call) {
  auto& out = call.outputs[0];
  if (out.elements == 0) return;
  if (!*call.memo) *call.memo = std::make_shared<kept_copies<T>>();
  auto& copies = *std::static_pointer_cast<kept_copies<T>>(*call.memo);
  const bool ta = flag(call.attributes[0]), tb = flag(call.attributes[1]);
  const auto a = seen_as_matrices<T>(call.inputs[0], ta, out.dims, copies.a);
  const auto b = seen_as_matrices<T>(call.inputs[1], tb, out.dims, copies.b);
  const auto m = out.dims.last(1), n = out.dims.last();
  const auto k = call.inputs[0].dims.last(ta ? 1 : 0);
  const auto count = out.elements / (m * n);
  T* to = out.as<T>();
  if (is_one_product(a, b, out.dims))
    return gemm(count * m, n, k, T(1), {a.data, a.step}, {b.data, b.step, b.transposed}, {to, n});
  const auto some = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
      gemm(m, n, k, T(1), {a.data + offset_of(i, out.dims, a.batch_strides), a.step, a.transposed},
           {b.data + offset_of(i, out.dims, b.batch_strides), b.step, b.transposed},
           {to + i * m * n, n});
  };
  // Many products are shared out whole; few are shared out inside.
  if (count >= call.threads)
    for_parts(call.threads, count, std::max<int64_t>(1, 262144 / (m * n * std::max<int64_t>(k, 1))),
              some);
  else
    some(0, count);
}

bool matmul(const kernel_call& call, fault&) {
  if (call.outputs[0].type == elem::f64)
    matmul_of<double>(call);
  else
    matmul_of<float>(call);
  return true;
}

} // namespace

kernel_function find_matmul_kernel(op id) noexcept {
  return id == op::matmul ? matmul : nullptr;
}

} // namespace moxzi::device::torch
