#pragma once

#include <memory>

#include <c10/cuda/CUDAStream.h>

#include "device/collectives/collectives.hpp"

namespace moxzi::device::cuda {

/// What the members of a new group find each other by; empty with `why` when there is none.
byte_string new_nccl_group(fault& why);

/// A member of a group of GPUs, which waits until all have joined; null with `why`. Data are
/// addresses of the GPU; work goes to the stream, in order with what else is there, so a call
/// returns before it is done. Errors of the network or of another member come with a later call.
std::unique_ptr<collectives> join_nccl_group(byte_view id, uint32_t size, uint32_t rank,
                                             c10::cuda::CUDAStream stream, fault& why);

} // namespace moxzi::device::cuda
