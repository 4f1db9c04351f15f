#pragma once

/// All that a C++ actor needs of a device: opening one, programs, tensors, requests.
#include "device/device_handle.hpp"
#include "device/opened_device.hpp"
#include "device/program_builder.hpp"
#include "device/tensors.hpp"
