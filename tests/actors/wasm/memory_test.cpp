#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "actors/wasm/engine.hpp"
#include "actors/wasm/memory_image.hpp"
#include "actors/wasm/stable_memory.hpp"
#include "actors/wasm/write_signal.hpp"

using namespace moxzi;
using namespace moxzi::actors;

namespace {

std::unique_ptr<memory_image> image_of(size_t size, uint64_t bytes_max = 1u << 30) {
  auto image = *memory_image::make(std::make_shared<const page_scanner>(), bytes_max);
  EXPECT_EQ(image->grow(size), memory_image::growth::grown);
  return image;
}

size_t commit(memory_image& image) {
  digest_stream digest;
  return image.commit(digest);
}

digest128 commit_digest(memory_image& image) {
  digest_stream digest;
  image.commit(digest);
  return digest.value();
}

} // namespace

TEST(memory_image, only_pages_that_differ_are_committed) {
  auto image = image_of(64 * page_bytes);
  EXPECT_EQ(commit(*image), 0u);
  image->data()[3 * page_bytes + 5] = 1;
  image->data()[9 * page_bytes] = 1;
  EXPECT_EQ(commit(*image), 2u);
  image->data()[3 * page_bytes + 5] = 1; // written, but as it was
  EXPECT_EQ(commit(*image), 0u);
  EXPECT_EQ(image->committed()[3 * page_bytes + 5], 1);
}

TEST(memory_image, the_digest_is_of_page_number_and_contents) {
  auto image = image_of(16 * page_bytes);
  image->data()[2 * page_bytes] = 'x';
  byte_string fed{"\2\0\0\0\0\0\0\0", 8};
  fed += 'x';
  fed.append(page_bytes - 1, '\0');
  EXPECT_EQ(commit_digest(*image), xxh3_128(fed));
}

