#include "device/collectives/shared_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>
#include <thread>

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.hpp"

namespace moxzi::device {

namespace {

constexpr uint32_t members_max = 64;
constexpr size_t words_max = 200;
constexpr int spins = 4000;
/// How often one that sleeps looks whether the others are still there.
constexpr long look_ns = 50'000'000;

/// What all members share, at the start of the memory; pieces of each follow.
struct header {
  uint32_t size = 0;
  uint64_t piece_bytes = 0;
  std::atomic<uint32_t> arrived = 0;
  std::atomic<uint32_t> generation = 0; ///< counts barriers; members sleep on it
  std::atomic<uint32_t> aborted = 0;    ///< 1 while the words are written, then 2
  char words[words_max] = {};
  std::atomic<uint32_t> points[members_max] = {};
  std::atomic<int32_t> processes[members_max] = {};
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

constexpr uint64_t header_bytes = (sizeof(header) + 63) / 64 * 64;

void sleep_on(std::atomic<uint32_t>& word, uint32_t seen) noexcept {
  timespec limit{0, look_ns};
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT, seen, &limit, nullptr, 0);
}

void wake_all(std::atomic<uint32_t>& word) noexcept {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE, INT32_MAX, nullptr, nullptr,
          0);
}

error failed(std::string_view what) {
  return error{make_error_code(device_errc::device_failed),
               fmt::format("{}: {}", what, std::strerror(errno))};
}

template <class T>
void add_in_order(T* to, const std::byte* pieces, uint64_t piece_bytes, uint32_t size,
                  uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; ++i) {
    T sum = 0;
    for (uint32_t rank = 0; rank < size; ++rank)
      sum += reinterpret_cast<const T*>(pieces + rank * piece_bytes)[i];
    to[i] = sum;
  }
}

} // namespace

struct shared_group::region {
  int descriptor = -1;
  void* memory = MAP_FAILED;
  uint64_t bytes = 0;

  ~region() {
    if (memory != MAP_FAILED) munmap(memory, bytes);
    if (descriptor >= 0) close(descriptor);
  }
  bool map() {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return memory != MAP_FAILED;
  }
  header& head() const noexcept {
    return *static_cast<header*>(memory);
  }
  /// One piece of each member, and one for sums.
  std::byte* piece(uint32_t rank) const noexcept {
    return static_cast<std::byte*>(memory) + header_bytes + rank * head().piece_bytes;
  }
};

/// A member. Every collective is: put a piece there, wait for all, take what is wanted, wait again.
class shared_member final : public collectives {
public:
  shared_member(std::shared_ptr<shared_group::region> memory, uint32_t rank)
      : memory_(std::move(memory)), head_(memory_->head()), rank_(rank),
        crowded_(head_.size > std::thread::hardware_concurrency()) {
    head_.processes[rank] = getpid();
  }

  uint32_t rank() const noexcept override {
    return rank_;
  }
  uint32_t size() const noexcept override {
    return head_.size;
  }

  std::optional<fault> all_reduce(void* data, uint64_t elements, elem type,
                                  uint32_t point) override {
    moxzi_assert(type == elem::f32 || type == elem::f64);
    auto width = size_of(type);
    auto at_once = head_.piece_bytes / width;
    auto bytes = static_cast<std::byte*>(data);
    // One round even for nothing, so that all are known to be at the same point.
    for (uint64_t from = 0; from == 0 || from < elements; from += at_once) {
      auto count = std::min(at_once, elements - from);
      std::memcpy(memory_->piece(rank_), bytes + from * width, count * width);
      if (auto why = meet(point)) return why;
      // Each adds up its share.
      auto begin = count * rank_ / head_.size, end = count * (rank_ + 1) / head_.size;
      auto sums = memory_->piece(head_.size);
      if (type == elem::f64)
        add_in_order(reinterpret_cast<double*>(sums), memory_->piece(0), head_.piece_bytes,
                     head_.size, begin, end);
      else
        add_in_order(reinterpret_cast<float*>(sums), memory_->piece(0), head_.piece_bytes,
                     head_.size, begin, end);
      if (auto why = meet(point)) return why;
      std::memcpy(bytes + from * width, sums, count * width);
      // The sums are written again after the next meeting, which all reach after this copy.
    }
    return std::nullopt;
  }

  std::optional<fault> all_gather(const void* part, std::span<const uint64_t> bytes, void* whole,
                                  uint32_t point) override {
    moxzi_assert(bytes.size() == head_.size);
    auto longest = *std::ranges::max_element(bytes);
    for (uint64_t from = 0; from == 0 || from < longest; from += head_.piece_bytes) {
      auto piece_of = [&](uint32_t rank) {
        return from >= bytes[rank] ? 0 : std::min(head_.piece_bytes, bytes[rank] - from);
      };
      if (auto mine = piece_of(rank_); mine > 0)
        std::memcpy(memory_->piece(rank_), static_cast<const std::byte*>(part) + from, mine);
      if (auto why = meet(point)) return why;
      uint64_t start = 0;
      for (uint32_t rank = 0; rank < head_.size; start += bytes[rank++])
        if (auto count = piece_of(rank); count > 0)
          std::memcpy(static_cast<std::byte*>(whole) + start + from, memory_->piece(rank), count);
      if (auto why = meet(point)) return why;
    }
    return std::nullopt;
  }

