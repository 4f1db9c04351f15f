#include "device/erfinv.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <span>

namespace moxzi::device {

namespace {

double polynomial(std::span<const double> coefficients, double x) noexcept {
  double sum = 0;
  for (auto c : coefficients) sum = sum * x + c;
  return sum;
}

/// Giles, "Approximating the erfinv function" (2010), for single precision.
double nearly_erfinv(double x) noexcept {
  static constexpr std::array<double, 9> middle{2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                                -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                                -0.00417768164,  0.246640727,    1.50140941};
  static constexpr std::array<double, 9> tail{-0.000200214257, 0.000100950558, 0.00134934322,
                                              -0.00367342844,  0.00573950773,  -0.0076224613,
                                              0.00943887047,   1.00167406,     2.83297682};
  auto w = -std::log((1 - x) * (1 + x));
  return x * (w < 5 ? polynomial(middle, w - 2.5) : polynomial(tail, std::sqrt(w) - 3));
}

} // namespace

double erfinv(double x) noexcept {
  auto wanted = std::abs(x), y = nearly_erfinv(wanted);
  // Halley's method, two rounds of it except in the far tail. Near 1 the distance to 1 is what is
  // exact.
  constexpr int rounds_max = 12;
  for (int round = 0; round < rounds_max; ++round) {
    auto off = wanted < 0.5 ? std::erf(y) - wanted : (1 - wanted) - std::erfc(y);
    auto newton = off * std::sqrt(std::numbers::pi) / 2 * std::exp(y * y);
    auto step = newton / (1 + y * newton);
    y -= step;
    if (std::abs(step) <= 1e-10 * y) break; // it triples the digits
  }
  return std::copysign(y, x);
}

} // namespace moxzi::device
