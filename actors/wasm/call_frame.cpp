#include "actors/wasm/call_frame.hpp"

#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace moxzi::actors {

byte_view cut_text(byte_view text, size_t max) noexcept {
  if (text.size() <= max) return text;
  while (max > 0 && (static_cast<uint8_t>(text[max]) & 0xc0) == 0x80) --max;
  return text.substr(0, max);
}

void call_frame::fail(std::string_view error_code, std::string message) {
  if (!state.failure) state.failure = trap{std::string{error_code}, std::move(message)};
}

void call_frame::violation(std::string_view what) {
  fail("MX504", fmt::format("{}: {}", row.name, what));
}

char* call_frame::range(uint64_t address, uint64_t size) {
  auto heap_size = state.heap->size();
  if (address > heap_size || size > heap_size - address) {
    violation(fmt::format("{} bytes at address {} are outside of the heap of {} bytes", size,
                          address, heap_size));
    return nullptr;
  }
  // A module without memory has no address at all; only empty ranges get here.
  static char nothing;
  auto* base = reinterpret_cast<char*>(state.heap->data());
  return base == nullptr ? &nothing : base + address;
}

bool call_frame::charge(uint64_t bytes) {
  state.charged += bytes;
  state.since_yield += bytes;
  if (state.instructions() <= state.input.instructions_max) return true;
  fail("MX522", state.limit_text());
  return false;
}

std::optional<byte_view> call_frame::bytes(size_t n) {
  auto size = word(n + 1);
  auto* at = range(word(n), size);
  if (at == nullptr || (row.is_bulk && !charge(size))) return std::nullopt;
  return byte_view{at, size};
}

void call_frame::copy_out(byte_view bytes, size_t n) {
  auto offset = word(n + 1);
  auto size = word(n + 2);
  if (offset > bytes.size() || size > bytes.size() - offset)
    return violation(fmt::format("{} bytes from offset {} are more than there are ({})", size,
                                 offset, bytes.size()));
  auto* to = range(word(n), size);
  if (to == nullptr || size == 0 || (row.is_bulk && !charge(size))) return;
  std::memcpy(to, bytes.data() + offset, size);
}

void call_frame::put128(cycles value, size_t n) {
  if (auto* to = range(word(n), sizeof value.value)) std::memcpy(to, &value.value, 16);
}

} // namespace moxzi::actors
