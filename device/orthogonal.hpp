#pragma once

#include <cstddef>
#include <span>

namespace moxzi::device {

/// Makes `count` vectors of `length` numbers each, one after the other, orthonormal: the Q of a QR
/// decomposition whose R has a positive diagonal. `count` is at most `length`.
void make_orthonormal(std::span<double> vectors, size_t count, size_t length);

} // namespace moxzi::device
