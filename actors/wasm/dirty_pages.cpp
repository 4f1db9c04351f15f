#include "actors/wasm/dirty_pages.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/assert.hpp"

namespace moxzi::actors {

namespace {

// Linux's interface of 6.7; Debian 12's headers are older
// (Documentation/admin-guide/mm/pagemap.rst).
struct scan_region {
  uint64_t start;
  uint64_t end;
  uint64_t categories;
};
struct scan_arguments {
  uint64_t size;
  uint64_t flags;
  uint64_t start;
  uint64_t end;
  uint64_t walk_end;
  uint64_t regions;
  uint64_t regions_length;
  uint64_t pages_max;
  uint64_t category_inverted;
  uint64_t category_mask;
  uint64_t category_any_of;
  uint64_t return_mask;
};
constexpr unsigned long pagemap_scan = _IOWR('f', 16, scan_arguments);
constexpr uint64_t page_is_file = 1u << 2;
constexpr uint64_t page_is_present = 1u << 3;
constexpr uint64_t page_is_swapped = 1u << 4;

// /proc/self/pagemap: one word a page.
constexpr uint64_t entry_present = 1ull << 63;
constexpr uint64_t entry_swapped = 1ull << 62;
constexpr uint64_t entry_file = 1ull << 61;

} // namespace

page_scanner::page_scanner() noexcept
    : pagemap_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {
  std::vector<uint32_t> none;
  has_scan_ = true;
  alignas(page_bytes) static const uint8_t probe[page_bytes] = {};
  has_scan_ = find_by_scan(probe, 0, page_bytes, none);
}

page_scanner::~page_scanner() {
  if (pagemap_ >= 0) ::close(pagemap_);
}

void page_scanner::find(const uint8_t* base, size_t from, size_t to,
                        std::vector<uint32_t>& pages) const {
  if (!has_scan_ || !find_by_scan(base, from, to, pages)) find_by_pagemap(base, from, to, pages);
}

bool page_scanner::find_by_scan(const uint8_t* base, size_t from, size_t to,
                                std::vector<uint32_t>& pages) const {
  auto first = reinterpret_cast<uint64_t>(base);
  auto at = first + from;
  auto end = first + to;
  std::array<scan_region, 256> regions;
  auto before = pages.size();
  while (at < end) {
    scan_arguments request{};
    request.size = sizeof request;
    request.start = at;
    request.end = end;
    request.regions = reinterpret_cast<uint64_t>(regions.data());
    request.regions_length = regions.size();
    // A written page is the process's own: present or swapped, but no longer the file's.
    request.category_mask = page_is_file;
    request.category_inverted = page_is_file;
    request.category_any_of = page_is_present | page_is_swapped;
    request.return_mask = page_is_present;
    auto count = ::ioctl(pagemap_, pagemap_scan, &request);
    if (count < 0) {
      pages.resize(before);
      return false;
    }
    for (int i = 0; i < count; ++i)
      for (auto p = regions[i].start; p < regions[i].end; p += page_bytes)
        pages.push_back(static_cast<uint32_t>((p - first) / page_bytes));
    if (request.walk_end <= at) break;
    at = request.walk_end;
  }
  return true;
}

void page_scanner::find_by_pagemap(const uint8_t* base, size_t from, size_t to,
                                   std::vector<uint32_t>& pages) const {
  constexpr size_t batch = 4096;
  std::vector<uint64_t> entries(std::min(batch, (to - from) / page_bytes));
  auto first = reinterpret_cast<uintptr_t>(base) / page_bytes;
  for (size_t done = from / page_bytes; done < to / page_bytes;) {
    auto want = std::min(entries.size(), to / page_bytes - done);
    auto got = ::pread(pagemap_, entries.data(), want * sizeof(uint64_t),
                       static_cast<off_t>((first + done) * sizeof(uint64_t)));
    // Without it no execution can be committed or undone.
    moxzi_assert(got > 0, "/proc/self/pagemap cannot be read");
    auto count = static_cast<size_t>(got) / sizeof(uint64_t);
    for (size_t i = 0; i < count; ++i) {
      auto e = entries[i];
      if (((e & entry_present) != 0 && (e & entry_file) == 0) || (e & entry_swapped) != 0)
        pages.push_back(static_cast<uint32_t>(done + i));
    }
    done += count;
  }
}

} // namespace moxzi::actors
