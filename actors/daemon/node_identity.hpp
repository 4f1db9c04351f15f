#pragma once

#include "actors/principal.hpp"
#include "base/digest.hpp"
#include "base/entropy.hpp"

namespace moxzi::actors {

/// Who this node is. All of it follows from the seed.
struct node_identity {
  sha256_hash seed{};
  principal subnet; ///< the node as a subnet of one
  principal node;
};

/// A new one.
node_identity make_identity(entropy& randomness);

} // namespace moxzi::actors
