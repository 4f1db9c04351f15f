#pragma once

namespace moxzi::device {

/// The inverse of the error function, to a few units in the last place, for |x| < 1.
double erfinv(double x) noexcept;

} // namespace moxzi::device
