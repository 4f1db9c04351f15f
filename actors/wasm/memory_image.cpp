#include "actors/wasm/memory_image.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "actors/wasm/module_info.hpp"
#include "base/assert.hpp"

namespace moxzi::actors {

namespace {

// Written pages stay mapped after a commit, since the next message mostly writes the same ones and
// a page fault costs more than comparing a page. Above this many all are given back.
constexpr size_t kept_pages_max = 64;
// Pages that are given back with one call.
constexpr size_t run_pages_max = 256;
constexpr size_t run_gap_pages = 16;

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
  if (size > bytes_max_) return refusal_ = growth::over_limit;
  if (size > accessible_) {
    if (::mprotect(work_ + accessible_, size - accessible_, PROT_READ | PROT_WRITE) != 0)
      return refusal_ = growth::no_memory;
    accessible_ = size;
  }
  size_ = std::max(size_, size);
  return growth::grown;
}

size_t memory_image::commit(digest_stream& digest) {
  pages_.clear();
  scanner_->find(work_, size_, pages_);
  bool keep = pages_.size() <= kept_pages_max;
  size_t changed = 0;
  size_t run = 0; // first of the pages that are given back together
  for (size_t i = 0; i < pages_.size(); ++i) {
    auto at = size_t{pages_[i]} * page_bytes;
    if (std::memcmp(work_ + at, image_ + at, page_bytes) != 0) {
      std::memcpy(image_ + at, work_ + at, page_bytes);
      uint64_t number = pages_[i];
      digest.update({reinterpret_cast<const char*>(&number), sizeof number});
      digest.update({reinterpret_cast<const char*>(image_ + at), page_bytes});
      ++changed;
    }
    // Given back in pieces, so that a large commit never takes twice its memory.
    if (!keep && ends_run(run, i)) {
      drop_private(size_t{pages_[run]} * page_bytes, at + page_bytes);
      run = i + 1;
    }
  }
  committed_size_ = size_;
  refusal_ = growth::grown;
  return changed;
}

void memory_image::rollback() {
  pages_.clear();
  scanner_->find(work_, size_, pages_);
  if (size_ > committed_size_) {
    drop_private(committed_size_, size_);
    // Reading may have given the image zero pages there.
    ::madvise(image_ + committed_size_, size_ - committed_size_, MADV_REMOVE);
    ::mprotect(work_ + committed_size_, accessible_ - committed_size_, PROT_NONE);
    accessible_ = committed_size_;
  }
  if (pages_.size() > kept_pages_max) {
    for (size_t i = 0, run = 0; i < pages_.size(); ++i) {
      if (!ends_run(run, i)) continue;
      drop_private(size_t{pages_[run]} * page_bytes, size_t{pages_[i]} * page_bytes + page_bytes);
      run = i + 1;
    }
  } else {
    for (auto page : pages_) {
      auto at = size_t{page} * page_bytes;
      if (at < committed_size_) std::memcpy(work_ + at, image_ + at, page_bytes);
    }
  }
  size_ = committed_size_;
  refusal_ = growth::grown;
}

bool memory_image::ends_run(size_t first, size_t last) const noexcept {
  return last + 1 == pages_.size() || pages_[last + 1] - pages_[last] > run_gap_pages
         || pages_[last] - pages_[first] >= run_pages_max;
}

void memory_image::detach() noexcept {
  size_ = 0;
}

void memory_image::drop_private(size_t from, size_t to) noexcept {
  if (from < to) ::madvise(work_ + from, to - from, MADV_DONTNEED);
}

} // namespace moxzi::actors
