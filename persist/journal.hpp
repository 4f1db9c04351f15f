#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "persist/record.hpp"

namespace moxzi::persist {

/// Where records go: one order for the whole node.
///
/// `append` may be called from any thread; it gives the record its place in the order and returns
/// at once. `when_durable` runs once the record and all before it can no longer be lost; it may run
/// before `append` returns, and on any thread, so it does no more than hand something on. It is the
/// output gate: whatever leaves the node leaves from there.
class journal {
public:
  virtual ~journal() = default;

  /// Returns the record's sequence (from 1).
  virtual uint64_t append(record what, std::function<void()> when_durable) = 0;

  /// The records in order, as far as they are kept.
  virtual std::vector<record> records() const = 0;
};

} // namespace moxzi::persist
