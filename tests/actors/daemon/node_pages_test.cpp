#include "actors/daemon/node_pages.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

using namespace moxzi;
using namespace moxzi::actors;

namespace {

boost::json::object parsed(const std::string& page) {
  boost::json::error_code ec;
  auto value = boost::json::parse(page, ec);
  EXPECT_FALSE(ec) << page;
  return value.is_object() ? value.get_object() : boost::json::object{};
}

} // namespace

TEST(node_pages, cycles_are_written_in_all_their_digits) {
  EXPECT_EQ(decimal({}), "0");
  EXPECT_EQ(decimal({1'000}), "1000");
  EXPECT_EQ(decimal({~uint128{0}}), "340282366920938463463374607431768211455");
}

TEST(node_pages, an_actor_is_shown_with_whatever_its_name_is) {
  lifecycle::status actor;
  actor.name = "a \"b\"\n";
  actor.id = principal::anonymous();
  actor.run = lifecycle::run_status::stopping;
  actor.current.controllers = {principal::anonymous()};
  actor.methods = {
    {"f", method_mode::update}, {"g", method_mode::query}, {"h", method_mode::composite_query}};
  actor.balance = {~uint128{0}};
  const auto page = parsed(actor_page(actor));
  EXPECT_EQ(page.at("name").as_string(), "a \"b\"\n");
  EXPECT_EQ(page.at("id").as_string(), "2vxsx-fae");
  EXPECT_EQ(page.at("status").as_string(), "stopping");
  EXPECT_TRUE(page.at("module_hash").is_null());
  EXPECT_EQ(page.at("cycles").as_string(), "340282366920938463463374607431768211455");
  const auto& methods = page.at("methods").as_array();
  ASSERT_EQ(methods.size(), 3u);
  EXPECT_EQ(methods[0].at("kind").as_string(), "update");
  EXPECT_EQ(methods[1].at("kind").as_string(), "query");
  EXPECT_EQ(methods[2].at("kind").as_string(), "composite_query");
}

TEST(node_pages, actors_without_a_name_come_behind) {
  std::vector<lifecycle::status> actors(3);
  actors[0].id = principal::of_actor("x");
  actors[1].name = "b";
  actors[2].name = "a";
  const auto page = parsed(actors_page(std::move(actors)));
  const auto& list = page.at("actors").as_array();
  EXPECT_EQ(list[0].at("name").as_string(), "a");
  EXPECT_EQ(list[1].at("name").as_string(), "b");
  EXPECT_TRUE(list[2].at("name").is_null());
}

TEST(node_pages, a_log_says_where_to_go_on) {
  EXPECT_EQ(log_page({}, 7), R"({"lines":[],"next":7})");
  EXPECT_EQ(log_page({{3, 5, "x"}, {4, 6, "\""}}, 0),
            R"({"lines":[{"number":3,"time_ns":"5","text":"x"},)"
            R"({"number":4,"time_ns":"6","text":"\""}],"next":5})");
}

TEST(node_pages, the_status_is_json_with_and_without_a_device) {
  node_facts facts;
  facts.version = "1.2.3";
  facts.started_ns = 1'000'000'000;
  net::http_numbers http;
  http.requests = 5;
  http.answers = {0, 0, 3, 0, 2, 0};
  auto page = parsed(status_page(facts, 3'500'000'000, 2, http));
  EXPECT_EQ(page.at("uptime_ms").to_number<int>(), 2'500);
  EXPECT_TRUE(page.at("device").is_null());
  EXPECT_EQ(page.at("http").at("answers").to_number<int>(), 5);
  facts.device = "burn:cpu";
  page = parsed(status_page(facts, 3'500'000'000, 2, http));
  EXPECT_EQ(page.at("device").at("kind").as_string(), "burn:cpu");
}
