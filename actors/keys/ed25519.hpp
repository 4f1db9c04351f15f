#pragma once

#include "actors/keys/extended_key.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

/// Ed25519 with keys that descend from each other, as the Internet Computer derives them: secrets
/// are numbers below the order of the base point, 32 bytes, least significant first, and are not
/// clamped. Signatures verify as those of RFC 8032 do.
namespace moxzi::actors::keys::ed25519 {

/// A secret from 64 bytes that nobody knows: their remainder, never 0.
byte_string make_secret(byte_view entropy);

/// The public key: 32 bytes.
byte_string public_key(byte_view secret);

/// The descendant at the end of `path`.
extended_secret derive(extended_secret from, const derivation_path& path);
/// The same without the secret. Fails where the key is no point of the curve.
result<extended_public> derive(extended_public from, const derivation_path& path);

/// A signature: 64 bytes. `fresh` makes the nonce differ each time; the signature is sound with
/// any.
byte_string sign(byte_view secret, byte_view message, byte_view fresh);

} // namespace moxzi::actors::keys::ed25519
