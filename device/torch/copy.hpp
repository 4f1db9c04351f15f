#pragma once

#include "device/host_executable.hpp"

/// Elements from one place to another, without computing.
namespace moxzi::device::torch {

/// Copies all elements of a tensor to another of the same shape, both with any strides, their
/// elements of one size; large ones on several threads.
void copy_elements(const tensor_view& from, const tensor_view& to, uint32_t threads);

/// `len` places of a dimension, from `start` on, every `step`th.
tensor_view part_of(const tensor_view& whole, size_t dim, int64_t start, int64_t len,
                    int64_t step = 1);

} // namespace moxzi::device::torch
