#pragma once

#include "base/bytes.hpp"

namespace moxzi::actors::keys {

/// HMAC with SHA-256: 32 bytes.
byte_string hmac_sha256(byte_view key, byte_view data);
/// HMAC with SHA-512: 64 bytes.
byte_string hmac_sha512(byte_view key, byte_view data);
/// SHA-512: 64 bytes.
byte_string sha512(byte_view data);
/// HKDF with SHA-512 (RFC 5869): `bytes` bytes, at most 255 times 64.
byte_string hkdf_sha512(byte_view salt, byte_view key_material, byte_view info, size_t bytes);
/// SHA-256 of a message tagged as BIP 340 says: 32 bytes.
byte_string tagged_hash(byte_view tag, byte_view data);

} // namespace moxzi::actors::keys
