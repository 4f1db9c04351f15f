#include "actors/build/mops_file.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

using namespace moxzi;
using namespace moxzi::actors;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

class mops : public testing::Test {
protected:
  mops() : folder(fs::temp_directory_path() / ("moxzi-mops-" + std::to_string(::getpid()))) {
    fs::create_directories(folder);
  }
  ~mops() override {
    fs::remove_all(folder);
  }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((folder / path).parent_path());
    std::ofstream{folder / path} << text;
  }
  std::string at(const std::string& path) const {
    return (folder / path).string();
  }
  fs::path folder;
};

} // namespace

TEST_F(mops, reads_the_dependencies_and_passes_over_the_rest) {
  const auto read = read_mops(R"(# a comment
[package]
name = "x"
description = "a # in quotes = no comment"

[dependencies]
core = "2.5.0" # bundled
"odd name" = './lib'
other = "https://example.org/x#main"

[dev-dependencies]
test = "not read
)",
                              "mops.toml");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(*read,
              ElementsAre(mops_dependency{"core", "2.5.0"}, mops_dependency{"odd name", "./lib"},
                          mops_dependency{"other", "https://example.org/x#main"}));
}

TEST_F(mops, names_the_line_that_it_cannot_read) {
  for (auto line : {"lib", "lib = ", "lib = ./path", "= \"x\"", "lib = { path = \"./x\" }"}) {
    const auto read = read_mops(std::string{"[dependencies]\n\n"} + line, "a/mops.toml");
    ASSERT_FALSE(read) << line;
    EXPECT_THAT(read.error().message, HasSubstr("a/mops.toml:3: a dependency is")) << line;
  }
}

TEST_F(mops, finds_packages_on_this_disk_and_theirs) {
  write("project/mops.toml", "[dependencies]\nlib = \"../lib\"\ncore = \"2.5.0\"\n");
  write("project/src/main.mo", "");
  write("lib/mops.toml", "[dependencies]\nleaf = \"./leaf\"\nlib = \"../elsewhere\"\n");
  write("lib/src/lib.mo", "");
  write("lib/leaf/lib.mo", "");
  const auto found = local_packages(at("project/src/main.mo"));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(*found, ElementsAre(package_folder{"lib", at("lib/src")},
                                  package_folder{"leaf", at("lib/leaf")}));
}

TEST_F(mops, a_project_may_have_none_and_a_missing_folder_is_named) {
  write("plain/main.mo", "");
  EXPECT_TRUE(local_packages(at("plain/main.mo"))->empty());
  write("broken/mops.toml", "[dependencies]\nlib = \"./lib\"\n");
  const auto found = local_packages(at("broken/main.mo"));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("package 'lib': there is no folder"));
}

TEST_F(mops, whatever_it_reads_ends_in_a_list_or_a_reason) {
  rc::check([](const std::string& text) {
    const auto read = read_mops("[dependencies]\n" + text, "m");
    const bool ends = read.has_value() || !read.error().message.empty();
    RC_ASSERT(ends);
  });
}
