// The table of prices in docs/cycles.md. Written anew by
//   MOXZI_WRITE_INTERFACE=1 ctest --preset release -R PricesPage

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "actors/ic_prices.hpp"

namespace moxzi::actors {
namespace {

std::string grouped(uint64_t number) {
  auto digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string table() {
  std::string text = "| what | who pays | cycles |\n|---|---|---|\n";
  for (const auto& row : price_rows) {
    text +=
      fmt::format("| {} | {} | {} |\n", row.what, row.who_pays, grouped(ic_prices.*row.price));
  }
  return text;
}

TEST(PricesPage, SaysWhatIsCharged) {
  const std::string path = MOXZI_SOURCE_DIR "/docs/cycles.md";
  const std::string begin = "<!-- prices: written from actors/ic_prices.hpp -->\n";
  const std::string end = "<!-- end of prices -->";
  std::ifstream file{path, std::ios::binary};
  std::string page{std::istreambuf_iterator<char>{file}, {}};
  const auto from = page.find(begin) + begin.size();
  const auto to = page.find(end);
  ASSERT_LT(from, page.size());
  ASSERT_NE(to, std::string::npos);
  const auto stored = page.substr(from, to - from);
  if (std::getenv("MOXZI_WRITE_INTERFACE") != nullptr) {
    page.replace(from, to - from, table());
    std::ofstream{path, std::ios::binary} << page;
    return;
  }
  EXPECT_EQ(stored, table());
}

TEST(PricesPage, NamesEveryPriceOnce) {
  auto rest = ic_prices;
  for (const auto& row : price_rows) rest.*row.price = 0;
  EXPECT_EQ(rest, price_table{});
  EXPECT_EQ(sizeof(price_table), price_rows.size() * sizeof(uint64_t));
}

} // namespace
} // namespace moxzi::actors
