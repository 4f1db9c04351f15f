#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/candid/errc.hpp"
#include "actors/candid/types.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace moxzi::candid {

/// A place in a message, and what may still be spent on it. The first failure sticks: reads give
/// zero from then on, and `failed()` is asked where it matters.
class cursor {
public:
  cursor(byte_view bytes, size_t steps) noexcept
      : at_(bytes.data()), begin_(bytes.data()), end_(bytes.data() + bytes.size()), steps_(steps) {
    // nop
  }

  size_t left() const noexcept {
    return static_cast<size_t>(end_ - at_);
  }
  /// What is not yet read.
  byte_view rest() const noexcept {
    return {at_, left()};
  }
  bool failed() const noexcept {
    return failed_;
  }
  /// Takes `n` steps from the budget.
  bool spend(size_t n) {
    if (n > steps_) return fail_with(candid_errc::over_limit, "costs more than the message may");
    steps_ -= n;
    return true;
  }
  size_t& steps() noexcept {
    return steps_;
  }
  /// One byte.
  bool byte(uint8_t& out) {
    if (at_ == end_) return fail_with(candid_errc::truncated, "a byte wanted, none left");
    out = static_cast<uint8_t>(*at_++);
    return true;
  }
  /// `n` bytes, as a view into the message.
  bool bytes(uint64_t n, byte_view& out) {
    if (n > left()) return truncated(n);
    out = byte_view{at_, static_cast<size_t>(n)};
    at_ += n;
    return true;
  }
  /// Unsigned LEB128 of at most 64 bits; need not be the shortest.
  bool count(uint64_t& out) {
    if (at_ != end_ && static_cast<uint8_t>(*at_) < 0x80) {
      out = static_cast<uint8_t>(*at_++);
      return true;
    }
    return long_count(out);
  }
  /// A count of things that take at least `item_bytes_min` ≥ 1 bytes each.
  bool items(uint64_t& out, size_t item_bytes_min) {
    if (!count(out)) return false;
    return out <= left() / item_bytes_min || truncated(out, item_bytes_min);
  }
  /// Signed LEB128 of at most 32 bits, as types are written.
  bool opcode(int32_t& out);
  /// The bytes of a LEB128 number of any length, up to `limits::candid_integer_bits_max`.
  bool number(byte_view& groups);
  /// Length and UTF-8.
  bool text(byte_view& out);

  bool fail_with(candid_errc code, std::string_view reason);
  error failure() const {
    return error_;
  }

private:
  bool long_count(uint64_t& out);
  bool truncated(uint64_t wanted, size_t each = 1);

  const char* at_;
  const char* begin_;
  const char* end_;
  size_t steps_;
  bool failed_ = false;
  error error_;
};

/// Reads the part of a message before its values: magic bytes, type table, argument types.
class header_reader {
public:
  explicit header_reader(cursor& in) noexcept : in_(in) {
    // nop
  }
  bool read(type_table& types, std::vector<type_ref>& items);

private:
  bool entry(type_table& types);
  bool fields(type_table& types);
  bool func(type_table& types);
  bool tuple(type_table& types, uint32_t& size);
  bool service(type_table& types);
  bool future();
  bool ref(type_ref& out);
  bool members(uint64_t count);
  bool methods_are_funcs(const type_table& types);

  cursor& in_;
  size_t entries_ = 0;
  size_t members_ = 0;
};

} // namespace moxzi::candid
