#pragma once

#include <vector>

#include "base/bytes.hpp"

namespace moxzi::actors::keys {

/// Indices, one after the other, that lead from a key to one of its descendants.
using derivation_path = std::vector<byte_string>;

/// A public key and the 32 bytes from which, with the key, its children's follow: whoever has both
/// can derive public keys; only the owner of the secret can derive secrets.
struct extended_public {
  byte_string key;
  byte_string chain_code;
  bool operator==(const extended_public&) const = default;
};

/// The secret of an `extended_public`: a number below the order of the curve's group, 32 bytes in
/// the curve's own byte order.
struct extended_secret {
  byte_string secret;
  byte_string chain_code;
};

} // namespace moxzi::actors::keys
