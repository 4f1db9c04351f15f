#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/keys/extended_key.hpp"
#include "actors/principal.hpp"
#include "base/bytes.hpp"
#include "base/digest.hpp"
#include "base/result.hpp"

namespace moxzi::actors::keys {

enum class key_algorithm : uint8_t { ecdsa_secp256k1, schnorr_bip340, schnorr_ed25519 };

/// The names that keys are asked for by: those of the Internet Computer and of its local replicas.
inline constexpr std::string_view key_names[] = {"dfx_test_key", "test_key_1", "key_1"};

/// Which key is meant: that of `owner` under the node's key of this name, at the end of `path`.
struct key_place {
  key_algorithm algorithm = key_algorithm::ecdsa_secp256k1;
  std::string name;
  principal owner;
  derivation_path path;
};

/// What a signature of BIP 340 may be for: an output of BIP 341 with this script tree's root.
using taproot_root = std::optional<byte_string>;

/// The keys that this node signs with on behalf of its actors. All follow from one seed: the same
/// seed has the same keys. They are kept here and nowhere else, whole: what a threshold of nodes
/// guards on the Internet Computer, one process guards here.
class key_ring {
public:
  explicit key_ring(const sha256_hash& seed);
  ~key_ring();
  key_ring(const key_ring&) = delete;
  key_ring& operator=(const key_ring&) = delete;

  /// Fails where there is no key of that name, or the path is too long.
  result<extended_public> public_key(const key_place& where) const;

  /// Signs. ECDSA signs a hash of 32 bytes. `fresh` are 32 random bytes. Fails as `public_key`
  /// does, and where hash or root are of a wrong length, or the algorithm has no such root.
  result<byte_string> sign(const key_place& where, byte_view message, byte_view fresh,
                           const taproot_root& root = {}) const;

private:
  result<extended_secret> find(const key_place& where) const;

  byte_string seed_;
};

} // namespace moxzi::actors::keys
