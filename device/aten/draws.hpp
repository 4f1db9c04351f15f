#pragma once

#include "device/aten/kernels.hpp"

/// Philox by ATen's operators, so that a recording draws other numbers each time it is replayed:
/// the keys lie in the device's memory. The numbers are those of `device/draws.hpp`.
namespace moxzi::device::aten {

/// The keys as the device has them: low and high halves of seed, owner, step and seeded step.
at::Tensor keys_of(const draw_keys& keys, at::Device device);
/// Overwrites them.
void set_keys(at::Tensor& to, const draw_keys& keys);

/// The words of the elements of a tensor, as i64.
at::Tensor words_of_elements(const aten_call& call, const attribute& seed, int64_t elements);
/// Words `which` of blocks 0 to `blocks`.
at::Tensor words_of_blocks(const aten_call& call, const attribute& seed, int64_t blocks,
                           size_t which);
/// Which elements of a tensor dropout keeps.
at::Tensor kept_by_dropout(const aten_call& call, const attribute& seed, at::IntArrayRef sizes,
                           double p);

} // namespace moxzi::device::aten
