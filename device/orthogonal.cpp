#include "device/orthogonal.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/assert.hpp"

namespace moxzi::device {

namespace {

/// Vectors that are freed of the earlier ones together, so that each of those is read once for all.
constexpr size_t block = 16;
constexpr size_t lanes = 8;

double dot(const double* a, const double* b, size_t n) noexcept {
  std::array<double, lanes> sums{};
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (size_t j = 0; j < lanes; ++j) sums[j] += a[i + j] * b[i + j];
  for (size_t j = 0; i + j < n; ++j) sums[j] += a[i + j] * b[i + j];
  double total = 0;
  for (auto sum : sums) total += sum;
  return total;
}

void subtract(double* __restrict from, const double* __restrict what, double times,
              size_t n) noexcept {
  for (size_t i = 0; i < n; ++i) from[i] -= times * what[i];
}

void normalize(double* x, size_t n) noexcept {
  auto by = 1 / std::sqrt(dot(x, x, n));
  for (size_t i = 0; i < n; ++i) x[i] *= by;
}

} // namespace

// Gram-Schmidt, each vector freed of the earlier ones twice, which is enough in doubles.
void make_orthonormal(std::span<double> vectors, size_t count, size_t length) {
  moxzi_assert(count <= length && vectors.size() == count * length);
  auto at = [&](size_t n) { return vectors.data() + n * length; };
  for (size_t first = 0; first < count; first += block) {
    auto end = std::min(count, first + block);
    for (int pass = 0; pass < 2; ++pass)
      for (size_t earlier = 0; earlier < first; ++earlier)
        for (auto n = first; n < end; ++n)
          subtract(at(n), at(earlier), dot(at(earlier), at(n), length), length);
    for (auto n = first; n < end; ++n) {
      for (int pass = 0; pass < 2; ++pass)
        for (auto earlier = first; earlier < n; ++earlier)
          subtract(at(n), at(earlier), dot(at(earlier), at(n), length), length);
      normalize(at(n), length);
    }
  }
}

} // namespace moxzi::device
