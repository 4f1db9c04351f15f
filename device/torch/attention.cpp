// attention, its backward rows, and rope: head by head, a block of queries at a time, with the
// BLAS for products.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "device/aten/host.hpp"
#include "device/ops/attention_shape.hpp"
#include "device/torch/attention_rows.hpp"
#include "device/torch/draws.hpp"
#include "device/torch/gemm.hpp"
#include "device/torch/kernels.hpp"
#include "device/torch/loops.hpp"

namespace moxzi::device::torch {

namespace {

/// Calls `work` with a zero of the tensor's type.
template <class Work>
bool with_type(const tensor_view& x, const Work& work) {
  if (x.type == elem::f64)
    work(double{});
  else
    work(float{});
  return true;
}

/// Where matrix number `n` of a tensor's last two dimensions starts, in elements.
int64_t start_of(const tensor_view& x, int64_t n) {
  int64_t at = 0;
  for (size_t i = x.dims.rank() - 2; i-- > 0;) {
    at += n % x.dims[i] * x.strides[i];
    n /= x.dims[i];
  }
  return at;
}

/// True if the BLAS can read the last two dimensions as they lie.
bool is_matrix(const tensor_view& x) {
  const auto rank = x.dims.rank();
  const bool rows = x.dims.last() == 1 || x.strides[rank - 1] == 1;
  return rows && (x.dims.last(1) == 1 || x.strides[rank - 2] >= x.dims.last());
}

/// From row to row; of one row it doesn't matter.
int64_t step_of(const tensor_view& x) {
  return std::max({x.strides[x.dims.rank() - 2], x.dims.last(), int64_t{1}});
}

template <class T>
matrix<const T> matrix_at(const tensor_view& x, int64_t n) {
  return {x.as<const T>() + start_of(x, n), step_of(x)};
}

template <class T>
matrix<const T> transposed(matrix<const T> what) {
  what.transposed = true;
  return what;
}

/// Rows from `row` on.
template <class T>
matrix<T> below(matrix<T> what, int64_t row) {
  what.data += row * what.step;
  return what;
}

/// The mask with q's dimensions before the last two, as strides.
struct mask_view {
  mask_view(const tensor_view& mask, const tensor_view& q) : what(mask) {
    if (!mask.data) return;
    const auto missing = q.dims.rank() - mask.dims.rank();
    for (size_t i = 0; i < q.dims.rank(); i++)
      strides.push(i < missing || mask.dims[i - missing] == 1 ? 0 : mask.strides[i - missing]);
  }

  const tensor_view& what;
  shape strides;
};

/// Queries [first, first + count) and the keys [from, to) that some of them may see.
struct block {
  int64_t first = 0;
  int64_t count = 0;
  int64_t from = 0;
  int64_t to = 0;
  int64_t keys() const {
    return to - from;
  }
};

template <class T>
class attending {
public:
  attending(const kernel_call& call, size_t first)
      : sizes(call.inputs[first].dims, call.inputs[first + 1].dims, call.inputs[first + 2].dims,
              call.attributes),
        scale(static_cast<T>(sizes.scale)), q(call.inputs[first]), k(call.inputs[first + 1]),
        v(call.inputs[first + 2]), mask_(call.inputs.back(), q) {
    if (std::holds_alternative<double>(call.attributes[4]))
      draws_.emplace(*call.draws, call.origin, attribute{});
  }

  /// Queries at a time: few where a block's keys are not the same for all of them.
  int64_t block_rows() const {
    constexpr int64_t narrow = 64, broad = 256;
    return std::min(sizes.queries, sizes.sees_all() ? broad : narrow);
  }

  /// The block's elements of scores at most.
  int64_t block_elements() const {
    return block_rows() * sizes.keys;
  }

  block block_from(int64_t first) const {
    block out{first, std::min(block_rows(), sizes.queries - first)};
    out.from = sizes.seen_by(first)[0];
    out.to = std::max(out.from, sizes.seen_by(first + out.count - 1)[1]);
    return out;
  }

