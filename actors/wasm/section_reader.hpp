#pragma once

#include <cstdint>

#include "base/bytes.hpp"

namespace moxzi::actors {

/// Reads the wasm binary format, over-long LEB128 included. The first failure sticks: every later
/// read gives zero or empty.
class section_reader {
public:
  explicit section_reader(byte_view bytes) : bytes_(bytes) {
    // nop
  }

  uint8_t byte() {
    if (at_ >= bytes_.size()) {
      ok_ = false;
      return 0;
    }
    return static_cast<uint8_t>(bytes_[at_++]);
  }
  /// An unsigned LEB128 of at most `bits` bits.
  uint64_t number(int bits = 32) {
    uint64_t value = 0;
    for (int shift = 0; shift < bits; shift += 7) {
      uint8_t b = byte();
      if (shift + 7 > bits && (b & 0x7f) >> (bits - shift) != 0) break;
      value |= static_cast<uint64_t>(b & 0x7f) << shift;
      if ((b & 0x80) == 0) return value;
    }
    ok_ = false;
    return 0;
  }
  /// Steps over a LEB128, signed or not.
  void skip_number() {
    for (int i = 0; i < 10; ++i)
      if ((byte() & 0x80) == 0) return;
    ok_ = false;
  }
  byte_view raw(uint64_t size) {
    if (size > bytes_.size() - at_) {
      ok_ = false;
      return {};
    }
    auto view = bytes_.substr(at_, size);
    at_ += size;
    return view;
  }
  byte_view name() {
    return raw(number());
  }
  /// A count of items of at least one byte each.
  uint64_t items(uint64_t max) {
    auto n = number();
    if (n > max || n > bytes_.size() - at_) {
      over_limit_ = over_limit_ || n > max;
      ok_ = false;
      return 0;
    }
    return n;
  }
  byte_view rest() const {
    return bytes_.substr(at_);
  }
  bool ok() const {
    return ok_;
  }
  bool over_limit() const {
    return over_limit_;
  }
  bool at_end() const {
    return at_ == bytes_.size();
  }
  void reject() {
    ok_ = false;
  }

private:
  byte_view bytes_;
  size_t at_ = 0;
  bool ok_ = true;
  bool over_limit_ = false;
};

} // namespace moxzi::actors
