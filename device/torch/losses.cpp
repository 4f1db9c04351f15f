// Losses of two tensors, element by element, of f32 and f64.

#include <algorithm>
#include <array>
#include <limits>

#include "device/ops/options.hpp"
#include "device/pointwise/math.hpp"
#include "device/torch/kernels.hpp"
#include "device/torch/loops.hpp"

namespace moxzi::device::torch {

namespace {

template <op Id, class T>
MOXZI_INLINE T loss_of(T a, T b, T delta) {
  const T difference = a - b, apart = difference < T(0) ? -difference : difference;
  if constexpr (Id == op::mse)
    return difference * difference;
  else if constexpr (Id == op::l1)
    return apart;
  else if constexpr (Id == op::huber)
    return apart <= delta ? T(0.5) * apart * apart : delta * (apart - T(0.5) * delta);
  else if constexpr (Id == op::bce_logits)
    return ((a > T(0) ? a : T(0)) - a * b)
           + pointwise::logarithm_of_1_plus(pointwise::exponential(a < T(0) ? a : -a));
  else
    return (b == T(0) ? T(0) : b * pointwise::logarithm(b)) - b * a;
}

template <op Id, class T>
MOXZI_INLINE void each_loss(const T* __restrict a, const T* __restrict b, int64_t n, T delta,
                            T* __restrict to) {
  for (int64_t i = 0; i < n; i++) to[i] = loss_of<Id>(a[i], b[i], delta);
}

/// In lanes of their own, so that the sum is the same for any width of vectors.
template <op Id, class T>
MOXZI_INLINE double sum_losses(const T* a, const T* b, int64_t n, T delta) {
  std::array<double, lanes> sums{};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int j = 0; j < lanes; j++)
      sums[static_cast<size_t>(j)] += static_cast<double>(loss_of<Id>(a[i + j], b[i + j], delta));
  double total = 0;
  for (const double sum : sums) total += sum;
  for (; i < n; i++) total += static_cast<double>(loss_of<Id>(a[i], b[i], delta));
  return total;
}

#define MOXZI_LOSS(NAME, T)                                                                        \
  MOXZI_CLONES void NAME##_each(const T* a, const T* b, int64_t n, T delta, T* to) {               \
    each_loss<op::NAME>(a, b, n, delta, to);                                                       \
  }                                                                                                \
  MOXZI_CLONES double NAME##_sum(const T* a, const T* b, int64_t n, T delta) {                     \
    return sum_losses<op::NAME>(a, b, n, delta);                                                   \
  }
#define MOXZI_LOSSES(T)                                                                            \
  MOXZI_LOSS(mse, T)                                                                               \
  MOXZI_LOSS(l1, T)                                                                                \
  MOXZI_LOSS(huber, T)                                                                             \
  MOXZI_LOSS(bce_logits, T)                                                                        \
  MOXZI_LOSS(kl, T)
MOXZI_LOSSES(float)
MOXZI_LOSSES(double)
#undef MOXZI_LOSSES
#undef MOXZI_LOSS

constexpr int64_t elements_at_once = 8192, parts_max = 256;

template <class T>
using each_function = void (*)(const T*, const T*, int64_t, T, T*);
template <class T>
using sum_function = double (*)(const T*, const T*, int64_t, T);

template <class T>
void compute(const kernel_call& call, each_function<T> each, sum_function<T> sum) {
  auto &a = call.inputs[0], &b = call.inputs[1], &out = call.outputs[0];
  const auto how = reduction_of(call.attributes.back());
  const auto delta = static_cast<T>(real_number(call.attributes[0], 0));
  const T *from = a.as<const T>(), *other = b.as<const T>();
  if (how == reduction::none) {
    for_parts(call.threads, a.elements, elements_at_once, [&](int64_t begin, int64_t end) {
      each(from + begin, other + begin, end - begin, delta, out.as<T>() + begin);
    });
    return;
  }
  // Blocks depend on the shape alone.
  const auto blocks = std::clamp<int64_t>(a.elements / elements_at_once, 1, parts_max);
  const auto block = (a.elements + blocks - 1) / blocks;
  std::array<double, parts_max> sums{};
  for_parts(call.threads, blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      const auto first = std::min(i * block, a.elements);
      const auto last = std::min(first + block, a.elements);
      sums[static_cast<size_t>(i)] = sum(from + first, other + first, last - first, delta);
    }
  });
  double total = 0;
  for (int64_t i = 0; i < blocks; i++) total += sums[static_cast<size_t>(i)];
  if (how == reduction::mean) total /= static_cast<double>(a.elements);
  *out.as<T>() = static_cast<T>(total);
}

#define MOXZI_KERNEL(NAME)                                                                         \
  bool NAME(const kernel_call& call, fault&) {                                                     \
    if (call.outputs[0].type == elem::f64)                                                         \
      compute<double>(call, NAME##_each, NAME##_sum);                                              \
    else                                                                                           \
      compute<float>(call, NAME##_each, NAME##_sum);                                               \
    return true;                                                                                   \
  }
MOXZI_KERNEL(mse)
MOXZI_KERNEL(l1)
MOXZI_KERNEL(huber)
MOXZI_KERNEL(bce_logits)
MOXZI_KERNEL(kl)
#undef MOXZI_KERNEL

} // namespace

kernel_function find_loss_kernel(op id) noexcept {
  switch (id) {
    case op::mse:
      return mse;
    case op::l1:
      return l1;
    case op::huber:
      return huber;
    case op::bce_logits:
      return bce_logits;
    case op::kl:
      return kl;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::torch
