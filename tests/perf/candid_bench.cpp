// Times the reading and writing of Candid against Boost.JSON with the same data, in turn:
//   candid_bench     prints one JSON line a row
// The data: 1 MiB of `vec record { nat32; text }`; as JSON, an array of pairs.

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <time.h>

#include "actors/candid/decode.hpp"
#include "actors/candid/did_parser.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/json.hpp"

using namespace moxzi;

namespace {

constexpr int rounds = 41;

/// Processor time of this thread: neither side waits for anything, so it is the same as the wall
/// clock's on an idle machine and steadier on a busy one.
double now_us() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

double time_us(const std::function<size_t()>& work) {
  const auto start = now_us();
  const volatile size_t kept = work();
  (void)kept;
  return now_us() - start;
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void compare(const char* name, const std::function<size_t()>& ours, const char* peer,
             const std::function<size_t()>& theirs) {
  std::vector<double> our_times;
  std::vector<double> their_times;
  for (int i = 0; i < rounds; ++i) {
    our_times.push_back(time_us(ours));
    their_times.push_back(time_us(theirs));
  }
  std::vector<double> ratios;
  for (int i = 0; i < rounds; ++i) ratios.push_back(our_times[i] / their_times[i]);
  const auto a = median(our_times);
  const auto b = median(their_times);
  fmt::print(
    R"({{"name": "{}", "ours_us": {:.1f}, "peer": "{}", "peer_us": {:.1f}, "ratio": {:.3f}}})",
    name, a, peer, b, median(ratios));
  fmt::print("\n");
}

/// About 1 MiB: numbers of all sizes, texts of 4 to 27 letters.
std::vector<candid::value> records() {
  std::vector<candid::value> all;
  uint32_t state = 1;
  for (size_t bytes = 0; bytes < 1u << 20;) {
    state = state * 1664525u + 1013904223u;
    auto text = std::string(4 + (state >> 16) % 24, 'x');
    for (auto& c : text) c = static_cast<char>('a' + (state = state * 1664525u + 1013904223u) % 26);
    bytes += 5 + text.size();
    all.push_back(candid::value::list(
      {candid::value::fixed_nat(state >> state % 24), candid::value::string(std::move(text))}));
  }
  return {candid::value::list(std::move(all))};
}

} // namespace

int main() {
  const auto types = candid::parse_types("(vec record { nat32; text })").value();
  const auto values = records();
  const auto bytes = candid::encode(types, values).value();
  const auto json = candid::values_to_json(types, values).value();
  const auto parsed = boost::json::parse(json);
  compare(
    "candid.decode", [&] { return candid::decode(bytes, types)->size(); }, "boost.json parse",
    [&] { return boost::json::parse(json).as_array().size(); });
  compare(
    "candid.encode", [&] { return candid::encode(types, values)->size(); }, "boost.json serialize",
    [&] { return boost::json::serialize(parsed).size(); });
  compare(
    "candid.json_in", [&] { return candid::json_to_values(types, json)->size(); },
    "boost.json parse", [&] { return boost::json::parse(json).as_array().size(); });
  compare(
    "candid.json_out", [&] { return candid::values_to_json(types, values)->size(); },
    "boost.json serialize", [&] { return boost::json::serialize(parsed).size(); });
  return 0;
}