  std::optional<fault> broadcast(void* data, uint64_t bytes, uint32_t root,
                                 uint32_t point) override {
    for (uint64_t from = 0; from == 0 || from < bytes; from += head_.piece_bytes) {
      auto at = static_cast<std::byte*>(data) + from;
      auto count = std::min(head_.piece_bytes, bytes - from);
      if (rank_ == root && count > 0) std::memcpy(memory_->piece(root), at, count);
      if (auto why = meet(point)) return why;
      if (rank_ != root && count > 0) std::memcpy(at, memory_->piece(root), count);
      if (auto why = meet(point)) return why;
    }
    return std::nullopt;
  }

  void abort(std::string_view why) noexcept override {
    uint32_t nobody = 0;
    if (!head_.aborted.compare_exchange_strong(nobody, 1)) return;
    auto length = std::min(why.size(), words_max - 1);
    std::memcpy(head_.words, why.data(), length);
    head_.words[length] = 0;
    head_.aborted = 2;
    head_.generation.fetch_add(1);
    wake_all(head_.generation);
  }

private:
  std::optional<fault> aborted() const {
    if (head_.aborted == 0) return std::nullopt;
    while (head_.aborted != 2) std::this_thread::yield();
    return fault{device_errc::device_failed, head_.words};
  }

  /// A barrier. Whoever comes last sees whether all are at the same point.
  std::optional<fault> meet(uint32_t point) {
    if (auto why = aborted()) return why;
    head_.points[rank_].store(point, std::memory_order_relaxed);
    auto generation = head_.generation.load();
    if (head_.arrived.fetch_add(1) + 1 == head_.size) {
      for (uint32_t other = 0; other < head_.size; ++other)
        if (auto there = head_.points[other].load(std::memory_order_relaxed); there != point) {
          abort(fmt::format("rank {} is at point {} of the program, rank {} at point {}", other,
                            there, rank_, point));
          return aborted();
        }
      head_.arrived.store(0);
      head_.generation.fetch_add(1);
      wake_all(head_.generation);
      return std::nullopt;
    }
    for (int spun = 0; head_.generation.load() == generation; ++spun) {
      if (spun < spins) {
        if (crowded_)
          std::this_thread::yield();
        else
          __builtin_ia32_pause();
        continue;
      }
      sleep_on(head_.generation, generation);
      look_for_the_dead();
    }
    return aborted();
  }

  void look_for_the_dead() noexcept {
    for (uint32_t other = 0; other < head_.size; ++other) {
      auto process = head_.processes[other].load();
      if (process != 0 && kill(process, 0) != 0 && errno == ESRCH)
        abort(fmt::format("rank {} (process {}) is gone", other, process));
    }
  }

  std::shared_ptr<shared_group::region> memory_;
  header& head_;
  uint32_t rank_;
  bool crowded_;
};

// -- the group -----------------------------------------------------------------

shared_group::shared_group(std::shared_ptr<region> memory) : memory_(std::move(memory)) {
  // nop
}
shared_group::shared_group(shared_group&&) noexcept = default;
shared_group& shared_group::operator=(shared_group&&) noexcept = default;
shared_group::~shared_group() = default;

result<shared_group> shared_group::create(uint32_t size, uint64_t piece_bytes) {
  if (size == 0 || size > members_max)
    return error{make_error_code(device_errc::invalid_value),
                 fmt::format("a group of {} devices; 1 to {} wanted", size, members_max)};
  piece_bytes = std::max<uint64_t>((piece_bytes + 63) / 64 * 64, 64);
  auto made = std::make_shared<region>();
  made->bytes = header_bytes + (size + 1) * piece_bytes;
  made->descriptor = memfd_create("moxzi-collectives", MFD_CLOEXEC);
  if (made->descriptor < 0 || ftruncate(made->descriptor, static_cast<off_t>(made->bytes)) != 0
      || !made->map())
    return failed("no shared memory for a group of devices");
  auto head = new (made->memory) header;
  head->size = size;
  head->piece_bytes = piece_bytes;
  return shared_group(std::move(made));
}

int shared_group::descriptor() const noexcept {
  return memory_->descriptor;
}

std::unique_ptr<collectives> shared_group::member(uint32_t rank) const {
  moxzi_assert(rank < memory_->head().size, "rank={}", rank);
  return std::make_unique<shared_member>(memory_, rank);
}

result<std::unique_ptr<collectives>> shared_group::join(int descriptor, uint32_t rank) {
  auto joined = std::make_shared<region>();
  auto end = lseek(descriptor, 0, SEEK_END);
  joined->descriptor = dup(descriptor);
  joined->bytes = end < 0 ? 0 : static_cast<uint64_t>(end);
  if (joined->descriptor < 0 || joined->bytes < header_bytes || !joined->map())
    return failed("the shared memory of a group of devices can't be opened");
  auto& head = joined->head();
  if (rank >= head.size || joined->bytes != header_bytes + (head.size + 1) * head.piece_bytes)
    return error{make_error_code(device_errc::invalid_value),
                 fmt::format("rank {} of a group of {} devices", rank, head.size)};
  return std::unique_ptr<collectives>(std::make_unique<shared_member>(std::move(joined), rank));
}

} // namespace moxzi::device