TEST(memory_image, rollback_restores_few_pages_and_many) {
  for (size_t pages : {3, 64, 65, 900}) {
    auto image = image_of(1'024 * page_bytes);
    for (size_t i = 0; i < pages; ++i) image->data()[i * page_bytes] = 7;
    EXPECT_EQ(commit(*image), pages);
    for (size_t i = 0; i < pages; ++i) image->data()[i * page_bytes] = 9;
    image->data()[1'000 * page_bytes] = 9;
    image->rollback();
    for (size_t i = 0; i < pages; ++i) ASSERT_EQ(image->data()[i * page_bytes], 7) << i;
    EXPECT_EQ(image->data()[1'000 * page_bytes], 0);
    EXPECT_EQ(commit(*image), 0u);
  }
}

TEST(memory_image, growth_is_undone_and_what_was_written_there_is_gone) {
  auto image = image_of(2 * page_bytes);
  commit(*image);
  ASSERT_EQ(image->grow(8 * page_bytes), memory_image::growth::grown);
  image->data()[6 * page_bytes] = 5;
  image->rollback();
  EXPECT_EQ(image->size(), 2 * page_bytes);
  ASSERT_EQ(image->grow(8 * page_bytes), memory_image::growth::grown);
  EXPECT_EQ(image->data()[6 * page_bytes], 0);
}

TEST(memory_image, growth_above_the_limit_is_refused_and_remembered_until_the_end) {
  auto image = image_of(page_bytes, 4 * page_bytes);
  EXPECT_EQ(image->refusal(), memory_image::growth::grown);
  EXPECT_EQ(image->grow(5 * page_bytes), memory_image::growth::over_limit);
  EXPECT_EQ(image->size(), page_bytes);
  EXPECT_EQ(image->grow(4 * page_bytes), memory_image::growth::grown);
  EXPECT_EQ(image->refusal(), memory_image::growth::over_limit);
  commit(*image);
  EXPECT_EQ(image->refusal(), memory_image::growth::grown);
}

TEST(memory_image, behaves_as_an_array_that_is_copied_at_each_commit) {
  constexpr size_t pages = 200;
  EXPECT_TRUE(rc::check([](const std::vector<std::vector<std::pair<uint16_t, uint8_t>>>& steps,
                           const std::vector<bool>& keep) {
    auto image = image_of(pages * page_bytes);
    commit(*image);
    std::map<size_t, uint8_t> committed;
    for (size_t i = 0; i < steps.size(); ++i) {
      auto working = committed;
      for (const auto& [at, value] : steps[i]) {
        // Few pages mostly, and sometimes all.
        for (size_t page = at % pages; page < pages; page += value == 0 ? 1 : pages) {
          image->data()[page * page_bytes + at % page_bytes] = value;
          working[page * page_bytes + at % page_bytes] = value;
        }
      }
      if (i < keep.size() && keep[i]) {
        commit(*image);
        committed = working;
      } else {
        image->rollback();
      }
      for (const auto& [at, value] : working)
        RC_ASSERT(image->data()[at] == (committed.contains(at) ? committed[at] : 0));
      for (const auto& [at, value] : committed)
        RC_ASSERT(static_cast<uint8_t>(image->committed()[at]) == value);
    }
  }));
}

namespace {

constexpr size_t large_bytes = memory_image::guarded_bytes_min + (1u << 20);

/// A heap large enough to be closed to writing, and what it should hold.
class large_heap {
public:
  large_heap() : image_(image_of(large_bytes, 4 * large_bytes)) {
    static const auto engine = *wasm_engine::make(); // it takes the signal
    commit();
  }
  void write(size_t at, uint8_t value) {
    image_->data()[at] = value;
    working_[at] = value;
  }
  void grow() {
    const auto size = std::min(image_->size() + (1u << 20), 4 * large_bytes);
    EXPECT_EQ(image_->grow(size), memory_image::growth::grown);
  }
  void commit() {
    ::commit(*image_);
    committed_ = working_;
  }
  void rollback() {
    image_->rollback();
    seen_.insert(working_.begin(), working_.end());
    working_ = committed_;
  }
  bool is_as_expected() const {
    const auto expected = [this](size_t at) {
      return committed_.contains(at) ? committed_.at(at) : 0;
    };
    for (const auto* written : {&seen_, &committed_})
      for (const auto& [at, _] : *written)
        if (at < image_->size() && image_->data()[at] != expected(at)) return false;
    for (const auto& [at, value] : committed_)
      if (static_cast<uint8_t>(image_->committed()[at]) != value) return false;
    return true;
  }
  memory_image& image() {
    return *image_;
  }

private:
  std::unique_ptr<memory_image> image_;
  memory_image* writable_ = image_.get();
  write_signal::scope writing_{&writable_};
  std::map<size_t, uint8_t> working_, committed_, seen_;
};

} // namespace

TEST(memory_image, a_large_heap_behaves_as_an_array_that_is_copied_at_each_commit) {
  using write = std::pair<uint32_t, uint8_t>;
  EXPECT_TRUE(rc::check([](const std::vector<std::pair<std::vector<write>, uint8_t>>& steps) {
    large_heap heap;
    for (size_t step = 0; step < std::min<size_t>(steps.size(), 12); ++step) {
      const auto& [writes, how] = steps[step];
      if (how % 7 == 0) heap.grow();
      for (size_t n = 0; n < std::min<size_t>(writes.size(), 12); ++n) {
        const auto& [seed, value] = writes[n];
        const size_t at = (seed * 2654435761u) % heap.image().size();
        // Most writes are somewhere, some go on through many pages.
        for (size_t i = 0; i < (value % 32 == 0 ? 100u : 1u); ++i)
          if (at + i * page_bytes < heap.image().size()) heap.write(at + i * page_bytes, value);
      }
      if (how % 2 == 0)
        heap.commit();
      else
        heap.rollback();
      RC_ASSERT(heap.is_as_expected());
    }
  }));
}

TEST(memory_image, pages_that_few_executions_write_are_found_in_a_large_heap) {
  large_heap heap;
  for (size_t i = 0; i < 40; ++i) {
    // The same two pages always, and one that is another each time.
    heap.write(5, static_cast<uint8_t>(i + 1));
    heap.write(large_bytes - 1, static_cast<uint8_t>(i + 1));
    heap.write((1 + 37 * i) * page_bytes, static_cast<uint8_t>(i + 1));
    if (i % 3 == 2) {
      heap.rollback();
    } else {
      digest_stream digest;
      const auto before = digest.value();
      EXPECT_EQ(heap.image().commit(digest), 3u) << i;
      EXPECT_NE(digest.value(), before);
    }
    if (i % 3 != 2) heap.commit();
    EXPECT_TRUE(heap.is_as_expected()) << i;
  }
}

TEST(memory_image, what_the_system_writes_into_a_large_heap_is_found_too) {
  large_heap heap;
  stable_memory stable{1u << 20};
  ASSERT_TRUE(stable.grow(4));
  ASSERT_TRUE(stable.write(0, byte_string(3 * page_bytes, 'x')));
  const size_t at = large_bytes / 2 - page_bytes;
  heap.image().open_range(at, 3 * page_bytes);
  ASSERT_TRUE(stable.read(0, reinterpret_cast<char*>(heap.image().data() + at), 3 * page_bytes));
  EXPECT_EQ(commit(heap.image()), 3u);
  EXPECT_EQ(heap.image().committed()[at + page_bytes], 'x');
}

TEST(memory_image, a_heap_opens_as_a_whole_when_it_is_written_in_very_many_places) {
  large_heap heap;
  for (size_t round = 0; round < 3; ++round) {
    for (size_t at = 0; at < large_bytes; at += 5 * page_bytes)
      heap.write(at, static_cast<uint8_t>(round + 1));
    if (round == 1)
      heap.rollback();
    else
      heap.commit();
    EXPECT_TRUE(heap.is_as_expected()) << round;
  }
}

TEST(page_scanner, both_ways_of_asking_the_kernel_agree) {
  page_scanner scanner;
  int file = ::memfd_create("test", 0);
  constexpr size_t pages = 5'000;
  ASSERT_EQ(::ftruncate(file, pages * page_bytes), 0);
  auto* base = static_cast<uint8_t*>(
    ::mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0));
  ASSERT_NE(base, MAP_FAILED);
  std::vector<uint32_t> expected;
  volatile uint8_t seen = 0;
  for (uint32_t page = 0; page < pages; page += 1 + page % 7) {
    if (page % 3 == 0) {
      seen = base[page * page_bytes]; // read only
    } else {
      base[page * page_bytes] = 1;
      expected.push_back(page);
    }
  }
  static_cast<void>(seen);
  std::vector<uint32_t> found, found_by_pagemap;
  scanner.find(base, 0, pages * page_bytes, found);
  scanner.find_by_pagemap(base, 0, pages * page_bytes, found_by_pagemap);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(found_by_pagemap, expected);
  ::munmap(base, pages * page_bytes);
  ::close(file);
}

TEST(stable_memory, growth_and_writes_are_undone_or_kept) {
  stable_memory memory{1u << 30};
  EXPECT_EQ(memory.size(), 0u);
  EXPECT_TRUE(memory.grow(0));
  EXPECT_TRUE(memory.grow(2));
  EXPECT_TRUE(memory.write(65'530, "0123456789"));
  digest_stream digest;
  memory.commit(digest);
  EXPECT_TRUE(memory.write(65'530, "abcdefghij"));
  EXPECT_TRUE(memory.grow(1));
  EXPECT_TRUE(memory.write(131'072, "new"));
  memory.rollback();
  EXPECT_EQ(memory.size(), 2 * stable_memory::unit_bytes);
  byte_string back(10, '\0');
  EXPECT_TRUE(memory.read(65'530, back.data(), back.size()));
  EXPECT_EQ(back, "0123456789");
  EXPECT_TRUE(memory.grow(1));
  back.resize(3);
  EXPECT_TRUE(memory.read(131'072, back.data(), back.size()));
  EXPECT_EQ(back, (byte_string{"\0\0\0", 3}));
}

TEST(stable_memory, the_limit_holds_and_nothing_wraps) {
  stable_memory memory{10 * stable_memory::unit_bytes};
  EXPECT_TRUE(memory.grow(10));
  EXPECT_FALSE(memory.grow(1));
  EXPECT_FALSE(memory.grow(~uint64_t{0}));
  EXPECT_TRUE(memory.contains(0, memory.size()));
  EXPECT_TRUE(memory.contains(memory.size(), 0));
  EXPECT_FALSE(memory.contains(1, memory.size()));
  EXPECT_FALSE(memory.contains(~uint64_t{0}, 2));
}

TEST(stable_memory, the_digest_is_of_the_size_and_the_pages_that_differ) {
  auto committed = [](stable_memory& memory) {
    digest_stream digest;
    memory.commit(digest);
    return digest.value();
  };
  stable_memory memory{1u << 30};
  uint64_t size = 0;
  byte_string only_size{reinterpret_cast<const char*>(&size), 8};
  EXPECT_EQ(committed(memory), xxh3_128(only_size));
  ASSERT_TRUE(memory.grow(1));
  ASSERT_TRUE(memory.write(4'096, "x"));
  committed(memory);
  ASSERT_TRUE(memory.write(4'096, "x"));
  size = 65'536;
  EXPECT_EQ(committed(memory), xxh3_128(byte_view{reinterpret_cast<const char*>(&size), 8}));
}
