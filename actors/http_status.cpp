#include "actors/http_status.hpp"

namespace moxzi::actors {

uint16_t http_status(const rejection& why) noexcept {
  if (why.code == reject_code::none) return 400;
  if (why.error_code == "MX301" || why.error_code == "MX536") return 404;
  if (why.error_code == "MX508" || why.error_code == "MX509") return 409;
  if (why.error_code == "MX201") return 429;
  return 422;
}

net::http_answer http_refusal(const rejection& why) {
  net::http_answer answer;
  answer.status = http_status(why);
  answer.body = to_json(why);
  return answer;
}

} // namespace moxzi::actors
