#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "net/client_shares.hpp"
#include "net/http_call.hpp"
#include "net/http_limits.hpp"

namespace moxzi::net {

/// The calls whose answers are asked for later, each under an id that cannot be guessed. Bounded in
/// number, bytes and time: where there is too much, the client that has most of it loses what was
/// answered longest ago. Pure: time comes in, in milliseconds. Not thread-safe.
class call_store {
public:
  explicit call_store(const http_limits& limits) : limits_(limits) {
    // nop
  }

  /// True if one more call can be kept.
  bool has_room() const noexcept {
    return open_ < limits_.calls_kept_max;
  }
  /// Keeps a client's call that has no answer yet. There is room, and `id` is new.
  void open(std::string id, const client_key& client, uint64_t now_ms);
  /// The answer to a call; dropped where nobody knows the id any more.
  void close(std::string_view id, http_answer answer, uint64_t now_ms);

  enum class state : uint8_t { unknown, processing, answered };
  struct found {
    call_store::state state = state::unknown;
    const http_answer* answer = nullptr; ///< valid until the next call of this object
  };
  found find(std::string_view id, uint64_t now_ms);

  /// Calls without an answer, and all.
  size_t processing() const noexcept {
    return open_;
  }
  size_t size() const noexcept {
    return calls_.size();
  }

private:
  struct call {
    client_key client;
    uint64_t expires_ms = 0;
    std::optional<http_answer> answer;
  };
  /// When an entry ends, and its id.
  using expiries = std::set<std::pair<uint64_t, std::string>>;
  /// The answers of one client.
  struct holding {
    size_t bytes = 0;
    expiries answered;
  };

  void expire(uint64_t now_ms);
  void drop(std::string id);
  bool has_too_many_bytes() const noexcept;
  bool has_too_many() const noexcept;
  /// Whoever holds most of what there is too much of.
  const holding& greatest() const;

  http_limits limits_;
  std::unordered_map<std::string, call> calls_;
  expiries opened_;
  expiries answered_;
  std::map<client_key, holding> holdings_;
  size_t open_ = 0;
  size_t bytes_ = 0;
};

} // namespace moxzi::net
