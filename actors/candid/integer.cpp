#include "actors/candid/integer.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include <gmp.h>

#include "actors/candid/errc.hpp"
#include "base/assert.hpp"
#include "base/limits.hpp"

namespace moxzi::candid {

namespace {

/// A GMP number with an owner.
class number {
public:
  number() {
    mpz_init(raw_);
  }
  ~number() {
    mpz_clear(raw_);
  }
  number(const number&) = delete;
  number& operator=(const number&) = delete;
  mpz_ptr get() {
    return raw_;
  }

private:
  mpz_t raw_;
};

size_t bit_length(byte_view magnitude) {
  if (magnitude.empty()) return 0;
  return (magnitude.size() - 1) * 8
         + static_cast<size_t>(std::bit_width(static_cast<uint8_t>(magnitude.back())));
}

/// Seven bits of `bytes` from bit `first` on; bits beyond the end are those of `fill`.
uint8_t seven_bits(byte_view bytes, size_t first, uint8_t fill) {
  const auto at = [&](size_t index) -> uint32_t {
    return index < bytes.size() ? static_cast<uint8_t>(bytes[index]) : fill;
  };
  const auto window = at(first / 8) | at(first / 8 + 1) << 8;
  return static_cast<uint8_t>(window >> first % 8 & 0x7F);
}

void append_groups(byte_string& out, byte_view bytes, size_t groups, uint8_t fill) {
  for (size_t i = 0; i < groups; ++i) {
    const auto more = i + 1 < groups ? 0x80 : 0;
    out += static_cast<char>(seven_bits(bytes, i * 7, fill) | more);
  }
}

} // namespace

integer::integer(const integer& other) : small_(other.small_) {
  if (other.large_) large_ = std::make_unique<large>(*other.large_);
}

integer& integer::operator=(const integer& other) {
  return *this = integer{other};
}

integer integer::from_int64(int64_t value) {
  integer out;
  out.small_ = value;
  return out;
}

integer integer::from_uint64(uint64_t value) {
  if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return from_int64(static_cast<int64_t>(value));
  }
  char raw[8];
  for (int i = 0; i < 8; ++i) raw[i] = static_cast<char>(value >> 8 * i & 0xFF);
  return from_magnitude(false, byte_view{raw, 8});
}

integer integer::from_magnitude(bool negative, byte_view magnitude) {
  while (!magnitude.empty() && magnitude.back() == 0) magnitude.remove_suffix(1);
  if (magnitude.size() <= 8) {
    uint64_t value = 0;
    for (size_t i = 0; i < magnitude.size(); ++i) {
      value |= static_cast<uint64_t>(static_cast<uint8_t>(magnitude[i])) << 8 * i;
    }
    constexpr uint64_t top = 1ull << 63;
    if (value < top || (negative && value == top)) {
      return from_int64(static_cast<int64_t>(negative ? 0 - value : value));
    }
  }
  integer out;
  out.large_ = std::make_unique<large>();
  out.large_->negative = negative;
  out.large_->magnitude = magnitude;
  return out;
}

result<integer> integer::from_text(std::string_view text, int base) {
  auto digits = text;
  const bool negative = !digits.empty() && digits.front() == '-';
  if (!digits.empty() && (digits.front() == '-' || digits.front() == '+')) digits.remove_prefix(1);
  const auto is_digit = [base](char c) {
    if (c >= '0' && c <= '9') return true;
    const auto lower = static_cast<char>(c | 0x20);
    return base == 16 && lower >= 'a' && lower <= 'f';
  };
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) {
    return fail(candid_errc::syntax, "'{}' is not a whole number", excerpt(text));
  }
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  if (digits.size() <= 15) { // fits 63 bits in either base
    int64_t small = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), small, base);
    return from_int64(negative ? -small : small);
  }
  // Four bits a hexadecimal digit; a decimal one has more than 3.3.
  const auto bits_min = base == 16 ? digits.size() * 4 - 3 : digits.size() * 33 / 10 - 3;
  if (digits.size() > 3 && bits_min > limits::candid_integer_bits_max) {
    return fail(candid_errc::over_limit, "a number of {} digits is longer than {} bits",
                digits.size(), limits::candid_integer_bits_max);
  }
  number parsed;
  mpz_set_str(parsed.get(), std::string{digits}.c_str(), base);
  byte_string magnitude(mpz_sizeinbase(parsed.get(), 2) / 8 + 1, '\0');
  size_t written = 0;
  mpz_export(magnitude.data(), &written, -1, 1, -1, 0, parsed.get());
  return from_magnitude(negative, byte_view{magnitude}.substr(0, written));
}

bool integer::is_negative() const noexcept {
  return large_ ? large_->negative : small_ < 0;
}

