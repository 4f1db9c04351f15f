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

/// Numbers for programs: the same for equal ones and for no others. A program that is sent again is
/// known by where it lies, without reading it.
class program_numbers {
public:
  explicit program_numbers(size_t programs_max) : programs_max_(programs_max) {
    // nop
  }

  uint64_t of(const std::shared_ptr<const program>& what);

private:
  struct place {
    std::weak_ptr<const program> what; ///< another one may lie there by now
    uint64_t number = 0;
  };

  size_t programs_max_;
  uint64_t last_ = 0;
  std::unordered_map<const program*, place> by_place_;
  std::unordered_map<byte_string, uint64_t> by_text_;
};

/// Plans by everything they depend on, least recently used dropped first. The key is the whole
/// description, not a hash of it, since two programs must never be taken for each other.
class plan_cache {
public:
  explicit plan_cache(size_t plans_max) : plans_max_(plans_max), programs_(plans_max) {
    // nop
  }

  /// What a program is called in keys.
  uint64_t number_of(const std::shared_ptr<const program>& what) {
    return programs_.of(what);
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
  program_numbers programs_;
  cache_counters counters_;
};

} // namespace moxzi::device
