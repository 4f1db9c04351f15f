#include "actors/http_status.hpp"

#include <string_view>

namespace moxzi::actors {

uint16_t http_status(const rejection& why) noexcept {
  struct row {
    std::string_view error_code;
    uint16_t status;
  };
  static constexpr row rows[] = {
    {"MX201", 429}, {"MX208", 503}, {"MX301", 404}, {"MX302", 404}, {"MX305", 404}, {"MX306", 404},
    {"MX508", 409}, {"MX509", 409}, {"MX510", 409}, {"MX512", 403}, {"MX536", 404},
  };
  if (why.code == reject_code::none) return 400;
  for (const auto& [error_code, status] : rows)
    if (why.error_code == error_code) return status;
  return 422;
}

net::http_answer http_refusal(const rejection& why) {
  net::http_answer answer;
  answer.status = http_status(why);
  answer.body = to_json(why);
  return answer;
}

} // namespace moxzi::actors
