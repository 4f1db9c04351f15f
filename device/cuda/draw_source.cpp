#include "device/cuda/draw_source.hpp"

namespace moxzi::device::cuda {

std::string draw_source() {
#define DEVICE_CODE(...) #__VA_ARGS__
  return "#define ON_DEVICE __device__\n"
#include "device/cuda/draw_words.inc"
#undef DEVICE_CODE
         R"(
extern "C" __global__ void draw_words(const __grid_constant__ draw_arguments with) {
  const long long all = (long long)gridDim.x * blockDim.x;
  for (long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x; n < with.count; n += all)
    with.out[n] = drawn_word(with, n);
}
)";
}

} // namespace moxzi::device::cuda