  /// Scores of a block, -inf where a query sees nothing.
  void scores(int64_t head, const block& at, T* out) const {
    if (at.keys() == 0) return;
    gemm(at.count, at.keys(), sizes.width, scale, below(matrix_at<T>(q, head), at.first),
         transposed(below(matrix_at<T>(k, head / sizes.group), at.from)), {out, at.keys()});
    for (int64_t i = 0; i < at.count; i++) {
      T* row = out + i * at.keys();
      const auto [from, to] = sizes.seen_by(at.first + i);
      if (mask_.what.data) apply_mask(head, at, i, row);
      std::fill(row, row + std::min(from, at.to) - at.from, minus_infinity);
      std::fill(row + to - at.from, row + at.keys(), minus_infinity);
    }
  }

  /// What dropout leaves of a block's weights or of their gradient; a copy if there is none.
  void drop_some(int64_t head, const block& at, matrix<const T> from, T* to) const {
    for (int64_t i = 0; i < at.count; i++) {
      const auto n = (head * sizes.queries + at.first + i) * sizes.keys + at.from;
      drop(*draws_, static_cast<uint64_t>(n), words_below(sizes.dropout),
           static_cast<T>(dropout_scale(sizes.dropout)), from.data + i * from.step,
           to + i * at.keys(), at.keys());
    }
  }
  bool drops() const {
    return draws_.has_value();
  }

  const attention_shape sizes;
  const T scale;
  const tensor_view &q, &k, &v;

private:
  static constexpr T minus_infinity = -std::numeric_limits<T>::infinity();

  void apply_mask(int64_t head, const block& at, int64_t i, T* row) const {
    const auto rank = q.dims.rank();
    int64_t place = (at.first + i) * mask_.strides[rank - 2];
    for (size_t d = rank - 2; d-- > 0;) {
      place += head % q.dims[d] * mask_.strides[d];
      head /= q.dims[d];
    }
    const auto step = mask_.strides[rank - 1];
    place += at.from * step;
    if (mask_.what.type == elem::boolean) {
      const auto* seen = mask_.what.as<const uint8_t>() + place;
      for (int64_t j = 0; j < at.keys(); j++) row[j] = seen[j * step] ? row[j] : minus_infinity;
    } else {
      const T* more = mask_.what.as<const T>() + place;
      for (int64_t j = 0; j < at.keys(); j++) row[j] += more[j * step];
    }
  }

