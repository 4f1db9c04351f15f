#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.hpp"
#include "device/backend.hpp"
#include "device/device_core.hpp"

namespace moxzi::device {

/// A plan ready to run, with what its users need to know of the program it came from.
struct kept_plan {
  plan what;
  std::vector<op> operations;      ///< of the caller's program, for messages
  std::vector<uint32_t> gradients; ///< tensor of each differentiated parameter, or `no_tensor`
  std::vector<register_type> results;
  bool draws = false;                ///< some operation draws random numbers
  std::unique_ptr<executable> ready; ///< refers to `what`, so it goes first
  uint64_t expected_ns = 0;          ///< how long a run took lately
};
using kept_plan_ptr = std::shared_ptr<kept_plan>;

/// Plans by everything they depend on, least recently used dropped first. The key is the whole
/// description, not a hash of it, since two programs must never be taken for each other.
class plan_cache {
public:
  explicit plan_cache(size_t plans_max) : plans_max_(plans_max) {
    // nop
  }

  /// The plan, or null; counts a hit or a miss.
  kept_plan_ptr find(const byte_string& key);
  void insert(byte_string key, kept_plan_ptr what);
  /// Drops the plan that was not used for longest; false if there is none.
  bool evict();
  const cache_counters& counters() const noexcept {
    return counters_;
  }

private:
  struct entry {
    byte_string key;
    kept_plan_ptr what;
    uint64_t bytes;
  };

  size_t plans_max_;
  std::list<entry> entries_; ///< latest used first
  std::unordered_map<byte_view, std::list<entry>::iterator> by_key_;
  cache_counters counters_;
};

} // namespace moxzi::device
