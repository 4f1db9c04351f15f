#include "persist/memory_journal.hpp"

namespace moxzi::persist {

memory_journal::memory_journal(size_t bytes_max) : bytes_max_(bytes_max) {
  // nop
}

uint64_t memory_journal::append(record what, std::function<void()> when_durable) {
  uint64_t sequence = 0;
  {
    const std::lock_guard lock{mutex_};
    sequence = ++sequence_;
    what.sequence = sequence;
    bytes_ += what.payload.size();
    records_.push_back(std::move(what));
    while (bytes_ > bytes_max_ && records_.size() > 1) {
      bytes_ -= records_.front().payload.size();
      records_.pop_front();
    }
  }
  if (when_durable) when_durable();
  return sequence;
}

std::vector<record> memory_journal::records() const {
  const std::lock_guard lock{mutex_};
  return {records_.begin(), records_.end()};
}

} // namespace moxzi::persist
