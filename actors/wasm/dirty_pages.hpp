#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace moxzi::actors {

/// Size of the pages that are saved, compared and undone one by one.
inline constexpr size_t page_bytes = 4096;

/// Finds the pages of a private file mapping that have been written since they were mapped (or
/// dropped with MADV_DONTNEED). Thread-safe.
class page_scanner {
public:
  page_scanner() noexcept;
  ~page_scanner();
  page_scanner(const page_scanner&) = delete;
  page_scanner& operator=(const page_scanner&) = delete;

  /// Appends the numbers of the written pages of [base + from, base + to), counted from `base`,
  /// ascending. All must be multiples of a page.
  void find(const uint8_t* base, size_t from, size_t to, std::vector<uint32_t>& pages) const;

  /// As `find` does where the kernel has no PAGEMAP_SCAN (before 6.7).
  void find_by_pagemap(const uint8_t* base, size_t from, size_t to,
                       std::vector<uint32_t>& pages) const;

private:
  bool find_by_scan(const uint8_t* base, size_t from, size_t to,
                    std::vector<uint32_t>& pages) const;

  int pagemap_ = -1;
  bool has_scan_ = false;
};

} // namespace moxzi::actors
