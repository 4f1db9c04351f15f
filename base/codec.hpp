#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.hpp"
#include "base/limits.hpp"
#include "base/result.hpp"

namespace moxzi {

/// Appends values to a byte string; the counterpart of `reader`.
///
/// Fixed-width numbers are little-endian, lengths are LEB128 (unsigned, 7 bits a byte, low bits
/// first), floats are their bits.
class writer {
public:
  void u8(uint8_t value);
  void u16(uint16_t value);
  void u32(uint32_t value);
  void u64(uint64_t value);
  void f32(float value);
  void f64(double value);
  void boolean(bool value);
  /// Unsigned LEB128.
  void count(uint64_t value);
  /// A length, then the bytes.
  void bytes(byte_view value);
  /// The bytes alone.
  void raw(byte_view value);

  const byte_string& data() const noexcept {
    return data_;
  }
  byte_string take() noexcept {
    return std::move(data_);
  }

private:
  byte_string data_;
};

/// Reads values from bytes that may come from anywhere. Nothing is allocated before the length is
/// known to fit into what is left. The first failure sticks: every later read gives zero or empty,
/// so that a decoder reads all its fields and asks `finish()` once.
///
/// Only the canonical form is accepted: an over-long LEB128 or a boolean other than 0 and 1 is
/// malformed. So decode(encode(x)) == x, and encode(decode(y)) == y wherever decoding succeeds.
class reader {
public:
  explicit reader(byte_view input) noexcept : input_(input) {
    // nop
  }

  uint8_t u8();
  uint16_t u16();
  uint32_t u32();
  uint64_t u64();
  float f32();
  double f64();
  bool boolean();
  /// Unsigned LEB128 of at most 64 bits.
  uint64_t count();
  /// A count of items that each take at least `item_bytes_min` (≥ 1) bytes of what follows; more
  /// than could fit is refused at once.
  uint64_t items(size_t item_bytes_min);
  /// Length-prefixed bytes, as a view into the input.
  byte_view bytes();
  /// Length-prefixed UTF-8.
  std::string_view text();
  byte_view raw(size_t size);

  size_t position() const noexcept {
    return position_;
  }
  size_t left() const noexcept {
    return input_.size() - position_;
  }
  bool ok() const noexcept {
    return !failed_;
  }
  /// Fails if a read failed, or if bytes are left over.
  result<void> finish() const;
  /// Fails if a read failed.
  result<void> status() const;
  /// Records a failure found by the caller (an unknown tag, a value out of range).
  void reject(std::string_view reason);

private:
  void set_failed(base_errc code, std::string_view reason);
  template <class T>
  T fixed();

  byte_view input_;
  size_t position_ = 0;
  bool failed_ = false;
  error error_;
};

} // namespace moxzi
