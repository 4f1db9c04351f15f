// What stands before the HTTP parser: the header's scan says the same however the bytes are cut,
// and every target is a route or a refusal.

#include <cstdlib>
#include <string_view>

#include "net/http_scan.hpp"
#include "net/http_target.hpp"

using namespace moxzi::net;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const http_limits bounds;
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  header_scan whole{bounds};
  header_scan pieces{bounds};
  auto expected = whole.scan(input);
  auto got = header_scan::state::need_more;
  for (size_t at = 1; at <= size && got == header_scan::state::need_more; ++at)
    got = pieces.scan(input.substr(0, at));
  if (got != expected || pieces.size() != whole.size()) std::abort();
  auto route = find_route(size % 2 == 0 ? "POST" : "GET", input, bounds);
  if (auto* why = boost::variant2::get_if<refusal>(&route))
    if (why->status < 400 || why->status > 499 || why->why.message.empty()) std::abort();
  if (auto* call = boost::variant2::get_if<call_route>(&route))
    if (call->actor.empty() && call->method.empty()) std::abort();
  return 0;
}
