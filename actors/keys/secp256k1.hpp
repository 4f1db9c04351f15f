#pragma once

#include "actors/keys/extended_key.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

/// The curve secp256k1: derivation as on the Internet Computer (BIP 32 for paths of any bytes),
/// ECDSA, and Schnorr signatures of BIP 340. Secrets are 32 bytes, most significant first.
namespace moxzi::actors::keys::secp256k1 {

/// A secret from 64 bytes that nobody knows: their remainder, never 0.
byte_string make_secret(byte_view entropy);

/// The public key: SEC1, compressed, 33 bytes.
byte_string public_key(byte_view secret);

/// The descendant at the end of `path`.
extended_secret derive(extended_secret from, const derivation_path& path);
/// The same without the secret. Fails where the key is no point of the curve.
result<extended_public> derive(extended_public from, const derivation_path& path);

/// An ECDSA signature of a hash of 32 bytes: r and s, each 32 bytes; s is the lower of the two that
/// would do. Deterministic (RFC 6979 with SHA-256).
byte_string sign_ecdsa(byte_view secret, byte_view hash);

/// A signature of BIP 340: 64 bytes. `fresh` are 32 bytes that make the nonce differ each time; the
/// signature is sound with any.
byte_string sign_bip340(byte_view secret, byte_view message, byte_view fresh);

/// The secret that signs for the output key of BIP 341 whose internal key is that of `secret`, with
/// the root of the script tree (32 bytes, or none).
byte_string tweak_bip341(byte_view secret, byte_view merkle_root);

} // namespace moxzi::actors::keys::secp256k1
