#include "actors/build/builder.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actors/build/build_cache.hpp"
#include "actors/build/child.hpp"
#include "actors/build/files.hpp"
#include "actors/build/manifest_file.hpp"

using namespace moxzi;
using namespace moxzi::actors;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

// A folder of its own, and in it a compiler that is a shell script: it counts its runs, refuses
// sources that say `wrong`, and reads `lib.mo` where there is one.
class build : public testing::Test {
protected:
  build() {
    folder = testing::TempDir() + "moxzi-build-XXXXXX";
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    write("npm/node_modules/motoko/package.json", R"({"version": "1.0.0"})");
    write("compile.js", "");
    write("node", R"sh(#!/bin/sh
while [ $# -gt 2 ]; do [ "$1" = --deps ] && deps=$2; shift; done
here=$(dirname "$0"); echo run >> "$here/runs"
if grep -q wrong "$1"; then echo "$1:1:2: error [M0001] wrong"; exit 1; fi
lib=$(dirname "$1")/lib.mo
{ sha256sum < "$1" | sed "s| .*| $(basename "$1")|"
  if [ -f "$lib" ]; then sha256sum < "$lib" | sed 's| .*| lib.mo|'; else echo '- lib.mo'; fi
} > "$deps"
cat "$1" > "$2/actor.wasm"; [ -f "$lib" ] && cat "$lib" >> "$2/actor.wasm"
echo 'service : {}' > "$2/actor.did"; echo 'actor {};' > "$2/actor.most"
echo "$1:1:1: warning [M0194] unused"
)sh");
    EXPECT_EQ(::chmod((folder + "/node").c_str(), 0755), 0);
    tools = {.node = folder + "/node",
             .script = folder + "/compile.js",
             .npm = folder + "/npm",
             .cache = folder + "/cache"};
    options.file = folder + "/a.mo";
    options.manifest = folder + "/actors.json";
    write("a.mo", "one");
  }
  ~build() override {
    fs::remove_all(folder);
  }

  void write(const std::string& name, std::string_view text) {
    ASSERT_TRUE(make_folders(fs::path{folder + "/" + name}.parent_path().string()));
    ASSERT_TRUE(write_file_atomically(folder + "/" + name, text));
  }
  std::string text(const std::string& name) {
    auto out = read_file(folder + "/" + name, 1u << 20);
    return out ? *out : out.error().message;
  }
  size_t runs() {
    return text("runs").size() / 4;
  }
  build_outcome built() {
    auto out = build_actor(options, tools);
    EXPECT_TRUE(out) << out.error().message;
    return out ? *out : build_outcome{};
  }
  std::string refused() {
    auto out = build_actor(options, tools);
    EXPECT_FALSE(out);
    return out ? "" : out.error().message;
  }

  std::string folder;
  toolchain tools;
  build_options options;
};

} // namespace

TEST_F(build, writes_three_files_and_lists_the_actor) {
  auto out = built();
  EXPECT_EQ(out.name, "a");
  EXPECT_EQ(text("a.wasm"), "one");
  EXPECT_EQ(text("a.did"), "service : {}\n");
  EXPECT_EQ(text("a.most"), "actor {};\n");
  EXPECT_EQ(out.warnings, options.file + ":1:1: warning [M0194] unused\n");
  auto listed = read_manifest(*options.manifest);
  ASSERT_TRUE(listed) << listed.error().message;
  ASSERT_EQ(listed->actors.size(), 1u);
  EXPECT_EQ(listed->actors[0].name, "a");
  EXPECT_EQ(listed->actors[0].wasm, folder + "/a.wasm");
  EXPECT_THAT(text("actors.json"), HasSubstr(R"("wasm": "a.wasm", "did": "a.did")"));
}

TEST_F(build, the_same_source_is_compiled_once) {
  auto first = built();
  auto second = built();
  EXPECT_FALSE(first.from_cache);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(second.warnings, first.warnings);
  EXPECT_EQ(runs(), 1u);
}

TEST_F(build, whatever_decides_the_result_is_compiled_again) {
  built();
  write("a.mo", "two");
  built();
  EXPECT_EQ(text("a.wasm"), "two");
  write("lib.mo", "!"); // was looked for and absent
  built();
  EXPECT_EQ(text("a.wasm"), "two!");
  write("lib.mo", "?");
  built();
  EXPECT_EQ(text("a.wasm"), "two?");
  write("npm/node_modules/motoko/package.json", R"({"version": "1.0.1"})");
  built();
  EXPECT_EQ(runs(), 5u);
  write("a.mo", "one");
  built();
  EXPECT_EQ(runs(), 6u);
}

TEST_F(build, a_broken_cache_entry_is_none) {
  built();
  for (const auto& entry : fs::directory_iterator{tools.cache}) {
    auto path = entry.path().string();
    auto bytes = *read_file(path, 1u << 20);
    bytes[bytes.size() / 2] ^= 1;
    ASSERT_TRUE(write_file_atomically(path, bytes));
  }
  EXPECT_FALSE(built().from_cache);
  EXPECT_TRUE(built().from_cache);
}

TEST_F(build, works_without_a_cache) {
  tools.cache = folder + "/compile.js/no/folder";
  EXPECT_FALSE(built().from_cache);
  tools.cache = "";
  EXPECT_FALSE(built().from_cache);
  EXPECT_EQ(text("a.wasm"), "one");
}

