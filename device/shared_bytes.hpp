#pragma once

#include <memory>
#include <utility>

#include "base/bytes.hpp"

namespace moxzi::device {

/// Bytes that nobody changes any more, shared by all who hold them: a copy costs a count, never the
/// bytes. So a tensor goes from an actor to its device, and from there to a third actor, at one
/// address.
class shared_bytes {
public:
  shared_bytes() = default;
  /// Takes the bytes over; short ones aside, they stay where they are.
  shared_bytes(byte_string bytes) {
    if (bytes.empty()) return;
    auto kept = std::make_shared<const byte_string>(std::move(bytes));
    view_ = *kept;
    owner_ = std::move(kept);
  }
  /// The bytes of a literal, its closing zero left out.
  template <size_t N>
  shared_bytes(const char (&literal)[N]) : shared_bytes(byte_string(literal, N - 1)) {
    // nop
  }
  /// Bytes in memory of any kind, which lives as long as `owner` does: a vector, a mapped file.
  shared_bytes(std::shared_ptr<const void> owner, byte_view bytes)
      : owner_(std::move(owner)), view_(bytes) {
    // nop
  }

  const char* data() const noexcept {
    return view_.data();
  }
  size_t size() const noexcept {
    return view_.size();
  }
  bool empty() const noexcept {
    return view_.empty();
  }
  char operator[](size_t i) const noexcept {
    return view_[i];
  }
  byte_view view() const noexcept {
    return view_;
  }
  operator byte_view() const noexcept {
    return view_;
  }
  /// `count` bytes (or those that are there) from `from` on, which is at most `size()`; not a copy.
  shared_bytes part(size_t from, size_t count) const {
    return {owner_, view_.substr(from, count)};
  }

  /// True if the bytes are the same ones or equal.
  friend bool operator==(const shared_bytes& x, const shared_bytes& y) noexcept {
    return x.view_ == y.view_;
  }

private:
  std::shared_ptr<const void> owner_;
  byte_view view_;
};

} // namespace moxzi::device
