#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace moxzi::candid {

/// A whole number of any size, for `nat` and `int`. What fits 64 bits with a sign is held inline;
/// larger ones cost an allocation. It is only carried and printed, so there is no arithmetic.
class integer {
public:
  /// Zero.
  integer() = default;
  integer(const integer& other);
  integer(integer&& other) noexcept = default;
  integer& operator=(const integer& other);
  integer& operator=(integer&& other) noexcept = default;
  ~integer() = default;

  static integer from_int64(int64_t value);
  static integer from_uint64(uint64_t value);
  /// From a sign and the absolute value, least significant byte first.
  static integer from_magnitude(bool negative, byte_view magnitude);
  /// Reads an optional sign and digits of base 10 or 16 (no prefix, no separators); fails on
  /// anything else, and above `limits::candid_integer_bits_max`.
  static result<integer> from_text(std::string_view text, int base = 10);

  bool is_negative() const noexcept;
  /// The value, if it fits.
  std::optional<int64_t> to_int64() const noexcept;
  std::optional<uint64_t> to_uint64() const noexcept;
  /// The nearest double (infinite when out of range).
  double to_double() const;
  /// Decimal digits, with `-` if negative.
  std::string to_text() const;
  /// Appends the shortest unsigned LEB128; the value must not be negative.
  void append_leb128(byte_string& out) const;
  /// Appends the shortest signed LEB128.
  void append_sleb128(byte_string& out) const;

  friend bool operator==(const integer& x, const integer& y) noexcept;
  friend std::strong_ordering operator<=>(const integer& x, const integer& y) noexcept;

private:
  struct large {
    bool negative = false;
    byte_string magnitude; ///< least significant byte first, no leading zero
    bool operator==(const large&) const = default;
  };

  int64_t small_ = 0;
  std::unique_ptr<large> large_; ///< set only when the value does not fit `small_`
};

} // namespace moxzi::candid
