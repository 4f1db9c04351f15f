#include "actors/wasm/write_guard.hpp"

#include <sys/mman.h>

#include <vector>

#include <gtest/gtest.h>

using namespace moxzi::actors;

namespace {

constexpr size_t chunk = write_guard::chunk_bytes;

class guarded_memory {
public:
  guarded_memory()
      : base(static_cast<uint8_t*>(
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        guard(base, bytes) {
    guard.close_all();
  }
  ~guarded_memory() {
    ::munmap(base, bytes);
  }

  /// Ends executions in which nothing is found written until the chunk is closed; how many.
  int executions_until_closed(size_t number) {
    for (int ended = 1; ended < 1'000; ++ended) {
      guard.close_idle([](write_guard::range) {});
      bool is_open = false;
      for (const auto& part : guard.open_parts())
        is_open |= part.first <= number * chunk && number * chunk < part.last;
      if (!is_open) return ended;
    }
    return -1;
  }

  static constexpr size_t bytes = 32 * chunk;
  uint8_t* base;
  write_guard guard;
};

} // namespace

TEST(write_guard, a_chunk_that_is_opened_again_and_again_stays_open_longer) {
  guarded_memory m;
  std::vector<int> open_for;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(m.guard.open(m.base + 7 * chunk));
    open_for.push_back(m.executions_until_closed(7));
  }
  EXPECT_EQ(open_for, (std::vector{4, 13, 49, 193, 241}));
  // Another one is closed as soon as ever.
  ASSERT_TRUE(m.guard.open(m.base + 20 * chunk));
  EXPECT_EQ(m.executions_until_closed(20), 4);
}

TEST(write_guard, a_chunk_that_is_written_stays_open) {
  guarded_memory m;
  ASSERT_TRUE(m.guard.open(m.base + 3 * chunk));
  for (int i = 0; i < 20; ++i) {
    m.guard.note_written(3 * chunk + 5);
    m.guard.close_idle([](write_guard::range) {});
  }
  EXPECT_FALSE(m.guard.open(m.base + 3 * chunk)); // open already
  EXPECT_EQ(m.executions_until_closed(3), 4);
}

TEST(write_guard, knows_its_own_addresses) {
  guarded_memory m;
  EXPECT_FALSE(m.guard.open(m.base - 1));
  EXPECT_FALSE(m.guard.open(m.base + m.bytes));
  EXPECT_TRUE(m.guard.open(m.base + m.bytes - 1));
}
