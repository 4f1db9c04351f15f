#include "actors/wasm/write_guard.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace moxzi::actors {

namespace {

// Each open chunk splits a mapping in up to three, and the kernel allows some 65,000 mappings to a
// process. Above this many in all guards together, a guard opens as a whole.
constexpr size_t open_in_all_max = 8'192;

std::atomic<size_t> open_in_all{0};

} // namespace

write_guard::write_guard(uint8_t* base, size_t size) noexcept : base_(base), size_(size) {
  // nop
}

write_guard::~write_guard() {
  open_in_all -= count_;
}

write_guard::range write_guard::range_of(size_t chunk) const noexcept {
  return {chunk * chunk_bytes, std::min((chunk + 1) * chunk_bytes, size_)};
}

bool write_guard::is_open(size_t chunk) const noexcept {
  return all_open_
         || std::any_of(open_.begin(), open_.begin() + static_cast<ptrdiff_t>(count_),
                        [chunk](const open_chunk& c) { return c.number == chunk; });
}

bool write_guard::make_writable(size_t first_chunk, size_t last_chunk) noexcept {
  const auto from = first_chunk * chunk_bytes;
  const auto to = std::min(last_chunk * chunk_bytes, size_);
  return ::mprotect(base_ + from, to - from, PROT_READ | PROT_WRITE) == 0;
}

void write_guard::open_all() noexcept {
  // This joins mappings, so that it needs no memory.
  ::mprotect(base_, size_, PROT_READ | PROT_WRITE);
  open_in_all -= count_;
  count_ = 0;
  all_open_ = true;
}

// How long a chunk that is opened may be idle.
uint8_t write_guard::patience_with(uint32_t chunk) const noexcept {
  constexpr uint8_t growth = 4;
  uint8_t out = idle_max;
  for (const auto& closed : closed_) {
    if (closed.number != chunk || closed.idle == 0) continue;
    const auto longer = std::min<unsigned>(growth * closed.idle_max, long_idle_max);
    out = std::max(out, static_cast<uint8_t>(longer));
  }
  return out;
}

void write_guard::add(size_t first_chunk, size_t last_chunk) noexcept {
  for (auto chunk = first_chunk; chunk < last_chunk; ++chunk) {
    if (is_open(chunk)) continue;
    if (count_ == open_max || open_in_all >= open_in_all_max) return open_all();
    const auto number = static_cast<uint32_t>(chunk);
    open_[count_++] = {number, patience_with(number)};
    ++open_in_all;
  }
}

bool write_guard::open(const void* address) noexcept {
  const auto offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(base_);
  const auto chunk = offset / chunk_bytes;
  if (offset >= size_ || is_open(chunk)) return false;
  stride_ = chunk == next_ ? std::min(2 * stride_, stride_max) : 1;
  next_ = std::min(chunk + stride_, (size_ + chunk_bytes - 1) / chunk_bytes);
  if (make_writable(chunk, next_))
    add(chunk, next_);
  else
    open_all();
  return true;
}

void write_guard::open_range(size_t from, size_t size) noexcept {
  if (all_open_ || size == 0) return;
  const auto first = from / chunk_bytes, last = (from + size - 1) / chunk_bytes + 1;
  if (make_writable(first, last))
    add(first, last);
  else
    open_all();
}

void write_guard::extend(size_t size) noexcept {
  const auto before = std::exchange(size_, size);
  // The chunk that the old end lies in may be closed.
  open_range(before, size - before);
}

void write_guard::shrink(size_t size) noexcept {
  size_ = size;
  for (size_t i = 0; i < count_;) {
    if (open_[i].number * chunk_bytes >= size_)
      forget(i);
    else
      ++i;
  }
}

const std::vector<write_guard::range>& write_guard::open_parts() {
  parts_.clear();
  if (all_open_) {
    parts_.push_back({0, size_});
    return parts_;
  }
  std::sort(open_.begin(), open_.begin() + static_cast<ptrdiff_t>(count_),
            [](const open_chunk& a, const open_chunk& b) { return a.number < b.number; });
  for (size_t i = 0; i < count_; ++i) {
    const auto part = range_of(open_[i].number);
    if (!parts_.empty() && parts_.back().last == part.first)
      parts_.back().last = part.last;
    else
      parts_.push_back(part);
  }
  return parts_;
}

void write_guard::note_written(size_t offset) noexcept {
  const auto chunk = offset / chunk_bytes;
  for (size_t i = 0; i < count_; ++i)
    if (open_[i].number == chunk) open_[i].is_written = true;
}

bool write_guard::is_crowded() const noexcept {
  return all_open_ || open_in_all > open_in_all_max / 2;
}

void write_guard::close(size_t index) noexcept {
  const auto part = range_of(open_[index].number);
  if (::mprotect(base_ + part.first, part.last - part.first, PROT_READ) == 0) {
    closed_[next_closed_++ % closed_.size()] = open_[index];
    forget(index);
  } else {
    open_[index].idle = 0; // it stays as it is
  }
}

void write_guard::forget(size_t index) noexcept {
  std::copy(open_.begin() + static_cast<ptrdiff_t>(index) + 1,
            open_.begin() + static_cast<ptrdiff_t>(count_),
            open_.begin() + static_cast<ptrdiff_t>(index));
  --count_;
  --open_in_all;
}

void write_guard::close_all() noexcept {
  open_in_all -= count_;
  count_ = 0;
  all_open_ = ::mprotect(base_, size_, PROT_READ) != 0;
}

} // namespace moxzi::actors
