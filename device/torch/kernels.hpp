#pragma once

#include "device/host_executable.hpp"

/// The kernels of the processor's backend.
namespace moxzi::device::torch {

/// The kernel for a row whose result is of this type, or null.
kernel_function find_kernel(op id, elem type) noexcept;

// One function per file of kernels; each knows some rows and answers null for the others.
kernel_function find_indexing_kernel(op id) noexcept;
kernel_function find_linear_kernel(op id) noexcept;
kernel_function find_conv_kernel(op id) noexcept;
kernel_function find_normalisation_kernel(op id) noexcept;
kernel_function find_attention_kernel(op id) noexcept;
kernel_function find_loss_kernel(op id) noexcept;
kernel_function find_matmul_kernel(op id) noexcept;
kernel_function find_pooling_kernel(op id) noexcept;
kernel_function find_recurrent_kernel(op id) noexcept;
kernel_function find_random_kernel(op id) noexcept;
kernel_function find_shape_kernel(op id) noexcept;
kernel_function find_picking_kernel(op id) noexcept;
kernel_function find_reduction_kernel(op id, elem type) noexcept;

} // namespace moxzi::device::torch
