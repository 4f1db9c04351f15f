#include "device/collectives/shared_memory.hpp"

#include <gmock/gmock.h>

#include <random>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace moxzi::device {
namespace {

using ::testing::HasSubstr;

/// Runs `work` as each member of a group, each on its thread.
template <class Work>
void as_members(const shared_group& group, uint32_t size, const Work& work) {
  std::vector<std::jthread> threads;
  for (uint32_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&group, &work, rank] {
      auto mine = group.member(rank);
      work(*mine);
    });
}

std::vector<float> numbers_of(uint32_t rank, size_t n) {
  std::mt19937 random(rank);
  std::normal_distribution<float> normal;
  std::vector<float> out(n);
  for (auto& x : out) x = normal(random);
  return out;
}

// Added in the order of the ranks, whatever the pieces are.
TEST(shared_memory, sums_are_those_of_a_loop_over_the_ranks) {
  for (uint32_t size : {1u, 2u, 3u, 5u})
    for (size_t n : {0ul, 1ul, 2ul, 1000ul, 70'001ul}) {
      auto group = shared_group::create(size, 4096);
      ASSERT_TRUE(group);
      std::vector<float> wanted(n);
      for (uint32_t rank = 0; rank < size; ++rank) {
        auto part = numbers_of(rank, n);
        for (size_t i = 0; i < n; ++i) wanted[i] += part[i];
      }
      as_members(*group, size, [&](collectives& mine) {
        for (int round = 0; round < 3; ++round) {
          auto data = numbers_of(mine.rank(), n);
          EXPECT_FALSE(mine.all_reduce(data.data(), n, elem::f32, 7));
          EXPECT_EQ(data, wanted);
        }
      });
    }
}

TEST(shared_memory, parts_of_any_size_are_put_together) {
  for (uint64_t piece : {64u, 4096u}) {
    auto group = shared_group::create(3, piece);
    ASSERT_TRUE(group);
    const std::vector<uint64_t> bytes{1000, 0, 37};
    as_members(*group, 3, [&](collectives& mine) {
      std::string part(bytes[mine.rank()], static_cast<char>('a' + mine.rank()));
      std::string whole(1037, '?');
      EXPECT_FALSE(mine.all_gather(part.data(), bytes, whole.data(), 1));
      EXPECT_EQ(whole, std::string(1000, 'a') + std::string(37, 'c'));
    });
  }
}

TEST(shared_memory, one_member_tells_all) {
  auto group = shared_group::create(3, 64);
  ASSERT_TRUE(group);
  as_members(*group, 3, [](collectives& mine) {
    std::string data(200, static_cast<char>('a' + mine.rank()));
    EXPECT_FALSE(mine.broadcast(data.data(), data.size(), 2, 1));
    EXPECT_EQ(data, std::string(200, 'c'));
  });
}

TEST(shared_memory, a_member_at_another_point_is_named_to_all) {
  auto group = shared_group::create(3);
  ASSERT_TRUE(group);
  as_members(*group, 3, [](collectives& mine) {
    float x = 1;
    auto why = mine.all_reduce(&x, 1, elem::f32, mine.rank() == 1 ? 8 : 7);
    ASSERT_TRUE(why);
    EXPECT_THAT(why->what, HasSubstr("rank "));
    EXPECT_THAT(why->what, HasSubstr("point 8"));
    auto again = mine.all_reduce(&x, 1, elem::f32, 9);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->what, why->what);
  });
}

TEST(shared_memory, whoever_waits_returns_when_the_group_ends) {
  auto group = shared_group::create(2);
  ASSERT_TRUE(group);
  std::jthread waits([&group] {
    float x = 1;
    auto why = group->member(0)->all_reduce(&x, 1, elem::f32, 1);
    ASSERT_TRUE(why);
    EXPECT_EQ(why->what, "the other one left");
  });
  group->member(1)->abort("the other one left");
}

// A process of its own gets the descriptor; when it dies, the others are told who it was.
TEST(shared_memory, a_dead_process_is_named) {
  auto group = shared_group::create(2);
  ASSERT_TRUE(group);
  auto child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto mine = shared_group::join(group->descriptor(), 1);
    double x = 2;
    _exit(mine && !(*mine)->all_reduce(&x, 1, elem::f64, 1) && x == 3 ? 0 : 1);
  }
  auto mine = group->member(0);
  double x = 1;
  auto failed = mine->all_reduce(&x, 1, elem::f64, 1);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(failed);
  EXPECT_EQ(x, 3);
  auto why = mine->all_reduce(&x, 1, elem::f64, 2);
  ASSERT_TRUE(why);
  EXPECT_THAT(why->what, HasSubstr("rank 1 (process "));
}

TEST(shared_memory, a_rank_that_is_not_there_is_refused) {
  auto group = shared_group::create(2);
  ASSERT_TRUE(group);
  EXPECT_FALSE(shared_group::join(group->descriptor(), 2));
  EXPECT_FALSE(shared_group::join(-1, 0));
  EXPECT_FALSE(shared_group::create(0));
}

} // namespace
} // namespace moxzi::device
