#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "device/backend.hpp"
#include "device/half.hpp"

/// The steps that look at a whole matrix, in doubles.
namespace moxzi::device::reference {

/// As torch.optim.Adafactor: `eps` is its first one (against division by zero), its second one, d
/// and the decay's exponent are its defaults.
template <class T>
void adafactor(const optimizer_step& how, const step_segment& segment, const std::vector<double>& g,
               T* p, T* first, T* columns_of) {
  constexpr double rms_min = 1e-3, decay_exponent = -0.8;
  auto count = static_cast<double>(segment.elements);
  auto rms = [count](double squares) { return std::sqrt(squares / count); };
  auto steps = static_cast<double>(segment.step);
  auto weight = std::pow(steps, decay_exponent);
  double squares = 0;
  for (uint64_t i = 0; i < segment.elements; ++i) squares += static_cast<double>(p[i]) * p[i];
  auto alpha = std::max(rms_min, rms(squares)) * std::min(how.lr, 1 / std::sqrt(steps));

  std::vector<double> variance(segment.elements);
  if (segment.dims.rank() < 2) {
    for (uint64_t i = 0; i < segment.elements; ++i)
      variance[i] = first[i] = static_cast<T>(first[i] + weight * (g[i] * g[i] - first[i]));
  } else {
    auto rows = static_cast<uint64_t>(segment.dims.last(1));
    auto columns = static_cast<uint64_t>(segment.dims.last());
    for (uint64_t at = 0; at < segment.elements; at += rows * columns) {
      auto r = first + at / columns, c = columns_of + at / rows;
      auto square = [&](uint64_t i, uint64_t j) {
        return g[at + i * columns + j] * g[at + i * columns + j];
      };
      double mean_row = 0;
      for (uint64_t i = 0; i < rows; ++i) {
        double sum = 0;
        for (uint64_t j = 0; j < columns; ++j) sum += square(i, j);
        r[i] = static_cast<T>(r[i] + weight * (sum / static_cast<double>(columns) - r[i]));
        mean_row += r[i] / static_cast<double>(rows);
      }
      for (uint64_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (uint64_t i = 0; i < rows; ++i) sum += square(i, j);
        c[j] = static_cast<T>(c[j] + weight * (sum / static_cast<double>(rows) - c[j]));
      }
      for (uint64_t i = 0; i < rows; ++i)
        for (uint64_t j = 0; j < columns; ++j)
          variance[at + i * columns + j] =
            static_cast<double>(r[i]) * c[j] / std::max(mean_row, how.eps);
    }
  }
  double moved = 0;
  for (uint64_t i = 0; i < segment.elements; ++i) {
    variance[i] = g[i] / std::sqrt(std::max(variance[i], how.eps * how.eps));
    moved += variance[i] * variance[i];
  }
  auto by = alpha / std::max(1.0, rms(moved));
  for (uint64_t i = 0; i < segment.elements; ++i)
    p[i] = static_cast<T>(p[i] * (1 - how.lr * segment.weight_decay) - by * variance[i]);
}

/// A matrix of doubles that hold bfloat16 values.
struct bf16_matrix {
  uint64_t rows;
  uint64_t columns;
  std::vector<double> values;

  double& at(uint64_t i, uint64_t j) {
    return values[i * columns + j];
  }
};

inline double rounded_bf16(double value) {
  return from_bf16(to_bf16(static_cast<float>(value)));
}

/// round(beta · c + alpha · a · b).
inline bf16_matrix multiply_add(double beta, bf16_matrix& c, double alpha, bf16_matrix& a,
                                bf16_matrix& b) {
  bf16_matrix out{a.rows, b.columns, std::vector<double>(a.rows * b.columns)};
  for (uint64_t i = 0; i < a.rows; ++i)
    for (uint64_t j = 0; j < b.columns; ++j) {
      double sum = 0;
      for (uint64_t k = 0; k < a.columns; ++k) sum += a.at(i, k) * b.at(k, j);
      out.at(i, j) = rounded_bf16(beta * c.at(i, j) + alpha * sum);
    }
  return out;
}

/// The nearest half-orthogonal matrix, roughly: five steps of Newton and Schulz, in bfloat16 as
/// torch.optim.Muon has it.
inline void orthogonalize(bf16_matrix& x, double eps) {
  double squares = 0;
  for (auto& value : x.values) squares += value * value;
  auto norm = std::max(rounded_bf16(std::sqrt(squares)), rounded_bf16(eps));
  for (auto& value : x.values) value = rounded_bf16(value / norm);
  for (int round = 0; round < 5; ++round) {
    bf16_matrix turned{x.columns, x.rows, std::vector<double>(x.values.size())};
    for (uint64_t i = 0; i < x.rows; ++i)
      for (uint64_t j = 0; j < x.columns; ++j) turned.at(j, i) = x.at(i, j);
    bf16_matrix none{x.rows, x.rows, std::vector<double>(x.rows * x.rows)};
    auto gram = multiply_add(0, none, 1, x, turned);
    auto update = multiply_add(-4.7750, gram, 2.0315, gram, gram);
    x = multiply_add(3.4445, x, 1, update, x);
  }
}

/// As torch.optim.Muon with Nesterov's momentum, its coefficients and its adjustment of the
/// learning rate.
template <class T>
void muon(const optimizer_step& how, const step_segment& segment, const std::vector<double>& g,
          T* p, T* average) {
  auto rows = static_cast<uint64_t>(segment.dims[0]);
  auto columns = static_cast<uint64_t>(segment.dims[1]);
  bool turned = rows > columns;
  bf16_matrix x{turned ? columns : rows, turned ? rows : columns,
                std::vector<double>(segment.elements)};
  auto place = [&](uint64_t n) -> double& {
    return turned ? x.at(n % columns, n / columns) : x.at(n / columns, n % columns);
  };
  for (uint64_t n = 0; n < segment.elements; ++n) {
    average[n] = static_cast<T>(average[n] + (1 - how.beta1) * (g[n] - average[n]));
    place(n) = rounded_bf16(static_cast<T>(g[n] + how.beta1 * (average[n] - g[n])));
  }
  orthogonalize(x, how.eps);
  auto ratio = std::sqrt(std::max(1.0, static_cast<double>(rows) / static_cast<double>(columns)));
  for (uint64_t n = 0; n < segment.elements; ++n)
    p[n] = static_cast<T>(p[n] * (1 - how.lr * segment.weight_decay) - how.lr * ratio * place(n));
}

} // namespace moxzi::device::reference
