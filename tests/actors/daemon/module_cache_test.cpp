#include "actors/daemon/module_cache.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "actors/build/files.hpp"

namespace fs = std::filesystem;

namespace moxzi::actors {
namespace {

class ModuleCache : public ::testing::Test {
protected:
  ModuleCache() {
    const auto name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    root = fs::path{::testing::TempDir()} / (std::string{"module_cache_"} + name);
    fs::remove_all(root);
    folder = (root / "cache").string();
  }
  ~ModuleCache() override {
    fs::remove_all(root);
  }

  byte_string module(int number) {
    return *wasm_from_text("(module (memory 1) (func (export \"canister_update m"
                           + std::to_string(number) + "\")))");
  }
  std::vector<fs::path> entries() {
    if (!fs::exists(folder)) return {};
    return {fs::directory_iterator{folder}, fs::directory_iterator{}};
  }
  bool works(const module_cache& cache, const byte_string& wasm) {
    const auto got = cache.get(wasm, *engine);
    return got && (*got)->info().methods.size() == 1;
  }

  fs::path root;
  std::string folder;
  std::shared_ptr<wasm_engine> engine = *wasm_engine::make();
};

TEST_F(ModuleCache, KeepsOneEntryForEachModule) {
  const module_cache cache{folder, 10};
  EXPECT_TRUE(works(cache, module(1)));
  EXPECT_TRUE(works(cache, module(1)));
  EXPECT_TRUE(works(cache, module(2)));
  EXPECT_EQ(entries().size(), 2u);
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
}

TEST_F(ModuleCache, ABrokenEntryIsReplacedAndNeverRun) {
  const module_cache cache{folder, 10};
  ASSERT_TRUE(works(cache, module(1)));
  const auto path = entries().at(0).string();
  const auto whole = *read_file(path, 1u << 30);
  for (const auto& broken : {whole.substr(0, whole.size() / 2), whole + "x", byte_string{}}) {
    ASSERT_TRUE(write_file_atomically(path, broken));
    EXPECT_TRUE(works(cache, module(1)));
    EXPECT_EQ(*read_file(path, 1u << 30), whole);
  }
}

TEST_F(ModuleCache, AFolderThatOthersMayWriteIsNotUsed) {
  fs::create_directories(folder);
  fs::permissions(folder, fs::perms::all);
  const module_cache cache{folder, 10};
  EXPECT_TRUE(works(cache, module(1)));
  EXPECT_TRUE(entries().empty());
}

TEST_F(ModuleCache, WithoutAFolderEveryModuleIsCompiled) {
  const module_cache cache{"", 10};
  EXPECT_TRUE(works(cache, module(1)));
}

TEST_F(ModuleCache, KeepsTheNewestModulesOnly) {
  const module_cache cache{folder, 3};
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(works(cache, module(i)));
  EXPECT_EQ(entries().size(), 3u);
}

TEST_F(ModuleCache, AModuleThatIsNoneFailsAsWithoutACache) {
  const module_cache cache{folder, 10};
  EXPECT_FALSE(cache.get("not wasm", *engine));
  EXPECT_TRUE(entries().empty());
}

} // namespace
} // namespace moxzi::actors
