#pragma once

#include <cstdint>

#include <ATen/Parallel.h>

/// How this folder's loops are compiled and spread over threads.
namespace moxzi::device::torch {

/// Put on a plain function: it is compiled for three instruction sets, and the loader chooses. All
/// three give the same digits: no contraction (a build flag), no reassociation.
#define MOXZI_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))

/// Put on the template that such functions share, so that it is compiled with their instructions.
#define MOXZI_INLINE inline __attribute__((always_inline))

/// Running sums are kept in this many lanes, then added in order: vector code whose result does
/// not depend on the width of the vectors.
inline constexpr int lanes = 16;

/// Calls `work(begin, end)` for parts of [0, count), on several threads if it is worth it. What
/// the parts are depends on the number of threads, so `work` must give the same for any parts.
template <class Work>
void for_parts(uint32_t threads, int64_t count, int64_t grain, const Work& work) {
  if (threads <= 1 || count <= grain) {
    if (count > 0) work(0, count);
    return;
  }
  at::parallel_for(0, count, grain, work);
}

} // namespace moxzi::device::torch
