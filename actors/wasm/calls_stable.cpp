#include "actors/wasm/system_calls.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "actors/wasm/call_frame.hpp"
#include "base/bytes.hpp"
#include "base/limits.hpp"

// Stable memory.

namespace moxzi::actors {

namespace {

void stable64_size(call_frame& f) {
  f.give(f.state.stable->size() / stable_memory::unit_bytes);
}

void stable64_grow(call_frame& f) {
  auto before = f.state.stable->size() / stable_memory::unit_bytes;
  f.give(f.state.stable->grow(f.i64(0)) ? before : ~uint64_t{0});
}

bool stable_access(call_frame& f, uint64_t offset, uint64_t size) {
  if (!f.state.stable->contains(offset, size)) {
    f.violation(fmt::format("{} bytes at offset {} are outside of the stable memory of {} bytes",
                            size, offset, f.state.stable->size()));
    return false;
  }
  return true;
}

void read_stable(call_frame& f, uint64_t to, uint64_t offset, uint64_t size) {
  if (!stable_access(f, offset, size)) return;
  auto* at = f.range(to, size);
  if (at == nullptr || size == 0 || !f.charge(size)) return;
  f.state.heap->open_range(to, size);
  if (!f.state.stable->read(offset, at, size))
    f.fail("MX507", fmt::format("{}: out of memory", f.row.name));
}

void write_stable(call_frame& f, uint64_t offset, uint64_t from, uint64_t size) {
  if (!stable_access(f, offset, size)) return;
  auto* at = f.range(from, size);
  if (at == nullptr || size == 0 || !f.charge(size)) return;
  if (!f.state.stable->write(offset, {at, size}))
    f.fail("MX507", fmt::format("{}: out of memory", f.row.name));
}

void stable64_read(call_frame& f) {
  read_stable(f, f.i64(0), f.i64(1), f.i64(2));
}

void stable64_write(call_frame& f) {
  write_stable(f, f.i64(0), f.i64(1), f.i64(2));
}

// -- 32-bit: the first 4 GiB only ----------------------------------------------

constexpr uint64_t narrow_units_max = 1u << 16;

uint64_t units(call_frame& f) {
  return f.state.stable->size() / stable_memory::unit_bytes;
}

bool is_small(call_frame& f) {
  if (units(f) <= narrow_units_max) return true;
  f.violation("the stable memory is larger than 4 GiB; use stable64_*");
  return false;
}

void stable_size(call_frame& f) {
  if (is_small(f)) f.give(units(f));
}

void stable_grow(call_frame& f) {
  if (!is_small(f)) return;
  const auto before = units(f);
  const bool fits = before + f.i32(0) <= narrow_units_max;
  f.give(fits && f.state.stable->grow(f.i32(0)) ? before : ~uint32_t{0});
}

void stable_read(call_frame& f) {
  if (is_small(f)) read_stable(f, f.i32(0), f.i32(1), f.i32(2));
}

void stable_write(call_frame& f) {
  if (is_small(f)) write_stable(f, f.i32(0), f.i32(1), f.i32(2));
}

using namespace context;

constexpr system_call rows[] = {
  {"stable64_grow", "l", "l", all, stable64_grow},
  {"stable64_read", "lll", "", all, stable64_read, true},
  {"stable64_size", "", "l", all, stable64_size},
  {"stable64_write", "lll", "", all, stable64_write, true},
  {"stable_grow", "i", "i", all, stable_grow, false, true},
  {"stable_read", "iii", "", all, stable_read, true, true},
  {"stable_size", "", "i", all, stable_size, false, true},
  {"stable_write", "iii", "", all, stable_write, true, true},
};

} // namespace

std::span<const system_call> stable_calls() noexcept {
  return rows;
}

} // namespace moxzi::actors
