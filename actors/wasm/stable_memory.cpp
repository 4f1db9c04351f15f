#include "actors/wasm/stable_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "actors/wasm/dirty_pages.hpp"
#include "base/assert.hpp"

namespace moxzi::actors {

namespace {

// One call moves at most 2 GiB.
constexpr uint64_t piece_bytes = 1ull << 30;

bool read_all(int file, char* to, uint64_t size, uint64_t offset) {
  while (size > 0) {
    auto got = ::pread(file, to, std::min(size, piece_bytes), static_cast<off_t>(offset));
    if (got <= 0) return false;
    to += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<uint64_t>(got);
  }
  return true;
}

bool write_all(int file, byte_view bytes, uint64_t offset) {
  while (!bytes.empty()) {
    auto put = ::pwrite(file, bytes.data(), std::min<uint64_t>(bytes.size(), piece_bytes),
                        static_cast<off_t>(offset));
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(put));
    offset += static_cast<uint64_t>(put);
  }
  return true;
}

} // namespace

stable_memory::~stable_memory() {
  if (file_ >= 0) ::close(file_);
}

bool stable_memory::grow(uint64_t units) {
  if (units > (bytes_max_ - std::min(bytes_max_, size_)) / unit_bytes) return false;
  if (units == 0) return true;
  if (file_ < 0) file_ = ::memfd_create("actor-stable", MFD_CLOEXEC);
  auto size = size_ + units * unit_bytes;
  if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(size)) != 0) return false;
  size_ = size;
  return true;
}

bool stable_memory::read(uint64_t offset, char* to, uint64_t size) const {
  moxzi_assert(contains(offset, size), "offset={} size={}", offset, size);
  return read_all(file_, to, size, offset);
}

bool stable_memory::save(uint64_t page) {
  auto [entry, is_new] = undo_.try_emplace(page);
  if (!is_new || page * page_bytes >= committed_size_) return true;
  entry->second.resize(page_bytes);
  if (read_all(file_, entry->second.data(), page_bytes, page * page_bytes)) return true;
  undo_.erase(entry);
  return false;
}

bool stable_memory::write(uint64_t offset, byte_view bytes) {
  moxzi_assert(contains(offset, bytes.size()), "offset={} size={}", offset, bytes.size());
  if (bytes.empty()) return true;
  for (auto page = offset / page_bytes; page <= (offset + bytes.size() - 1) / page_bytes; ++page)
    if (!save(page)) return false;
  return write_all(file_, bytes, offset);
}

void stable_memory::commit(digest_stream& digest) {
  auto feed = [&digest](uint64_t number) {
    digest.update({reinterpret_cast<const char*>(&number), sizeof number});
  };
  feed(size_);
  byte_string now(page_bytes, '\0');
  for (const auto& [page, before] : undo_) {
    auto ok = read_all(file_, now.data(), page_bytes, page * page_bytes);
    moxzi_assert(ok, "page={}", page);
    if (now == before) continue;
    feed(page);
    digest.update(now);
  }
  undo_.clear();
  committed_size_ = size_;
}

void stable_memory::rollback() {
  for (const auto& [page, before] : undo_) {
    // A file in memory takes back what it held without allocating.
    auto ok = write_all(file_, before, page * page_bytes);
    moxzi_assert(ok, "page={}", page);
  }
  undo_.clear();
  if (size_ != committed_size_) {
    auto shrunk = ::ftruncate(file_, static_cast<off_t>(committed_size_)) == 0;
    moxzi_assert(shrunk, "size={}", committed_size_);
    size_ = committed_size_;
  }
}

stable_memory::contents stable_memory::capture() const {
  contents found;
  found.size = size_;
  for (const auto& [page, _] : undo_) {
    auto& now = found.pages[page];
    now.resize(page_bytes);
    auto ok = read_all(file_, now.data(), page_bytes, page * page_bytes);
    moxzi_assert(ok, "page={}", page);
  }
  return found;
}

stable_memory::contents stable_memory::whole() const {
  contents found;
  found.size = size_;
  if (file_ < 0) return found;
  byte_string now(page_bytes, '\0');
  const byte_string zeros(page_bytes, '\0');
  // Holes of the file are stepped over.
  for (off_t at = 0; (at = ::lseek(file_, at, SEEK_DATA)) >= 0;) {
    auto end = ::lseek(file_, at, SEEK_HOLE);
    if (end < 0) break;
    for (; at < end; at += page_bytes) {
      auto ok = read_all(file_, now.data(), page_bytes, static_cast<uint64_t>(at));
      moxzi_assert(ok, "offset={}", at);
      if (now != zeros) found.pages.emplace(static_cast<uint64_t>(at) / page_bytes, now);
    }
  }
  return found;
}

bool stable_memory::write(const contents& what) {
  moxzi_assert(what.size >= size_, "size={}", what.size);
  if (!grow((what.size - size_) / unit_bytes)) return false;
  for (const auto& [page, bytes] : what.pages)
    if (!write(page * page_bytes, bytes)) return false;
  return true;
}

} // namespace moxzi::actors
