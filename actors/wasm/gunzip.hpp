#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace moxzi::actors {

/// True for what begins as gzip does.
inline bool is_gzip(byte_view bytes) noexcept {
  return bytes.starts_with("\x1f\x8b");
}

/// Unpacks gzip (RFC 1952) that may come from anyone; refuses what would become larger than
/// `bytes_max`, is damaged, or has something behind it.
result<byte_string> gunzip(byte_view packed, size_t bytes_max);

} // namespace moxzi::actors
