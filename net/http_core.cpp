#include "net/http_core.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/bytes.hpp"

#include "net/http_session.hpp"

namespace moxzi::net {

http_core::http_core(http_limits the_limits, http_handlers the_handlers,
                     std::shared_ptr<entropy> randomness)
    : limits(the_limits), handlers(std::move(the_handlers)), randomness_(std::move(randomness)) {
  // nop
}

uint64_t http_core::now_ms() const noexcept {
  using namespace std::chrono;
  return static_cast<uint64_t>(
    duration_cast<milliseconds>(steady::now().time_since_epoch()).count());
}

void http_core::give_back(const client_key& client, bool was_kept) {
  auto& share = shares.of(client);
  --share.waiting;
  if (was_kept) --share.kept;
  shares.trim(client);
}

std::string http_core::keep_call(const client_key& client) {
  auto& share = shares.of(client);
  if (!store.has_room() || share.kept >= limits.calls_kept_per_client_max) return {};
  std::array<uint8_t, 16> bytes;
  randomness_->fill(bytes);
  auto id = to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  store.open(id, client, now_ms());
  counters.calls_kept = store.size();
  ++share.kept;
  return id;
}

bool http_core::hold_answer(const client_key& client, size_t bytes) {
  auto& share = shares.of(client);
  if (share.unsent + bytes > limits.unsent_bytes_per_client_max
      || unsent_ + bytes > limits.unsent_bytes_max) {
    shares.trim(client);
    return false;
  }
  share.unsent += bytes;
  unsent_ += bytes;
  return true;
}

void http_core::drop_answer(const client_key& client, size_t bytes) noexcept {
  shares.of(client).unsent -= bytes;
  unsent_ -= bytes;
  shares.trim(client);
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
  ++shares.of(session->client()).connections;
  sessions_.emplace(key, std::move(session));
  open = sessions_.size();
}

void http_core::remove(http_session* session) noexcept {
  --shares.of(session->client()).connections;
  shares.trim(session->client());
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