std::optional<int64_t> integer::to_int64() const noexcept {
  if (large_) return std::nullopt;
  return small_;
}

std::optional<uint64_t> integer::to_uint64() const noexcept {
  if (!large_) {
    if (small_ < 0) return std::nullopt;
    return static_cast<uint64_t>(small_);
  }
  if (large_->negative || large_->magnitude.size() > 8) return std::nullopt;
  uint64_t value = 0;
  for (size_t i = 0; i < large_->magnitude.size(); ++i) {
    value |= static_cast<uint64_t>(static_cast<uint8_t>(large_->magnitude[i])) << 8 * i;
  }
  return value;
}

std::string integer::to_text() const {
  if (!large_) return std::to_string(small_);
  number value;
  mpz_import(value.get(), large_->magnitude.size(), -1, 1, -1, 0, large_->magnitude.data());
  std::string text(mpz_sizeinbase(value.get(), 10) + 2, '\0');
  mpz_get_str(text.data(), 10, value.get());
  text.resize(text.find('\0'));
  return large_->negative ? "-" + text : text;
}

double integer::to_double() const {
  if (!large_) return static_cast<double>(small_);
  const auto& bytes = large_->magnitude;
  const auto bits = bit_length(bytes);
  if (bits > 1024) {
    const auto infinity = std::numeric_limits<double>::infinity();
    return large_->negative ? -infinity : infinity;
  }
  // 63 leading bits and whether anything follows them decide the rounding.
  const auto dropped = bits - 63;
  uint64_t top = 0;
  for (size_t i = 0; i < 63; ++i) {
    const auto at = dropped + i;
    top |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[at / 8]) >> at % 8 & 1) << i;
  }
  bool sticky = false;
  for (size_t at = 0; at < dropped && !sticky; ++at) {
    sticky = (static_cast<uint8_t>(bytes[at / 8]) >> at % 8 & 1) != 0;
  }
  const auto value =
    std::ldexp(static_cast<double>(top << 1 | (sticky ? 1 : 0)), static_cast<int>(dropped) - 1);
  return large_->negative ? -value : value;
}

void integer::append_leb128(byte_string& out) const {
  moxzi_assert(!is_negative());
  if (large_) {
    append_groups(out, large_->magnitude, (bit_length(large_->magnitude) + 6) / 7, 0);
    return;
  }
  auto rest = static_cast<uint64_t>(small_);
  while (rest >= 0x80) {
    out += static_cast<char>(rest | 0x80);
    rest >>= 7;
  }
  out += static_cast<char>(rest);
}

void integer::append_sleb128(byte_string& out) const {
  if (!large_) {
    auto rest = small_;
    while (rest < -64 || rest > 63) {
      out += static_cast<char>(rest | 0x80);
      rest >>= 7;
    }
    out += static_cast<char>(rest & 0x7F);
    return;
  }
  if (!large_->negative) {
    append_groups(out, large_->magnitude, bit_length(large_->magnitude) / 7 + 1, 0);
    return;
  }
  // Two's complement of -m is the complement of m - 1.
  auto bytes = large_->magnitude;
  for (auto& c : bytes) {
    const bool borrow = c == 0;
    c = static_cast<char>(static_cast<uint8_t>(c) - 1);
    if (!borrow) break;
  }
  byte_view trimmed = bytes;
  while (!trimmed.empty() && trimmed.back() == 0) trimmed.remove_suffix(1);
  const auto groups = bit_length(trimmed) / 7 + 1;
  for (auto& c : bytes) c = static_cast<char>(~c);
  append_groups(out, bytes, groups, 0xFF);
}

bool operator==(const integer& x, const integer& y) noexcept {
  if (!x.large_ || !y.large_) return !x.large_ && !y.large_ && x.small_ == y.small_;
  return *x.large_ == *y.large_;
}

std::strong_ordering operator<=>(const integer& x, const integer& y) noexcept {
  if (!x.large_ && !y.large_) return x.small_ <=> y.small_;
  if (x.is_negative() != y.is_negative()) return y.is_negative() <=> x.is_negative();
  // Of the same sign: the one that does not fit 64 bits is further from zero.
  auto by_size = std::strong_ordering::equal;
  if (!x.large_ || !y.large_) {
    by_size = static_cast<bool>(x.large_) <=> static_cast<bool>(y.large_);
  } else {
    const auto& a = x.large_->magnitude;
    const auto& b = y.large_->magnitude;
    by_size = a.size() <=> b.size();
    for (auto i = a.size(); i > 0 && by_size == std::strong_ordering::equal; --i) {
      by_size = static_cast<uint8_t>(a[i - 1]) <=> static_cast<uint8_t>(b[i - 1]);
    }
  }
  return x.is_negative() ? 0 <=> by_size : by_size;
}

} // namespace moxzi::candid
