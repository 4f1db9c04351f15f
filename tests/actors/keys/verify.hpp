#pragma once

#include "base/bytes.hpp"

/// Signatures as others check them.
namespace moxzi::actors::keys {

/// By OpenSSL: `key` is SEC1, `signature` r and s.
bool verify_ecdsa(byte_view key, byte_view hash, byte_view signature);
/// By the equation of BIP 340; `key` is the x coordinate.
bool verify_bip340(byte_view key, byte_view message, byte_view signature);
/// By OpenSSL.
bool verify_ed25519(byte_view key, byte_view message, byte_view signature);

} // namespace moxzi::actors::keys
