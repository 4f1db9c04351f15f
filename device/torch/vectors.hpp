#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "device/torch/loops.hpp"

/// Rows of numbers by vectors of `lanes`, whose digits don't depend on how wide the processor's
/// vectors are. All of it is to be inlined into functions that are `MOXZI_CLONES`; vectors are
/// passed by reference, since how they are passed by value differs between instruction sets.
namespace moxzi::device::torch {

template <class T>
struct vector_of {
  typedef T type __attribute__((vector_size(lanes * sizeof(T))));
};
template <class T>
using vector = typename vector_of<T>::type;

using floats = vector<float>;
using ints = vector<int32_t>;

template <class T>
MOXZI_INLINE void load(vector<T>& to, const T* from) {
  std::memcpy(&to, from, sizeof(to));
}

template <class T>
MOXZI_INLINE void store(T* to, const vector<T>& from) {
  std::memcpy(to, &from, sizeof(from));
}

/// The last `count` < lanes elements, the rest filled with `rest`.
template <class T>
MOXZI_INLINE void load_tail(vector<T>& to, const T* from, int64_t count, T rest) {
  to = vector<T>{} + rest;
  std::memcpy(&to, from, static_cast<size_t>(count) * sizeof(T));
}

template <class T>
MOXZI_INLINE void store_tail(T* to, const vector<T>& from, int64_t count) {
  std::memcpy(to, &from, static_cast<size_t>(count) * sizeof(T));
}

/// The lanes added in order.
template <class T>
MOXZI_INLINE T total(const vector<T>& lanes_of) {
  T sum = 0;
  for (int i = 0; i < lanes; i++) sum += lanes_of[i];
  return sum;
}

/// e to the power of x for x ≤ 88, to 1 unit in the last place (the polynomial is that of Cephes);
/// exactly 0 below -86, so -inf gives 0, and NaN stays NaN.
MOXZI_INLINE void exponential(floats& x) {
  constexpr float round_to_integer = 12582912.0f; // 1.5 · 2²³
  const floats at_least = x < -86.0f ? floats{} - 86.0f : x;
  const floats shifted = at_least * 1.44269504088896341f + round_to_integer;
  const floats n = shifted - round_to_integer;
  const floats r = (at_least - n * 0.693359375f) - n * -2.12194440e-4f;
  floats p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + (r + 1.0f);
  // The integer sits in the low bits of `shifted`; it goes into the exponent.
  const ints power = reinterpret_cast<ints>(p) + (reinterpret_cast<ints>(shifted) << 23);
  x = x < -86.0f ? floats{} : reinterpret_cast<floats>(power);
}

MOXZI_INLINE void exponential(vector<double>& x) {
  for (int i = 0; i < lanes; i++) x[i] = std::exp(x[i]);
}

/// The largest element; -inf where there is none. NaN is passed over.
template <class T>
MOXZI_INLINE T largest(const T* row, int64_t columns) {
  constexpr T least = -std::numeric_limits<T>::infinity();
  vector<T> most = vector<T>{} + least, next;
  int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    load(next, row + j);
    most = next > most ? next : most;
  }
  if (j < columns) {
    load_tail(next, row + j, columns - j, least);
    most = next > most ? next : most;
  }
  T max = least;
  for (int i = 0; i < lanes; i++) max = most[i] > max ? most[i] : max;
  return max;
}

/// Sum of exp(x - max) over a row; the terms go to `terms` unless that is null, which may be the
/// row itself.
template <class T>
MOXZI_INLINE T sum_of_exp(const T* row, int64_t columns, T max, T* terms) {
  vector<T> sum{}, next;
  int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    load(next, row + j);
    next -= max;
    exponential(next);
    sum += next;
    if (terms) store(terms + j, next);
  }
  if (j < columns) {
    load_tail(next, row + j, columns - j, -std::numeric_limits<T>::infinity());
    next -= max;
    exponential(next);
    sum += next;
    if (terms) store_tail(terms + j, next, columns - j);
  }
  return total<T>(sum);
}

template <class T>
MOXZI_INLINE void scale_row(T* row, int64_t columns, T by) {
  for (int64_t j = 0; j < columns; j++) row[j] *= by;
}

/// Sum of a · b.
template <class T>
MOXZI_INLINE T product_of_rows(const T* a, const T* b, int64_t columns) {
  vector<T> sum{}, x, y;
  int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    load(x, a + j);
    load(y, b + j);
    sum += x * y;
  }
  if (j < columns) {
    load_tail(x, a + j, columns - j, T{});
    load_tail(y, b + j, columns - j, T{});
    sum += x * y;
  }
  return total<T>(sum);
}

template <class T>
MOXZI_INLINE T sum_of_row(const T* row, int64_t columns) {
  vector<T> sum{}, x;
  int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    load(x, row + j);
    sum += x;
  }
  if (j < columns) {
    load_tail(x, row + j, columns - j, T{});
    sum += x;
  }
  return total<T>(sum);
}

} // namespace moxzi::device::torch
