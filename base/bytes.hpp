#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace moxzi {

/// Raw bytes. Backed by `std::string`, the one byte container whose length CAF 0.17.6 checks
/// against the remaining input before it allocates.
using byte_string = std::string;
using byte_view = std::string_view;

/// Lower-case hexadecimal, two digits a byte.
std::string to_hex(byte_view bytes);

/// Reads hexadecimal of either case; fails on an odd length or any other character, naming its
/// position.
result<byte_string> from_hex(std::string_view text);

/// Compares in a time that depends on the lengths only, for secrets.
bool equal_in_constant_time(byte_view x, byte_view y) noexcept;

/// True if `text` is well-formed UTF-8 (no surrogates, no over-long forms, at most U+10FFFF).
bool is_utf8(std::string_view text) noexcept;

} // namespace moxzi
