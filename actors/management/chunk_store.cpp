#include "actors/management/chunk_store.hpp"

#include <algorithm>

#include "base/limits.hpp"

namespace moxzi::actors::management {

result<sha256_hash> chunk_store::add(const principal& owner, byte_string chunk) {
  if (chunk.size() > limits::chunk_bytes_max) {
    return fail(base_errc::over_limit, "the chunk has {} bytes; at most {}", chunk.size(),
                limits::chunk_bytes_max);
  }
  const auto hash = sha256(chunk);
  auto& own = chunks_[owner];
  if (!own.contains(hash) && own.size() >= limits::chunks_max) {
    return fail(base_errc::over_limit,
                "the chunk store of {} holds {} chunks already; clear_chunk_store empties it",
                owner.to_text(), limits::chunks_max);
  }
  own.try_emplace(hash, std::move(chunk));
  return hash;
}

std::vector<sha256_hash> chunk_store::list(const principal& owner) const {
  std::vector<sha256_hash> hashes;
  const auto at = chunks_.find(owner);
  if (at == chunks_.end()) return hashes;
  for (const auto& [hash, _] : at->second) hashes.push_back(hash);
  return hashes;
}

const byte_string* chunk_store::find(const principal& owner, byte_view hash) const {
  sha256_hash key{};
  if (hash.size() != key.size()) return nullptr;
  std::copy(hash.begin(), hash.end(), key.begin());
  const auto own = chunks_.find(owner);
  if (own == chunks_.end()) return nullptr;
  const auto at = own->second.find(key);
  return at == own->second.end() ? nullptr : &at->second;
}

result<byte_string> chunk_store::assemble(const principal& owner,
                                          std::span<const byte_string> hashes,
                                          byte_view whole_hash) const {
  if (hashes.size() > limits::chunks_max) {
    return fail(base_errc::over_limit, "chunk_hashes_list has {} hashes; at most {}", hashes.size(),
                limits::chunks_max);
  }
  byte_string whole;
  for (size_t i = 0; i < hashes.size(); ++i) {
    const auto* chunk = find(owner, hashes[i]);
    if (chunk == nullptr) {
      return fail(base_errc::malformed, "chunk_hashes_list[{}]: {} has no chunk {}", i,
                  owner.to_text(), to_hex(hashes[i]));
    }
    whole += *chunk;
  }
  const auto hash = sha256(whole);
  if (as_bytes(hash) != whole_hash) {
    return fail(base_errc::malformed, "the chunks together have the hash {}, not {}",
                to_hex(as_bytes(hash)), to_hex(whole_hash));
  }
  return whole;
}

void chunk_store::clear(const principal& owner) {
  chunks_.erase(owner);
}

size_t chunk_store::bytes(const principal& owner) const {
  const auto at = chunks_.find(owner);
  size_t sum = 0;
  if (at == chunks_.end()) return sum;
  for (const auto& [_, chunk] : at->second) sum += chunk.size();
  return sum;
}

} // namespace moxzi::actors::management
