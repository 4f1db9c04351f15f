#pragma once

#include <string>
#include <string_view>

namespace moxzi::candid {

/// The shortest decimal that reads back as the same number: `5.547374725341797`, `1.0`, `-0.0`,
/// `1e-05`, `1e+16` (exponents outside of 1e-4 … 1e16). Infinities are `inf` and `-inf`. NaN is as
/// in WebAssembly's text: `nan`, `-nan`, and `nan:0x1` where the bits of the fraction are not the
/// usual.
std::string float_text(double number);
std::string float_text(float number);

/// Reads a decimal number, rounding to nearest even; too large ones are infinite, too small ones 0.
/// False if `text` is not wholly a number.
bool parse_float(std::string_view text, double& out);
bool parse_float(std::string_view text, float& out);

/// Reads what `float_text` prints for NaN. False if it is none of that width.
bool parse_nan(std::string_view text, double& out);
bool parse_nan(std::string_view text, float& out);

} // namespace moxzi::candid
