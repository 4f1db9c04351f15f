#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

thread_local uint64_t bytes = 0;

} // namespace

namespace moxzi::device {

/// Bytes asked of the heap by this thread so far: what a refused program costs is bounded. Always 0
/// under the address sanitizer, which has operators of its own.
uint64_t allocated_bytes() noexcept {
  return bytes;
}

} // namespace moxzi::device

#ifndef __SANITIZE_ADDRESS__

void* operator new(size_t size) {
  bytes += size;
  if (auto made = std::malloc(size)) return made;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  bytes += size;
  return std::malloc(size);
}
void operator delete(void* what) noexcept {
  std::free(what);
}
void operator delete(void* what, size_t) noexcept {
  std::free(what);
}

#endif
