#pragma once

#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace moxzi::candid {

/// Base 64 of RFC 4648 with padding.
std::string to_base64(byte_view bytes);

/// Reads it, with or without padding; fails on any other character.
result<byte_string> from_base64(std::string_view text);

} // namespace moxzi::candid
