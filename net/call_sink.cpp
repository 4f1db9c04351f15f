#include "net/call_sink.hpp"

#include <utility>

#include "net/answer_outbox.hpp"
#include "net/http_session.hpp"
#include "net/http_target.hpp"

namespace moxzi::net {

call_sink::~call_sink() {
  if (answered_) return;
  answer(core_->closing
           ? answer_of(server_stopping())
           : http_answer{.status = 500,
                         .body = to_json({reject_code::sys_fatal,
                                          "the call was lost inside the server", "MX191"})});
}

void call_sink::answer(http_answer what) noexcept {
  if (answered_.exchange(true)) return;
  outgoing_answer answer{to_, gate_, std::move(what)};
  if (gate_ && core_->outbox.is_here())
    core_->outbox.add(std::move(answer));
  else
    hand_over(*core_, std::move(answer));
}

} // namespace moxzi::net
