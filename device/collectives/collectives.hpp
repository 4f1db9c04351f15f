#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "device/backend.hpp"

namespace moxzi::device {

/// One member of a group of devices that compute parts of one program and join them. All members
/// make the same calls in the same order; `point` is the place in the program, and a member that is
/// elsewhere fails everybody's call with an error that names it. After a fault the group is of no
/// further use, and every call fails with the same words.
class collectives {
public:
  virtual ~collectives() = default;
  virtual uint32_t rank() const noexcept = 0;
  virtual uint32_t size() const noexcept = 0;

  /// The sum over all members, added in the order of their ranks, in place: f32 or f64. Every
  /// member gets the same bits.
  virtual std::optional<fault> all_reduce(void* data, uint64_t elements, elem type,
                                          uint32_t point) = 0;
  /// The parts of all members, one after the other in the order of their ranks. A part may be of
  /// any size; `whole` has room for all, and each member knows every part's `bytes`.
  virtual std::optional<fault> all_gather(const void* part, std::span<const uint64_t> bytes,
                                          void* whole, uint32_t point) = 0;
  /// The bytes of member `root` to all.
  virtual std::optional<fault> broadcast(void* data, uint64_t bytes, uint32_t root,
                                         uint32_t point) = 0;
  /// Ends the group for all members; calls that wait return. For whoever sees that one is gone.
  virtual void abort(std::string_view why) noexcept = 0;
};

} // namespace moxzi::device
