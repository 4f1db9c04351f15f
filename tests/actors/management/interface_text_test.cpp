// The text of device/interface.did. Written anew by
//   MOXZI_WRITE_INTERFACE=1 ctest --preset release -R device_interface_text

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "actors/candid/did_parser.hpp"
#include "actors/management/device_types.hpp"
#include "tests/actors/management/page.hpp"

using namespace moxzi;
using namespace moxzi::actors::management;

TEST(device_interface_text, the_file_says_what_the_declarations_say) {
  const std::string path = MOXZI_SOURCE_DIR "/device/interface.did";
  const auto text = device_types::get().text();
  if (std::getenv("MOXZI_WRITE_INTERFACE") != nullptr) {
    std::ofstream{path, std::ios::binary} << text;
  }
  std::ifstream file{path, std::ios::binary};
  const std::string stored{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_EQ(stored, text) << path << " is out of date; write it anew with\n"
                          << "  MOXZI_WRITE_INTERFACE=1 ctest --preset release -R "
                             "device_interface_text";
}

TEST(device_interface_text, the_text_means_the_types_that_calls_are_read_at) {
  const auto& types = device_types::get();
  const auto parsed = candid::parse_did(types.text());
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  const auto forth = candid::check_compatible(*parsed, types.service);
  EXPECT_TRUE(forth.has_value()) << forth.error().message;
  const auto back = candid::check_compatible(types.service, *parsed);
  EXPECT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(candid::lossy_place(*parsed, types.service).value(), std::nullopt);
  EXPECT_EQ(candid::lossy_place(types.service, *parsed).value(), std::nullopt);
  EXPECT_EQ(parsed->methods.size(), types.service.methods.size());
}

TEST(device_interface_text, callers_written_for_the_page_go_on_with_it) {
  const auto page = candid::parse_did(page::interface);
  ASSERT_TRUE(page.has_value()) << page.error().message;
  const auto& ours = device_types::get().service;
  const auto fits = candid::check_compatible(ours, *page);
  EXPECT_TRUE(fits.has_value()) << fits.error().message;
  EXPECT_EQ(candid::lossy_place(ours, *page).value(), std::nullopt);
  // The question is no empty one: a caller written for ours has more than the page.
  EXPECT_FALSE(candid::check_compatible(*page, ours).has_value());
}