TEST_F(build, errors_are_the_compilers_and_leave_everything_as_it_was) {
  built();
  auto manifest = text("actors.json");
  write("a.mo", "wrong");
  EXPECT_EQ(refused(), options.file + ":1:2: error [M0001] wrong");
  EXPECT_EQ(text("a.wasm"), "one");
  EXPECT_EQ(text("actors.json"), manifest);
  EXPECT_EQ(build_actor(options, tools).error().code, build_errc::refused);
}

TEST_F(build, takes_a_name_and_a_folder) {
  options.name = "other";
  options.out_dir = folder + "/out/deep";
  EXPECT_EQ(built().wasm, folder + "/out/deep/other.wasm");
  EXPECT_THAT(text("actors.json"), HasSubstr(R"("wasm": "out/deep/other.wasm")"));
  options.name = "a/b";
  EXPECT_EQ(refused(), "\"a/b\" cannot be an actor's name; give one with --name");
}

TEST_F(build, keeps_the_other_entries_of_the_manifest) {
  write("actors.json", R"({"b" : "b.wasm"})");
  built();
  EXPECT_EQ(text("actors.json"), R"({"b" : "b.wasm", "a": "a.wasm"})");
  write("actors.json", R"({"b" : )");
  EXPECT_THAT(refused(), HasSubstr("actors.json:1:8: not JSON: incomplete"));
  EXPECT_EQ(text("actors.json"), R"({"b" : )");
  options.manifest.reset();
  built();
  EXPECT_EQ(text("actors.json"), R"({"b" : )");
}

TEST_F(build, says_what_is_missing) {
  options.file = folder + "/none.mo";
  EXPECT_EQ(refused(), options.file + ": no such file");
  options.file = folder + "/compile.js";
  EXPECT_EQ(refused(), options.file + ": a Motoko source's name ends in .mo");
  options.file = folder + "/a.mo";
  tools.node = folder + "/no-node";
  EXPECT_THAT(refused(), HasSubstr("install version 18 or newer"));
  tools.npm = folder;
  EXPECT_THAT(refused(), HasSubstr("run 'make deps'"));
}

TEST_F(build, the_cache_keeps_the_entries_used_last) {
  build_cache cache{folder + "/small", 3};
  auto key = [](int i) { return sha256(std::to_string(i)); };
  for (int i = 0; i < 3; ++i) cache.store(key(i), "", {.wasm = std::to_string(i)});
  auto count = [this] {
    return std::distance(fs::directory_iterator{folder + "/small"}, fs::directory_iterator{});
  };
  EXPECT_EQ(count(), 3);
  auto oldest = folder + "/small/" + to_hex(as_bytes(key(1)));
  fs::last_write_time(oldest, fs::last_write_time(oldest) - std::chrono::hours{1});
  cache.store(key(3), "", {.wasm = "3"});
  EXPECT_EQ(count(), 3);
  EXPECT_FALSE(cache.find(key(1), folder));
  EXPECT_EQ(cache.find(key(0), folder)->wasm, "0");
  EXPECT_EQ(cache.find(key(3), folder)->wasm, "3");
}

TEST_F(build, files_are_replaced_whole_and_keep_their_mode) {
  auto path = folder + "/file";
  write("file", "old");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  fs::create_symlink("file", folder + "/link");
  ASSERT_TRUE(write_file_atomically(folder + "/link", "new"));
  EXPECT_EQ(text("file"), "new");
  EXPECT_TRUE(fs::is_symlink(folder + "/link"));
  EXPECT_EQ(static_cast<int>(fs::status(path).permissions()), 0640);
  EXPECT_FALSE(write_file_atomically(folder + "/none/file", "x"));
  EXPECT_FALSE(read_file(folder, 10));
  EXPECT_EQ(read_file(path, 2).error().message, path + ": larger than 2 bytes");
}

TEST_F(build, a_manifest_that_names_a_missing_file_is_refused) {
  write("actors.json", R"(["gone.wasm"])");
  auto out = read_manifest(folder + "/actors.json");
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, manifest_errc::missing_file);
  EXPECT_THAT(out.error().message, HasSubstr("gone.wasm, is not there"));
}

TEST_F(build, concurrent_updates_of_a_manifest_all_arrive) {
  auto path = folder + "/actors.json";
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    auto pid = ::fork();
    if (pid == 0) {
      auto name = fmt::format("actor{}", i);
      auto good = update_manifest(path, {.name = name, .wasm = folder + "/" + name + ".wasm"});
      ::_exit(good ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (auto pid : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  auto read = parse_manifest(text("actors.json"), path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->actors.size(), 8u);
}

TEST(child, output_is_bounded_and_status_kept) {
  auto out = run_child({"sh", "-c", "yes | head -c 1000000; exit 7"}, 1'000);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->output.size(), 1'000u);
  EXPECT_EQ(out->status, 7);
  EXPECT_EQ(run_child({"sh", "-c", "kill -9 $$"}, 10)->status, 128 + 9);
  EXPECT_EQ(run_child({"sh", "-c", "cat; echo end >&2"}, 100)->output, "end\n");
  EXPECT_FALSE(run_child({"/no/such/program"}, 10));
}
