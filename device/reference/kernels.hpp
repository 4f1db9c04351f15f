#pragma once

#include "device/draws.hpp"
#include "device/host_executable.hpp"

/// Plain loops over doubles, written to be read: what other backends are compared with.
namespace moxzi::device::reference {

/// One element as a double, and back, rounded to the tensor's type.
double get(const tensor_view& from, int64_t n) noexcept;
void set(const tensor_view& to, int64_t n, double value) noexcept;
/// One integer, and back; what doesn't fit loses its high bits.
int64_t get_integer(const tensor_view& from, int64_t n) noexcept;
void set_integer(const tensor_view& to, int64_t n, int64_t value) noexcept;
/// An element of a tensor to that of another; exact where it can be.
void move(const tensor_view& to, int64_t n, const tensor_view& from, int64_t m) noexcept;

/// Where element `n`, counted in row-major order, is; and the number of the element there, in a
/// tensor with any strides.
shape position(int64_t n, const shape& dims) noexcept;
int64_t number_at(const shape& position, const shape& strides) noexcept;

/// The kernel of a row that isn't pointwise, or of `chain_op`; or null.
kernel_function find_kernel(op id) noexcept;

// One function per file of kernels; each knows some rows and answers null for the others.
kernel_function find_normalisation_kernel(op id) noexcept;
kernel_function find_attention_kernel(op id) noexcept;
kernel_function find_moving_kernel(op id) noexcept;
kernel_function find_picking_kernel(op id) noexcept;
kernel_function find_reduction_kernel(op id) noexcept;
kernel_function find_order_kernel(op id) noexcept;
kernel_function find_product_kernel(op id) noexcept;
kernel_function find_pooling_kernel(op id) noexcept;
kernel_function find_loss_kernel(op id) noexcept;
kernel_function find_recurrent_kernel(op id) noexcept;
kernel_function find_random_kernel(op id) noexcept;
kernel_function find_batch_norm_kernel(op id) noexcept;

/// True if dropout keeps element `n`.
bool keeps(const draw_counters& draws, uint64_t n, double p);

// What `host_kernels` has beside.
void add(void* sum, const void* more, uint64_t elements, elem type);
bool finite(const void* data, uint64_t elements, elem type);
void bound(void* data, uint64_t elements, elem type, double most);
double sum_of_squares(const void* data, uint64_t elements, elem type);
void step(const optimizer_step& how, const step_segment& segment, const void* gradient,
          double scale);

} // namespace moxzi::device::reference
