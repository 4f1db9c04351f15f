#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "actors/wasm/dirty_pages.hpp"
#include "actors/wasm/write_guard.hpp"
#include "base/digest.hpp"
#include "base/result.hpp"

namespace moxzi::actors {

/// The linear memory of one actor, kept twice in one sparse memory file: wasm code works on a
/// private mapping of the file, and a shared mapping of it is the committed image. Writing gives
/// the private mapping pages of its own, which `commit` copies into the image and `rollback`
/// undoes. Above `guarded_bytes_min` it is closed to writing but for the parts in use, so that
/// their finding does not look through the rest. One thread at a time, and one that writes to
/// `data()` needs a `write_signal::scope`.
class memory_image {
public:
  /// Address space taken per mapping; the heap's limit lies below.
  static constexpr size_t reserved_bytes = 8ull << 30;
  /// Inaccessible bytes behind it, for accesses with a small constant offset.
  static constexpr size_t guard_bytes = 64u << 10;
  /// Below this, looking through all of it costs less than the signals.
  static constexpr size_t guarded_bytes_min = 8u << 20;

  /// Makes an empty one that may grow to `bytes_max`.
  static result<std::unique_ptr<memory_image>> make(std::shared_ptr<const page_scanner> scanner,
                                                    uint64_t bytes_max);
  ~memory_image();
  memory_image(const memory_image&) = delete;
  memory_image& operator=(const memory_image&) = delete;

  uint8_t* data() const noexcept {
    return work_;
  }
  /// Size as wasm code sees it.
  size_t size() const noexcept {
    return size_;
  }
  /// Size of the committed image.
  size_t committed_size() const noexcept {
    return committed_size_;
  }
  /// The committed image, `committed_size()` bytes.
  byte_view committed() const noexcept {
    return {reinterpret_cast<const char*>(image_), committed_size_};
  }
  uint64_t bytes_max() const noexcept {
    return bytes_max_;
  }

  enum class growth { grown, over_limit, no_memory };
  /// Makes the memory accessible up to `size` bytes, a multiple of a page, and zero where it is
  /// new. Refused above the limit; the memory is then as before.
  growth grow(size_t size) noexcept;

  /// A write to this address has raised the signal: makes it writable; false if it was for another
  /// reason.
  bool open(const void* address) noexcept {
    return guard_ && guard_->open(address);
  }
  /// Makes a part writable for the system, whose writes raise no signal.
  void open_range(size_t from, size_t size) noexcept {
    if (guard_) guard_->open_range(from, size);
  }

  /// True if a `grow` was refused since the last commit or rollback.
  growth refusal() const noexcept {
    return refusal_;
  }

  /// What the execution wrote becomes the committed image. Feeds `digest` with the number and
  /// contents of each page that differs from before, ascending; returns how many do.
  size_t commit(digest_stream& digest);

  /// Undoes what was written since the last commit, growth included. After growth the engine must
  /// make its instance anew, since it keeps the size by itself.
  void rollback();

  /// Starts over at size 0 for a new instance, contents being kept: the instance grows its memory
  /// to `size_at_start()`, the size until now.
  void detach() noexcept;
  size_t size_at_start() const noexcept {
    return size_at_start_;
  }

  /// Growth above this is refused, as above `bytes_max`; holds until it is set again.
  void set_limit(uint64_t bytes) noexcept {
    limit_ = bytes;
  }
  uint64_t limit() const noexcept {
    return limit_ < bytes_max_ ? limit_ : bytes_max_;
  }

  /// What an execution has changed, to be put aside.
  struct difference {
    size_t size = 0;
    std::vector<uint32_t> pages;
    byte_string contents;
  };
  /// What differs from the committed image.
  difference capture();
  /// Contents back to the committed image, size kept.
  void discard() noexcept;
  /// Writes the pages; the memory must be as large already.
  void write(const difference& what);
  /// All of the committed image that is not zero.
  difference committed_pages() const;

private:
  memory_image() = default;
  void undo_growth() noexcept;
  void find_written();
  void close_unused(bool pages_are_kept);
  void drop_pages_of(write_guard::range part) noexcept;
  /// True if the pages from index `first` on, given back together with those up to `gap` pages
  /// away, end at index `last`.
  static bool ends_run(const std::vector<uint32_t>& pages, size_t first, size_t last,
                       size_t gap) noexcept;
  void drop_runs(const std::vector<uint32_t>& pages, size_t gap) noexcept;
  void drop_pages(size_t first, size_t last) noexcept;
  void unmap_image(size_t first, size_t last) noexcept;

  std::shared_ptr<const page_scanner> scanner_;
  uint8_t* work_ = nullptr;
  uint8_t* image_ = nullptr;
  size_t size_ = 0;
  size_t accessible_ = 0;
  size_t committed_size_ = 0;
  size_t size_at_start_ = 0;
  uint64_t bytes_max_ = 0;
  uint64_t limit_ = ~uint64_t{0};
  std::vector<bool> written_; // pages of the image that were ever written
  growth refusal_ = growth::grown;
  std::unique_ptr<write_guard> guard_;
  std::vector<uint32_t> pages_; // private ones
  std::vector<uint32_t> idle_;  // of them, those that are as in the image
};

} // namespace moxzi::actors