  mask_view mask_;
  std::optional<draw_counters> draws_;
};

bool are_matrices(const kernel_call& call, size_t first) {
  return is_matrix(call.inputs[first]) && is_matrix(call.inputs[first + 1])
         && is_matrix(call.inputs[first + 2]);
}

// -- forward -------------------------------------------------------------------

template <class T>
void attend(const kernel_call& call, const attending<T>& all, int64_t head, T* scratch) {
  auto& sizes = all.sizes;
  T* out = call.outputs[0].as<T>() + head * sizes.queries * sizes.v_width;
  T *weights = nullptr, *log_sums = nullptr; // where they are kept
  if (call.outputs.size() > 1) {
    auto& kept = call.outputs[1];
    const bool whole = kept.dims.rank() == all.q.dims.rank();
    (whole ? weights : log_sums) =
      kept.as<T>() + head * sizes.queries * (whole ? sizes.keys : int64_t{1});
  }
  for (int64_t first = 0; first < sizes.queries; first += all.block_rows()) {
    const auto at = all.block_from(first);
    all.scores(head, at, scratch);
    for (int64_t i = 0; i < at.count; i++) {
      const T* row = scratch + i * at.keys();
      const T log_sum = weights_of(scratch + i * at.keys(), at.keys());
      if (log_sums) log_sums[first + i] = log_sum;
      if (!weights) continue;
      T* to = weights + (first + i) * sizes.keys;
      std::fill(to, to + at.from, T{});
      std::copy_n(row, at.keys(), to + at.from);
      std::fill(to + at.to, to + sizes.keys, T{});
    }
    if (sizes.v_width == 0) continue;
    if (all.drops()) all.drop_some(head, at, {scratch, at.keys()}, scratch);
    if (at.keys() > 0)
      gemm(at.count, sizes.v_width, at.keys(), T{1}, {scratch, at.keys()},
           below(matrix_at<T>(all.v, head / sizes.group), at.from),
           {out + first * sizes.v_width, sizes.v_width});
    else
      std::fill_n(out + first * sizes.v_width, at.count * sizes.v_width, T{});
  }
}

bool attention(const kernel_call& call, fault& why) {
  if (!are_matrices(call, 0)) return aten::find_host_kernel(call.id)(call, why);
  return with_type(call.outputs[0], [&call](auto zero) {
    using T = decltype(zero);
    const attending<T> all(call, 0);
    auto& sizes = all.sizes;
    if (call.outputs[0].elements == 0 && call.outputs.size() < 2) return;
    for_parts(call.threads, sizes.batch * sizes.heads * sizes.group, 1,
              [&call, &all](int64_t begin, int64_t end) {
                const std::unique_ptr<T[]> scratch(
                  new T[static_cast<size_t>(all.block_elements())]);
                for (int64_t head = begin; head < end; head++)
                  attend(call, all, head, scratch.get());
              });
  });
}

// -- backward ------------------------------------------------------------------

/// The gradients of one head of k and v and of its part of q, as they lie in the result.
template <class T>
struct head_gradients {
  head_gradients(T* at, const attention_shape& sizes)
      : q(at), k(q + sizes.group * sizes.queries * sizes.width), v(k + sizes.keys * sizes.width) {
    // nop
  }
  T *q, *k, *v;
};

/// Makes the weights of a block (in `scratch` unless they were kept) and gives where they are and
/// how far their rows are apart.
template <class T>
matrix<const T> weights_of_block(const kernel_call& call, const attending<T>& all, int64_t head,
                                 const block& at, T* scratch) {
  auto& kept = call.inputs[4];
  auto& sizes = all.sizes;
  const auto row = head * sizes.queries + at.first;
  if (kept.dims.rank() == all.q.dims.rank())
    return {kept.as<const T>() + row * sizes.keys + at.from, sizes.keys};
  all.scores(head, at, scratch);
  for (int64_t i = 0; i < at.count; i++)
    weights_again(scratch + i * at.keys(), at.keys(), kept.as<const T>()[row + i]);
  return {scratch, at.keys()};
}

template <class T>
void attend_backward(const kernel_call& call, const attending<T>& all, int64_t kv_head,
                     T* scratch) {
  auto& sizes = all.sizes;
  head_gradients<T> to(call.outputs[0].as<T>() + kv_head * sizes.packed(), sizes);
  std::fill_n(to.q, sizes.packed(), T{});
  T* scores = scratch + all.block_elements();
  const auto k = matrix_at<T>(all.k, kv_head), v = matrix_at<T>(all.v, kv_head);
  for (int64_t member = 0; member < sizes.group; member++) {
    const auto head = kv_head * sizes.group + member;
    const auto g = matrix_at<T>(call.inputs[0], head), q = matrix_at<T>(all.q, head);
    for (int64_t first = 0; first < sizes.queries; first += all.block_rows()) {
      const auto at = all.block_from(first);
      if (at.keys() == 0) continue;
      const auto weights = weights_of_block(call, all, head, at, scratch);
      const auto g_rows = below(g, first);
      if (all.drops()) all.drop_some(head, at, weights, scores);
      const auto seen = all.drops() ? matrix<const T>{scores, at.keys()} : weights;
      if (sizes.v_width > 0)
        gemm(at.keys(), sizes.v_width, at.count, T{1}, transposed(seen), g_rows,
             {to.v + at.from * sizes.v_width, sizes.v_width}, true);
      gemm(at.count, at.keys(), sizes.v_width, T{1}, g_rows, transposed(below(v, at.from)),
           {scores, at.keys()});
      if (all.drops()) all.drop_some(head, at, {scores, at.keys()}, scores);
      for (int64_t i = 0; i < at.count; i++)
        scores_backward(weights.data + i * weights.step, scores + i * at.keys(), at.keys(),
                        all.scale);
      if (sizes.width == 0) continue;
      const matrix<const T> from{scores, at.keys()};
      T* q_rows = to.q + (member * sizes.queries + first) * sizes.width;
      gemm(at.count, sizes.width, at.keys(), T{1}, from, below(k, at.from), {q_rows, sizes.width});
      gemm(at.keys(), sizes.width, at.count, T{1}, transposed(from), below(q, first),
           {to.k + at.from * sizes.width, sizes.width}, true);
    }
  }
}

bool attention_backward(const kernel_call& call, fault& why) {
  if (!are_matrices(call, 1) || !is_matrix(call.inputs[0])
      || !is_row_major(call.inputs[4].dims, call.inputs[4].strides))
    return aten::find_host_kernel(call.id)(call, why);
  return with_type(call.outputs[0], [&call](auto zero) {
    using T = decltype(zero);
    const attending<T> all(call, 1);
    for_parts(call.threads, all.sizes.batch * all.sizes.heads, 1,
              [&call, &all](int64_t begin, int64_t end) {
                const std::unique_ptr<T[]> scratch(
                  new T[static_cast<size_t>(2 * all.block_elements())]);
                for (int64_t head = begin; head < end; head++)
                  attend_backward(call, all, head, scratch.get());
              });
  });
}

// -- rope ----------------------------------------------------------------------

/// Cosines and sines of each place and pair.
template <class T>
struct rope_angles {
  rope_angles(int64_t places, int64_t pairs, double base, int64_t start, double direction) {
    for (int64_t i = 0; i < places; i++)
      for (int64_t p = 0; p < pairs; p++) {
        const double rate = std::pow(base, -static_cast<double>(p) / static_cast<double>(pairs));
        const double angle = static_cast<double>(i + start) * rate * direction;
        cosines.push_back(static_cast<T>(std::cos(angle)));
        sines.push_back(static_cast<T>(std::sin(angle)));
      }
  }
  std::vector<T> cosines, sines;
};

template <class T>
const rope_angles<T>& angles_of(const kernel_call& call) {
  auto& memo = *call.memo;
  if (!memo) {
    auto& x = call.inputs[0];
    auto* base = std::get_if<double>(&call.attributes[0]);
    auto* start = std::get_if<int64_t>(&call.attributes[1]);
    memo =
      std::make_shared<rope_angles<T>>(x.dims.last(1), x.dims.last() / 2, base ? *base : 10000,
                                       start ? *start : 0, call.id == op::rope_backward ? -1 : 1);
  }
  return *std::static_pointer_cast<rope_angles<T>>(memo);
}

bool rope(const kernel_call& call, fault& why) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  const auto rank = x.dims.rank();
  if (x.elements == 0) return true;
  if (x.strides[rank - 1] != 1) return aten::find_host_kernel(call.id)(call, why);
  return with_type(out, [&](auto zero) {
    using T = decltype(zero);
    auto& angles = angles_of<T>(call);
    auto* beside = std::get_if<bool>(&call.attributes[2]);
    const bool near = beside && *beside;
    const auto places = x.dims.last(1), width = x.dims.last(), pairs = width / 2;
    for_parts(call.threads, x.elements / width / places, 1, [&, near](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; n++)
        for (int64_t i = 0; i < places; i++) {
          const T* from = x.as<const T>() + start_of(x, n) + i * x.strides[rank - 2];
          T* to = out.as<T>() + (n * places + i) * width;
          const auto second = near ? 1 : pairs;
          turn({from, from + second, to, to + second, angles.cosines.data() + i * pairs,
                angles.sines.data() + i * pairs, pairs, near ? 2 : 1});
        }
    });
  });
}

} // namespace

kernel_function find_attention_kernel(op id) noexcept {
  switch (id) {
    case op::attention:
    case op::attention_train:
      return attention;
    case op::attention_backward:
      return attention_backward;
    case op::rope:
    case op::rope_backward:
      return rope;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::torch
