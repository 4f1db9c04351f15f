#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "actors/wasm/memory_image.hpp"
#include "actors/wasm/stable_memory.hpp"

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
  scanner.find(base, pages * page_bytes, found);
  scanner.find_by_pagemap(base, pages * page_bytes, found_by_pagemap);
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
