#pragma once

#include <cstdint>

/// The rows of a softmax cross entropy.
namespace moxzi::device::torch {

/// For each of `rows` rows of `columns` logits: adds up -log softmax at the row's target, and
/// writes scale · (softmax - one at the target) to `gradient` unless that is null. Targets were
/// checked.
double cross_entropy_rows(const float* logits, const int64_t* targets, int64_t rows,
                          int64_t columns, float scale, float* gradient);
double cross_entropy_rows(const double* logits, const int64_t* targets, int64_t rows,
                          int64_t columns, double scale, double* gradient);

} // namespace moxzi::device::torch
