#include "net/call_sink.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "net/http_session.hpp"
#include "net/http_target.hpp"

namespace moxzi::net {

namespace {

// On the server's thread.
void deliver(http_core& core, const answer_place& to, http_answer what) {
  if (!to.is_detached) {
    if (auto target = to.session.lock()) target->deliver(to.number, std::move(what));
    return;
  }
  core.give_back(to.client, !to.id.empty());
  if (!to.id.empty()) core.store.close(to.id, std::move(what), core.now_ms());
}

} // namespace

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
  auto written = gate_ ? gate_->write(to_->number, what) : answer_gate::outcome{};
  if (!written.taken) {
    // Runs while the core does.
    asio::post(core_->io, [core = core_.get(), to = to_, what = std::move(what)]() mutable {
      deliver(*core, *to, std::move(what));
    });
    return;
  }
  core_->counters.count(what.status);
  if (written.rest.empty()) return;
  asio::post(core_->io, [to = to_, rest = std::move(written.rest)]() mutable {
    if (auto target = to->session.lock()) target->deliver_rest(to->number, std::move(rest));
  });
}

} // namespace moxzi::net
