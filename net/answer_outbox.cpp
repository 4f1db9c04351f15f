#include "net/answer_outbox.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "net/answer_gate.hpp"
#include "net/call_sink.hpp"
#include "net/http_core.hpp"
#include "net/http_session.hpp"

namespace moxzi::net {

namespace {

constexpr size_t gathered_max = 16;
constexpr std::chrono::microseconds gathering_time_max{200};

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

void hand_over(http_core& core, outgoing_answer answer) {
  auto& [to, gate, what] = answer;
  auto written = gate ? gate->write(to->number, what) : answer_gate::outcome{};
  if (!written.taken) {
    // Runs while the core does.
    asio::post(core.io, [core = &core, to = std::move(to), what = std::move(what)]() mutable {
      deliver(*core, *to, std::move(what));
    });
    return;
  }
  core.counters.count(what.status);
  if (written.rest.empty()) return;
  asio::post(core.io, [to = std::move(to), rest = std::move(written.rest)]() mutable {
    if (auto target = to->session.lock()) target->deliver_rest(to->number, std::move(rest));
  });
}

void answer_outbox::add(outgoing_answer answer) {
  if (answers_.empty()) first_ = std::chrono::steady_clock::now();
  answers_.push_back(std::move(answer));
}

bool answer_outbox::is_due() const {
  if (answers_.empty()) return false;
  return answers_.size() >= gathered_max
         || std::chrono::steady_clock::now() - first_ > gathering_time_max;
}

void answer_outbox::send() {
  for (auto& answer : answers_) hand_over(core_, std::move(answer));
  answers_.clear();
}

} // namespace moxzi::net
