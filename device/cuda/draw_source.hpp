#pragma once

#include <string>

namespace moxzi::device::cuda {

#define ON_DEVICE
#define DEVICE_CODE(...) __VA_ARGS__
#include "device/cuda/draw_words.inc"
#undef DEVICE_CODE
#undef ON_DEVICE

/// The code of the kernel `draw_words`: takes `draw_arguments` by value and fills `out`. The
/// functions above are the same text as C++.
std::string draw_source();

} // namespace moxzi::device::cuda
