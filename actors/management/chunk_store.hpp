#pragma once

#include <map>
#include <span>
#include <vector>

#include "actors/principal.hpp"
#include "base/bytes.hpp"
#include "base/digest.hpp"
#include "base/result.hpp"

namespace moxzi::actors::management {

/// The chunks that wait to be put together as modules, of each actor. Pure.
class chunk_store {
public:
  /// Keeps a chunk, and returns its SHA-256. Fails if it is too large, or the actor has as many as
  /// it may; one that is there already takes no place.
  result<sha256_hash> add(const principal& owner, byte_string chunk);

  /// The hashes of an actor's chunks, in order.
  std::vector<sha256_hash> list(const principal& owner) const;

  /// Puts chunks together. Fails if one is not there, if they are too many or too large, or if what
  /// comes of them does not have this hash.
  result<byte_string> assemble(const principal& owner, std::span<const byte_string> hashes,
                               byte_view whole_hash) const;

  /// Forgets all of an actor's.
  void clear(const principal& owner);

  /// What an actor's chunks take.
  size_t bytes(const principal& owner) const;

private:
  const byte_string* find(const principal& owner, byte_view hash) const;

  std::map<principal, std::map<sha256_hash, byte_string>> chunks_;
};

} // namespace moxzi::actors::management
