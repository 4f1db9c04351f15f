#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "actors/call.hpp"

namespace moxzi::actors {

/// Which requests an actor has taken, and what it answered, so that a request sent twice is applied
/// once. Requests of one caller arrive in the order of their sequence; that is what makes it
/// possible to tell a forgotten answer from a new request.
class answer_memory {
public:
  /// Keeps the newest answers up to this many and this many bytes.
  answer_memory(size_t count_max, size_t bytes_max) : count_max_(count_max), bytes_max_(bytes_max) {
    // nop
  }

  enum class verdict : uint8_t {
    fresh,     ///< never seen: take it
    open,      ///< taken and not answered yet: the answer will come
    answered,  ///< `find` has the answer
    forgotten, ///< taken once, its answer is no longer kept
  };

  /// What is known of a request with this identity.
  verdict ask(const call_identity& identity) const;
  /// The request is taken.
  void open(const call_identity& identity);
  /// The request is answered.
  void close(const call_response& answer);
  /// The answer of an `answered` request.
  const call_response* find(const call_identity& identity) const;

private:
  using caller_epoch = std::pair<principal, uint32_t>;

  size_t count_max_;
  size_t bytes_max_;
  size_t bytes_ = 0;
  std::map<call_identity, std::optional<call_response>> requests_;
  std::deque<call_identity> answered_; ///< oldest first
  std::map<caller_epoch, uint64_t> newest_;
};

} // namespace moxzi::actors
