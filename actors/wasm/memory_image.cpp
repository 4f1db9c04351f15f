#include "actors/wasm/memory_image.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "actors/wasm/module_info.hpp"
#include "actors/wasm/write_signal.hpp"
#include "base/assert.hpp"

namespace moxzi::actors {

namespace {

// Written pages stay mapped after a commit, since the next message mostly writes the same ones and
// a page fault costs more than comparing a page. Above this many all are given back, and those
// that were not written again when there are more than the second number: they'd be compared with
// every message.
constexpr size_t kept_pages_max = 64;
constexpr size_t idle_pages_max = 12;
// Pages that are given back with one call.
constexpr size_t run_pages_max = 256;
constexpr size_t run_gap_pages = 16;

// Maps pages of the file for reading, so that each is held by one mapping and counted once.
void map_pages(uint8_t* base, const std::vector<uint32_t>& pages) noexcept {
#ifdef MADV_POPULATE_READ
  constexpr int populate = MADV_POPULATE_READ;
#else
  constexpr int populate = 22; // Linux 5.14; an older one maps them when they are read
#endif
  for (size_t i = 0, first = 0; i < pages.size(); ++i) {
    if (i + 1 < pages.size() && pages[i + 1] == pages[i] + 1) continue;
    ::madvise(base + pages[first] * page_bytes, (i - first + 1) * page_bytes, populate);
    first = i + 1;
  }
}

} // namespace

result<std::unique_ptr<memory_image>>
memory_image::make(std::shared_ptr<const page_scanner> scanner, uint64_t bytes_max) {
  auto out_of_memory = [](std::string_view what) {
    return fail(wasm_errc::out_of_memory, "{} for an actor's heap: {}", what, std::strerror(errno));
  };
  int file = ::memfd_create("actor-heap", MFD_CLOEXEC);
  if (file < 0) return out_of_memory("no memory file");
  std::unique_ptr<memory_image> image{new memory_image};
  image->scanner_ = std::move(scanner);
  image->bytes_max_ = std::min<uint64_t>(bytes_max, reserved_bytes);
  // The whole range is mapped once, so that no file descriptor is kept for each actor.
  void* work = MAP_FAILED;
  void* shared = MAP_FAILED;
  if (::ftruncate(file, reserved_bytes) == 0) {
    work = ::mmap(nullptr, reserved_bytes + guard_bytes, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE,
                  file, 0);
    shared =
      ::mmap(nullptr, reserved_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  }
  int reason = errno;
  ::close(file);
  if (work != MAP_FAILED) image->work_ = static_cast<uint8_t*>(work);
  if (shared != MAP_FAILED) image->image_ = static_cast<uint8_t*>(shared);
  errno = reason;
  if (work == MAP_FAILED || shared == MAP_FAILED) return out_of_memory("no address space");
  return image;
}

memory_image::~memory_image() {
  if (work_ != nullptr) ::munmap(work_, reserved_bytes + guard_bytes);
  if (image_ != nullptr) ::munmap(image_, reserved_bytes);
}

memory_image::growth memory_image::grow(size_t size) noexcept {
  moxzi_assert(size % page_bytes == 0, "size={}", size);
  if (size > limit() && size > committed_size_) return refusal_ = growth::over_limit;
  if (size > accessible_) {
    if (::mprotect(work_ + accessible_, size - accessible_, PROT_READ | PROT_WRITE) != 0)
      return refusal_ = growth::no_memory;
    accessible_ = size;
    if (guard_) guard_->extend(size);
  }
  size_ = std::max(size_, size);
  return growth::grown;
}

void memory_image::find_written() {
  pages_.clear();
  idle_.clear();
  if (!guard_) return scanner_->find(work_, 0, size_, pages_);
  for (auto part : guard_->open_parts())
    if (part.first < size_) scanner_->find(work_, part.first, std::min(part.last, size_), pages_);
}

// Ends an execution. A closed chunk has no pages of its own.
void memory_image::close_unused(bool pages_are_kept) {
  if (!guard_ && accessible_ >= guarded_bytes_min && write_signal::is_installed())
    guard_ = std::make_unique<write_guard>(work_, accessible_);
  if (!guard_) return;
  if (guard_->is_crowded() && pages_are_kept) {
    drop_runs(pages_, run_gap_pages);
    pages_are_kept = false;
  }
  if (!pages_are_kept) return guard_->close_all();
  guard_->close_idle([this](write_guard::range part) { drop_pages_of(part); });
}

void memory_image::drop_pages_of(write_guard::range part) noexcept {
  const auto first = std::lower_bound(pages_.begin(), pages_.end(), part.first / page_bytes);
  const auto last = std::lower_bound(first, pages_.end(), part.last / page_bytes);
  if (first != last) drop_pages(*first, *(last - 1));
}

size_t memory_image::commit(digest_stream& digest) {
  find_written();
  bool keep = pages_.size() <= kept_pages_max;
  size_t run = 0; // first of the pages that are given back together
  for (size_t i = 0; i < pages_.size(); ++i) {
    auto at = size_t{pages_[i]} * page_bytes;
    if (std::memcmp(work_ + at, image_ + at, page_bytes) != 0) {
      std::memcpy(image_ + at, work_ + at, page_bytes);
      if (written_.size() <= pages_[i]) written_.resize(size_ / page_bytes);
      written_[pages_[i]] = true;
      uint64_t number = pages_[i];
      digest.update({reinterpret_cast<const char*>(&number), sizeof number});
      digest.update({reinterpret_cast<const char*>(image_ + at), page_bytes});
      if (guard_) guard_->note_written(at);
    } else {
      idle_.push_back(pages_[i]);
    }
    // Given back in pieces, so that a large commit never takes twice its memory; nor is it to be
    // held by the second mapping as well.
    if (!keep && ends_run(pages_, run, i, run_gap_pages)) {
      drop_pages(pages_[run], pages_[i]);
      unmap_image(pages_[run], pages_[i]);
      run = i + 1;
    }
  }
  if (keep && idle_.size() > idle_pages_max) drop_runs(idle_, 1);
  // Of a smaller heap all that is mapped is looked through each time.
  if (!keep && accessible_ >= guarded_bytes_min) map_pages(work_, pages_);
  close_unused(keep);
  committed_size_ = size_;
  refusal_ = growth::grown;
  return pages_.size() - idle_.size();
}

void memory_image::rollback() {
  if (size_ > committed_size_) undo_growth();
  size_ = committed_size_;
  find_written();
  const bool keep = pages_.size() <= kept_pages_max;
  if (!keep) {
    drop_runs(pages_, run_gap_pages);
  } else {
    for (auto page : pages_) {
      auto at = size_t{page} * page_bytes;
      if (std::memcmp(work_ + at, image_ + at, page_bytes) == 0) {
        idle_.push_back(page);
        continue;
      }
      std::memcpy(work_ + at, image_ + at, page_bytes);
      if (guard_) guard_->note_written(at);
    }
    if (idle_.size() > idle_pages_max) drop_runs(idle_, 1);
  }
  close_unused(keep);
  refusal_ = growth::grown;
}

void memory_image::undo_growth() noexcept {
  auto grown = size_ - committed_size_;
  ::madvise(work_ + committed_size_, grown, MADV_DONTNEED);
  // Reading may have given the image zero pages there.
  ::madvise(image_ + committed_size_, grown, MADV_REMOVE);
  ::mprotect(work_ + committed_size_, accessible_ - committed_size_, PROT_NONE);
  accessible_ = committed_size_;
  size_ = committed_size_;
  if (guard_) guard_->shrink(accessible_);
}

bool memory_image::ends_run(const std::vector<uint32_t>& pages, size_t first, size_t last,
                            size_t gap) noexcept {
  return last + 1 == pages.size() || pages[last + 1] - pages[last] > gap
         || pages[last] - pages[first] >= run_pages_max;
}

void memory_image::drop_runs(const std::vector<uint32_t>& pages, size_t gap) noexcept {
  for (size_t i = 0, run = 0; i < pages.size(); ++i) {
    if (!ends_run(pages, run, i, gap)) continue;
    drop_pages(pages[run], pages[i]);
    run = i + 1;
  }
}

void memory_image::drop_pages(size_t first, size_t last) noexcept {
  ::madvise(work_ + first * page_bytes, (last - first + 1) * page_bytes, MADV_DONTNEED);
}

// What the image holds stays in its file.
void memory_image::unmap_image(size_t first, size_t last) noexcept {
  ::madvise(image_ + first * page_bytes, (last - first + 1) * page_bytes, MADV_DONTNEED);
}

void memory_image::detach() noexcept {
  size_at_start_ = std::max(size_, committed_size_); // an instance may have failed to be made
  size_ = 0;
}

memory_image::difference memory_image::capture() {
  difference found;
  found.size = size_;
  find_written();
  for (auto page : pages_) {
    auto at = size_t{page} * page_bytes;
    // Beyond the committed size the image must not be read: that would give it pages.
    if (at < committed_size_ && std::memcmp(work_ + at, image_ + at, page_bytes) == 0) continue;
    found.pages.push_back(page);
    found.contents.append(reinterpret_cast<const char*>(work_ + at), page_bytes);
  }
  return found;
}

void memory_image::discard() noexcept {
  ::madvise(work_, size_, MADV_DONTNEED);
}

void memory_image::write(const difference& what) {
  moxzi_assert(what.size <= size_, "size={}", what.size);
  for (size_t i = 0; i < what.pages.size(); ++i)
    std::memcpy(work_ + size_t{what.pages[i]} * page_bytes, what.contents.data() + i * page_bytes,
                page_bytes);
}

memory_image::difference memory_image::committed_pages() const {
  static constexpr char zeros[page_bytes] = {};
  difference found;
  found.size = committed_size_;
  for (size_t page = 0; page < written_.size(); ++page) {
    if (!written_[page]) continue;
    const auto* at = image_ + page * page_bytes;
    if (std::memcmp(at, zeros, page_bytes) == 0) continue;
    found.pages.push_back(static_cast<uint32_t>(page));
    found.contents.append(reinterpret_cast<const char*>(at), page_bytes);
  }
  return found;
}

} // namespace moxzi::actors
