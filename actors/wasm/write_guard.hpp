#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moxzi::actors {

/// Knows which parts of a mapping may have been written since they were last looked at, so that
/// the cost of finding written pages follows what is written, not the mapping's size. The mapping
/// is closed to writing in chunks; the first write to one raises a signal that opens it (and more
/// behind it, when writes go on upwards). One thread at a time.
class write_guard {
public:
  static constexpr size_t chunk_bytes = 64u << 10;
  /// Executions for which a chunk stays open without being written: opening one again costs about
  /// as much as looking through it so often. One that is opened again soon stays open longer: code
  /// often writes what is there already, and then the chunk only looks as if it were idle.
  static constexpr uint8_t idle_max = 3;
  static constexpr uint8_t long_idle_max = 240;

  /// Guards [base, base + size), which is writable; all of it counts as open.
  write_guard(uint8_t* base, size_t size) noexcept;
  ~write_guard();
  write_guard(const write_guard&) = delete;
  write_guard& operator=(const write_guard&) = delete;

  /// The guarded part has become larger; what is new has been made writable and is open.
  void extend(size_t size) noexcept;
  /// It has become smaller.
  void shrink(size_t size) noexcept;

  /// Opens what a write to `address` needs; false if the address is none of the guard's, or open
  /// already. Async-signal-safe.
  bool open(const void* address) noexcept;
  /// Opens [from, from + size): for the system's own writes, which raise no signal.
  void open_range(size_t from, size_t size) noexcept;

  struct range {
    size_t first;
    size_t last; ///< one past the end
  };
  /// The open parts in bytes from the base, ascending.
  const std::vector<range>& open_parts();

  /// The page at this offset was written; to be told before `close_idle`.
  void note_written(size_t offset) noexcept;
  /// Ends an execution: chunks not written for long are to be closed. Calls `drop` with the bounds
  /// of each before that.
  template <class Drop>
  void close_idle(Drop drop) {
    if (is_crowded()) return close_all();
    for (size_t i = 0; i < count_;) {
      auto& chunk = open_[i];
      chunk.idle = chunk.is_written ? 0 : static_cast<uint8_t>(chunk.idle + 1);
      chunk.is_written = false;
      if (chunk.idle <= chunk.idle_max) {
        ++i;
        continue;
      }
      drop(range_of(chunk.number));
      close(i);
    }
  }
  /// Closes everything. Pages that were written must have been given back.
  void close_all() noexcept;
  /// True if `close_idle` would close everything.
  bool is_crowded() const noexcept;

private:
  struct open_chunk {
    uint32_t number = 0;
    uint8_t idle_max = write_guard::idle_max;
    uint8_t idle = 0;
    bool is_written = false;
  };
  /// More open chunks than this in one guard, and all of it is open.
  static constexpr size_t open_max = 256;
  /// Chunks opened at once while writes go on upwards.
  static constexpr size_t stride_max = 64;

  range range_of(size_t chunk) const noexcept;
  bool is_open(size_t chunk) const noexcept;
  bool make_writable(size_t first_chunk, size_t last_chunk) noexcept;
  void open_all() noexcept;
  void add(size_t first_chunk, size_t last_chunk) noexcept;
  void close(size_t index) noexcept;
  uint8_t patience_with(uint32_t chunk) const noexcept;
  void forget(size_t index) noexcept;

  uint8_t* base_;
  size_t size_;
  bool all_open_ = true;
  size_t count_ = 0;
  std::array<open_chunk, open_max> open_;
  std::array<open_chunk, 16> closed_; ///< those closed last, in a ring
  size_t next_closed_ = 0;
  size_t next_ = 0;   ///< the chunk behind those opened last
  size_t stride_ = 1; ///< how many those were
  std::vector<range> parts_;
};

} // namespace moxzi::actors
