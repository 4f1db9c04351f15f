#pragma once

#include <deque>
#include <mutex>

#include "persist/journal.hpp"

namespace moxzi::persist {

/// The journal of a node without a state directory: records are durable as long as the process, so
/// the gate opens at once. Keeps the newest records up to a bound on their size; what a node
/// without state needs them for is looking back, not recovery.
class memory_journal final : public journal {
public:
  /// Keeps at most `bytes_max` of payload.
  explicit memory_journal(size_t bytes_max);

  uint64_t append(record what, std::function<void()> when_durable) override;
  std::vector<record> records() const override;

private:
  mutable std::mutex mutex_;
  std::deque<record> records_;
  size_t bytes_ = 0;
  size_t bytes_max_;
  uint64_t sequence_ = 0;
};

} // namespace moxzi::persist
