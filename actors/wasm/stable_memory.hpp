#pragma once

#include <cstdint>
#include <map>

#include "base/bytes.hpp"
#include "base/digest.hpp"

namespace moxzi::actors {

/// An actor's stable memory: a sparse memory file, made on first growth, and what is needed to undo
/// the current execution. One thread at a time.
class stable_memory {
public:
  /// Unit of growth.
  static constexpr uint64_t unit_bytes = 64u << 10;

  explicit stable_memory(uint64_t bytes_max) noexcept : bytes_max_(bytes_max) {
    // nop
  }
  ~stable_memory();
  stable_memory(const stable_memory&) = delete;
  stable_memory& operator=(const stable_memory&) = delete;

  /// Size in bytes.
  uint64_t size() const noexcept {
    return size_;
  }
  /// Adds `units` of zeros; false if that is over the limit or there is no memory.
  bool grow(uint64_t units);
  /// True if [offset, offset + size) lies inside.
  bool contains(uint64_t offset, uint64_t size) const noexcept {
    return offset <= size_ && size <= size_ - offset;
  }
  /// Both need `contains(offset, size)`; false if the operating system refused.
  bool read(uint64_t offset, char* to, uint64_t size) const;
  bool write(uint64_t offset, byte_view bytes);

  /// Keeps what was written; feeds `digest` with the size and, ascending, number and contents of
  /// each page that differs from before.
  void commit(digest_stream& digest);
  /// Undoes growth and writes since the last commit.
  void rollback();

  /// Contents by number of page.
  struct contents {
    uint64_t size = 0;
    std::map<uint64_t, byte_string> pages;
  };
  /// What has changed since the last commit, to be put aside.
  contents capture() const;
  /// All of it that is not zero.
  contents whole() const;
  /// Grows to the size and writes the pages; false if the operating system refused.
  bool write(const contents& what);

private:
  bool save(uint64_t page);

  int file_ = -1;
  uint64_t bytes_max_;
  uint64_t size_ = 0;
  uint64_t committed_size_ = 0;
  std::map<uint64_t, byte_string> undo_; // contents before; empty for pages that were not there
};

} // namespace moxzi::actors
