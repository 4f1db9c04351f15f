#include "actors/daemon/node_identity.hpp"

namespace moxzi::actors {

namespace {

// Of the form that keys have: 28 bytes of a hash, then 02.
principal derived(byte_view word, const sha256_hash& seed) {
  byte_string bytes{word};
  bytes.push_back('\0');
  bytes.append(as_bytes(seed));
  const auto hash = sha256(bytes);
  return *principal::from_bytes(byte_string{as_bytes(hash).substr(0, 28)} + '\2');
}

} // namespace

node_identity make_identity(entropy& randomness) {
  node_identity made;
  randomness.fill(made.seed);
  made.subnet = derived("moxzi-subnet", made.seed);
  made.node = derived("moxzi-node", made.seed);
  return made;
}

} // namespace moxzi::actors
