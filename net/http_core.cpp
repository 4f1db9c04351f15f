#include "net/http_core.hpp"

#include <algorithm>
#include <vector>

#include "net/http_session.hpp"

namespace moxzi::net {

http_core::http_core(http_limits the_limits, http_handler the_handler)
    : limits(the_limits), handler(std::move(the_handler)) {
  // nop
}

void http_core::watch(steady::time_point deadline) {
  if (deadline >= armed_) return;
  armed_ = deadline;
  timer_.expires_at(deadline);
  timer_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) sweep();
  });
}

void http_core::sweep() {
  armed_ = steady::time_point::max();
  auto now = steady::now();
  std::vector<std::shared_ptr<http_session>> expired;
  auto next = steady::time_point::max();
  for (auto& [key, session] : sessions_) {
    if (session->deadline() <= now)
      expired.push_back(session);
    else
      next = std::min(next, session->deadline());
  }
  for (auto& session : expired) session->expire();
  if (next != steady::time_point::max()) watch(next);
}

void http_core::add(std::shared_ptr<http_session> session) {
  auto* key = session.get();
  sessions_.emplace(key, std::move(session));
  open = sessions_.size();
}

void http_core::remove(http_session* session) noexcept {
  sessions_.erase(session);
  open = sessions_.size();
  if (stopping && sessions_.empty()) timer_.cancel();
}

void http_core::begin_stop(steady::time_point end) {
  stopping = true;
  std::vector<std::shared_ptr<http_session>> all;
  for (auto& [key, session] : sessions_) all.push_back(session);
  for (auto& session : all) session->begin_stop(end);
  if (sessions_.empty()) timer_.cancel();
}

} // namespace moxzi::net
