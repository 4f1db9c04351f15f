#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "device/philox.hpp"
#include "device/program.hpp"

namespace moxzi::device {

/// Fails if the initializer's numbers are not permitted or not finite in the parameter's type, or
/// its data does not fit. The message has no place yet.
result<void> check_initializer(const initializer& how, const shape& dims, dtype type);

/// The contents of a new parameter of floats, as bytes: drawn in double and rounded once, so that
/// they are the same on every kind of device.
byte_string initial_contents(const initializer& how, const shape& dims, elem type,
                             const random_stream& random);

} // namespace moxzi::device
