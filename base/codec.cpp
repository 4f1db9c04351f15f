#include "base/codec.hpp"

#include <bit>
#include <cstring>

namespace moxzi {

static_assert(std::endian::native == std::endian::little);

namespace {

template <class T>
void append(byte_string& data, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  data.append(raw, sizeof(T));
}

} // namespace

// -- writer -------------------------------------------------------------------

void writer::u8(uint8_t value) {
  append(data_, value);
}

void writer::u16(uint16_t value) {
  append(data_, value);
}

void writer::u32(uint32_t value) {
  append(data_, value);
}

void writer::u64(uint64_t value) {
  append(data_, value);
}

void writer::f32(float value) {
  append(data_, value);
}

void writer::f64(double value) {
  append(data_, value);
}

void writer::boolean(bool value) {
  u8(value ? 1 : 0);
}

void writer::count(uint64_t value) {
  while (value >= 0x80) {
    u8(static_cast<uint8_t>(value | 0x80));
    value >>= 7;
  }
  u8(static_cast<uint8_t>(value));
}

void writer::bytes(byte_view value) {
  count(value.size());
  raw(value);
}

void writer::raw(byte_view value) {
  data_.append(value);
}

// -- reader -------------------------------------------------------------------

void reader::set_failed(base_errc code, std::string_view reason) {
  if (failed_) return;
  failed_ = true;
  error_ = fail(code, "byte {}: {}", position_, reason);
}

void reader::reject(std::string_view reason) {
  set_failed(base_errc::malformed, reason);
}

byte_view reader::raw(size_t size) {
  if (failed_) return {};
  if (size > left()) {
    set_failed(base_errc::truncated, fmt::format("{} bytes wanted, {} left", size, left()));
    return {};
  }
  const auto view = input_.substr(position_, size);
  position_ += size;
  return view;
}

template <class T>
T reader::fixed() {
  T value{};
  const auto view = raw(sizeof(T));
  if (!view.empty()) std::memcpy(&value, view.data(), sizeof(T));
  return value;
}

uint8_t reader::u8() {
  return fixed<uint8_t>();
}

uint16_t reader::u16() {
  return fixed<uint16_t>();
}

uint32_t reader::u32() {
  return fixed<uint32_t>();
}

uint64_t reader::u64() {
  return fixed<uint64_t>();
}

float reader::f32() {
  return fixed<float>();
}

double reader::f64() {
  return fixed<double>();
}

bool reader::boolean() {
  const auto value = u8();
  if (value > 1) reject(fmt::format("boolean is {}", value));
  return value == 1;
}

uint64_t reader::count() {
  uint64_t value = 0;
  for (int shift = 0; !failed_; shift += 7) {
    const auto byte = u8();
    if (shift == 63 && byte > 1) {
      reject("number needs more than 64 bits");
      break;
    }
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) {
      if (byte == 0 && shift > 0) reject("number is longer than it need be");
      break;
    }
  }
  return failed_ ? 0 : value;
}

uint64_t reader::items(size_t item_bytes_min) {
  const auto value = count();
  if (value > left() / item_bytes_min) {
    set_failed(base_errc::truncated,
               fmt::format("{} items announced, {} bytes left", value, left()));
    return 0;
  }
  return value;
}

byte_view reader::bytes() {
  return raw(items(1));
}

std::string_view reader::text() {
  const auto view = bytes();
  if (!is_utf8(view)) reject("text is not UTF-8");
  return failed_ ? std::string_view{} : view;
}

result<void> reader::status() const {
  if (failed_) return error_;
  return {};
}

result<void> reader::finish() const {
  if (failed_) return error_;
  if (left() > 0) {
    return fail(base_errc::trailing, "byte {}: {} bytes after the last value", position_, left());
  }
  return {};
}

} // namespace moxzi
