#pragma once

#include <cstdint>
#include <functional>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "device/philox.hpp"
#include "device/program.hpp"

namespace moxzi::device {

/// Fails if the initializer's numbers are not permitted or not finite in the parameter's type, or
/// its data does not fit. The message has no place yet.
result<void> check_initializer(const initializer& how, const shape& dims, dtype type);

/// Fails if a tensor is not one of floats, of this shape, with as many bytes as that says.
result<void> check_data(const tensor& contents, const shape& dims);

/// The first `elements` of a tensor of floats as elements of another type, rounded once.
byte_string converted(const tensor& from, size_t elements, elem to);

/// Takes a piece of contents, `offset` bytes from their beginning; false to have no more.
using put_piece = std::function<bool(uint64_t offset, byte_view piece)>;

/// The contents of a new parameter of floats, piece by piece: drawn in double and rounded once, so
/// that they are the same on every kind of device.
void initial_contents(const initializer& how, const shape& dims, elem type,
                      const random_stream& random, const put_piece& put);

} // namespace moxzi::device
