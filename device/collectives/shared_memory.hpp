#pragma once

#include <memory>

#include "base/result.hpp"
#include "device/collectives/collectives.hpp"

namespace moxzi::device {

/// Memory for the collectives of one host's devices, in threads of one process or in processes of
/// their own that got its file descriptor.
class shared_group {
public:
  /// For `size` members; `piece_bytes` of each are on the way at a time.
  static result<shared_group> create(uint32_t size, uint64_t piece_bytes = 1 << 20);
  shared_group(shared_group&&) noexcept;
  shared_group& operator=(shared_group&&) noexcept;
  ~shared_group();

  int descriptor() const noexcept;
  /// The member of this rank, for its thread or process. Where there are more members than cores,
  /// those that wait give their core away; else they spin for a moment before they sleep.
  std::unique_ptr<collectives> member(uint32_t rank) const;
  /// As above, from the descriptor in another process.
  static result<std::unique_ptr<collectives>> join(int descriptor, uint32_t rank);

private:
  struct region;
  explicit shared_group(std::shared_ptr<region> memory);
  friend class shared_member;
  std::shared_ptr<region> memory_;
};

} // namespace moxzi::device
