#include "actors/host_metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.hpp"

using namespace moxzi;
using namespace moxzi::actors;
using testing::HasSubstr;
using testing::Not;

namespace {

size_t count_of(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++found;
  return found;
}

} // namespace

TEST(host_metrics, an_outcome_is_what_became_of_the_call) {
  EXPECT_EQ(outcome_of(reply_value{}), call_outcome::replied);
  const auto of = [](reject_code code, const char* error_code) {
    return outcome_of(rejected(code, error_code, ""));
  };
  EXPECT_EQ(of(reject_code::canister_reject, "MX406"), call_outcome::rejected);
  EXPECT_EQ(of(reject_code::canister_error, "MX503"), call_outcome::trapped);
  EXPECT_EQ(of(reject_code::canister_error, "MX522"), call_outcome::trapped);
  EXPECT_EQ(of(reject_code::canister_error, "MX539"), call_outcome::trapped);
  EXPECT_EQ(of(reject_code::canister_error, "MX508"), call_outcome::refused);
  EXPECT_EQ(of(reject_code::canister_error, "MX536"), call_outcome::refused);
  EXPECT_EQ(of(reject_code::sys_transient, "MX201"), call_outcome::refused);
}

TEST(host_metrics, counts_by_actor_method_and_outcome) {
  host_metrics metrics;
  auto a = metrics.meters_of("a");
  a->answered("f", call_outcome::replied);
  a->answered("f", call_outcome::replied);
  a->answered("f", call_outcome::trapped);
  a->executed({2'000'000, 500, 7});
  a->executed({1'000'000, 500, std::nullopt}); // a query
  a->charged(cycles{30});
  a->charged(cycles{30});
  a->charged(cycles{42});
  metrics.note_device_call("moxzi_device_run", 1'000'000);
  net::http_numbers http;
  http.requests = 3;
  http.answers[2] = 2;
  const auto text = metrics.text({{"a", 1, 2, 3, 4}}, http);
  for (auto line :
       {R"(moxzi_messages_total{actor="a",method="f",outcome="replied"} 2)",
        R"(moxzi_messages_total{actor="a",method="f",outcome="trapped"} 1)",
        R"(moxzi_execution_seconds_count{actor="a"} 2)",
        R"(moxzi_instructions_total{actor="a"} 1000)", R"(moxzi_dirty_pages_sum{actor="a"} 7)",
        R"(moxzi_dirty_pages_count{actor="a"} 1)", R"(moxzi_cycles_charged_total{actor="a"} 42)",
        R"(moxzi_device_seconds_count{method="moxzi_device_run"} 1)",
        R"(moxzi_queue_length{actor="a"} 1)", R"(moxzi_heap_bytes{actor="a"} 2)",
        R"(moxzi_stable_bytes{actor="a"} 3)", R"(moxzi_cycles{actor="a"} 4)",
        "moxzi_http_requests_total 3", R"(moxzi_http_answers_total{status="2xx"} 2)"})
    EXPECT_THAT(text, HasSubstr(line));
  // An actor that is gone leaves the page, what it did does not.
  const auto later = metrics.text({}, http);
  EXPECT_THAT(later, Not(HasSubstr("moxzi_heap_bytes{")));
  EXPECT_THAT(later, HasSubstr(R"(outcome="replied"} 2)"));
}

TEST(host_metrics, the_number_of_labels_is_bounded_whatever_is_called) {
  host_metrics metrics;
  auto a = metrics.meters_of("a");
  // No methods at all, in any number: anybody can ask for them.
  for (int i = 0; i < 10'000; ++i) a->answered("no" + std::to_string(i), call_outcome::refused);
  auto text = metrics.text({}, {});
  EXPECT_EQ(count_of(text, "moxzi_messages_total{"), 1u);
  EXPECT_THAT(text, HasSubstr(R"({actor="a",method="other",outcome="refused"} 10000)"));
  a->know("there");
  a->answered("there", call_outcome::refused);
  EXPECT_THAT(metrics.text({}, {}), HasSubstr(R"({actor="a",method="there",outcome="refused"} 1)"));
  for (int i = 0; i < 1'000; ++i) {
    a->know("k" + std::to_string(i));
    a->answered("m" + std::to_string(i), call_outcome::replied);
  }
  for (int i = 0; i < 3'000; ++i)
    metrics.meters_of("actor" + std::to_string(i))->answered("f", call_outcome::replied);
  text = metrics.text({}, {});
  EXPECT_LE(count_of(text, "moxzi_messages_total{"),
            limits::metric_actors_max + limits::metric_methods_max + 2);
  EXPECT_THAT(text, HasSubstr(R"({actor="other",method="f",outcome="replied"} )"));
}
