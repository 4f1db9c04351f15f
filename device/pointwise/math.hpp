#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

/// The functions that formulas.inc names, on the processor. Those of float have no branches and no
/// calls, so that loops over them become vector code; the others are the C library's. For a GPU
/// gpu_math.hpp has the same names.
namespace moxzi::device::pointwise {

#define MOXZI_FORMULA_FUNCTION inline __attribute__((always_inline))

MOXZI_FORMULA_FUNCTION float bits_as_float(int32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

MOXZI_FORMULA_FUNCTION int32_t float_as_bits(float value) {
  int32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// To the next integer, half to even, of |x| < 2²².
MOXZI_FORMULA_FUNCTION float nearest_integer(float x) {
  constexpr float shift = 12582912.0f; // 1.5 · 2²³
  return (x + shift) - shift;
}

// -- exponentials --------------------------------------------------------------

/// e to the power of x, to about one unit in the last place (the polynomial is that of Cephes).
/// Results below the smallest normal number are 0.
MOXZI_FORMULA_FUNCTION float exponential(float x) {
  const float most = x > 88.8f ? 88.8f : x;
  const float y = most < -88.0f ? -88.0f : most; // NaN stays
  constexpr float shift = 12582912.0f;
  const float shifted = y * 1.44269504088896341f + shift;
  const float n = shifted - shift;
  const float r = (y - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + (r + 1.0f);
  // In two steps, since 2^128 is no float.
  const int32_t power = float_as_bits(shifted) - 0x4b400000, half = power >> 1;
  const float scaled =
    p * bits_as_float((half + 127) << 23) * bits_as_float((power - half + 127) << 23);
  const float low = x < -87.33654f ? 0.0f : scaled;
  const float result = x > 88.72283f ? bits_as_float(0x7f800000) : low;
  return x != x ? x : result;
}

/// e to the power of x, less 1, without loss near 0.
MOXZI_FORMULA_FUNCTION float exponential_less_1(float x) {
  // The same reduction as above; 2^n · (e^r - 1) + (2^n - 1) loses nothing.
  const float most = x > 88.8f ? 88.8f : x;
  const float y = most < -20.0f ? -20.0f : most;
  constexpr float shift = 12582912.0f;
  const float shifted = y * 1.44269504088896341f + shift;
  const float n = shifted - shift;
  const float r = (y - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const float less = p * (r * r) + r;
  const int32_t power = float_as_bits(shifted) - 0x4b400000, capped = power > 127 ? 127 : power;
  const float scale = bits_as_float((capped + 127) << 23);
  const float last = power > 127 ? 2.0f : 1.0f;
  const float scaled = (less * scale + (scale - 1.0f / last)) * last;
  const float result = x > 88.72283f ? bits_as_float(0x7f800000) : scaled;
  const float tiny = (x < 1e-7f) & (x > -1e-7f) ? x : result;
  return x != x ? x : tiny;
}

/// Natural logarithm, to about one unit in the last place (the polynomial is that of Cephes).
MOXZI_FORMULA_FUNCTION float logarithm(float x) {
  // Numbers below the smallest normal one are scaled up first.
  const bool small = x < 1.17549435e-38f;
  const int32_t bits = float_as_bits(small ? x * 8388608.0f : x);
  const int32_t above = bits - 0x3f3504f3; // the bits of √½
  const float exponent = static_cast<float>(above >> 23) - (small ? 23.0f : 0.0f);
  const float m = bits_as_float((above & 0x007fffff) + 0x3f3504f3) - 1.0f;
  float p = m * 7.0376836292e-2f - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const float z = m * m;
  const float tail = (p * m * z + exponent * -2.12194440e-4f) - 0.5f * z;
  const float normal = (m + tail) + exponent * 0.693359375f;
  const float infinity = bits_as_float(0x7f800000);
  const float high = x == infinity ? infinity : normal;
  const float zero = x == 0.0f ? -infinity : high;
  return x < 0.0f || x != x ? bits_as_float(0x7fc00000) : zero;
}

MOXZI_FORMULA_FUNCTION float logarithm_of_1_plus(float x) {
  // log(1 + x) · x / ((1 + x) - 1): the rounding of 1 + x cancels (Kahan).
  const float u = 1.0f + x, d = u - 1.0f;
  const float corrected = logarithm(u) * (x / (d == 0.0f ? 1.0f : d));
  const bool plain = (u == bits_as_float(0x7f800000)) | (u <= 0.0f);
  return d == 0.0f ? x : (plain ? logarithm(u) : corrected);
}

/// The rational approximation of Eigen, on [-9, 9].
MOXZI_FORMULA_FUNCTION float hyperbolic_tangent(float x) {
  const float most = x > 7.90531110763549805f ? 7.90531110763549805f : x;
  const float y = most < -7.90531110763549805f ? -7.90531110763549805f : most;
  const float s = y * y;
  float p = s * -2.76076847742355e-16f + 2.00018790482477e-13f;
  p = p * s - 8.60467152213735e-11f;
  p = p * s + 5.12229709037114e-08f;
  p = p * s + 1.48572235717979e-05f;
  p = p * s + 6.37261928875436e-04f;
  p = p * s + 4.89352455891786e-03f;
  float q = s * 1.19825839466702e-06f + 1.18534705686654e-04f;
  q = q * s + 2.26843463243900e-03f;
  q = q * s + 4.89352518554385e-03f;
  const float result = y * p / q;
  return (x < 4e-4f) & (x > -4e-4f) ? x : result;
}

/// The rational approximation of Eigen, on [-4, 4].
MOXZI_FORMULA_FUNCTION float error_function(float x) {
  const float most = x > 4.0f ? 4.0f : x;
  const float y = most < -4.0f ? -4.0f : most;
  const float s = y * y;
  float p = s * -2.72614225801306e-10f + 2.77068142495902e-08f;
  p = p * s - 2.10102402082508e-06f;
  p = p * s - 5.69250639462346e-05f;
  p = p * s - 7.34990630326855e-04f;
  p = p * s - 2.95459980854025e-03f;
  p = p * s - 1.60960333262415e-02f;
  float q = s * -1.45660718464996e-05f - 2.13374055278905e-04f;
  q = q * s - 1.68282697438203e-03f;
  q = q * s - 7.37332916720468e-03f;
  q = q * s - 1.42647390514189e-02f;
  return y * p / q;
}

MOXZI_FORMULA_FUNCTION double exponential(double x) {
  return std::exp(x);
}
MOXZI_FORMULA_FUNCTION double exponential_less_1(double x) {
  return std::expm1(x);
}
MOXZI_FORMULA_FUNCTION double logarithm(double x) {
  return std::log(x);
}
MOXZI_FORMULA_FUNCTION double logarithm_of_1_plus(double x) {
  return std::log1p(x);
}
MOXZI_FORMULA_FUNCTION double hyperbolic_tangent(double x) {
  return std::tanh(x);
}
MOXZI_FORMULA_FUNCTION double error_function(double x) {
  return std::erf(x);
}

// -- the rest ------------------------------------------------------------------

template <class T>
MOXZI_FORMULA_FUNCTION T sine(T x) {
  return std::sin(x);
}
template <class T>
MOXZI_FORMULA_FUNCTION T cosine(T x) {
  return std::cos(x);
}
template <class T>
MOXZI_FORMULA_FUNCTION T square_root(T x) {
  return std::sqrt(x);
}
template <class T>
MOXZI_FORMULA_FUNCTION T power(T x, T y) {
  return std::pow(x, y);
}
template <class T>
MOXZI_FORMULA_FUNCTION T round_down(T x) {
  return std::floor(x);
}
template <class T>
MOXZI_FORMULA_FUNCTION T round_even(T x) {
  return std::nearbyint(x);
}

/// The remainder with the sign of the divisor, as Python has it; an integer by 0 gives 0.
template <class T>
MOXZI_FORMULA_FUNCTION T floor_rem(T x, T y) {
  if constexpr (static_cast<T>(0.5) == 0) {
    if (y == 0 || y == -1) return 0;
    const T rest = x % y;
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
  } else {
    const T rest = std::fmod(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
  }
}

/// The derivative of x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))).
template <class T>
MOXZI_FORMULA_FUNCTION T tanh_gelu_slope(T x) {
  const T k = T(0.79788456080286536);
  const T t = hyperbolic_tangent(k * (x + T(0.044715) * x * x * x));
  return T(0.5) * (T(1) + t)
         + T(0.5) * x * (T(1) - t * t) * k * (T(1) + T(3) * T(0.044715) * x * x);
}

} // namespace moxzi::device::pointwise
