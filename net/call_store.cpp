#include "net/call_store.hpp"

#include <algorithm>
#include <utility>

namespace moxzi::net {

namespace {

// What an answer takes beside its body.
constexpr size_t entry_bytes = 256;

} // namespace

void call_store::open(std::string id, const client_key& client, uint64_t now_ms) {
  expire(now_ms);
  const auto expires_ms = now_ms + limits_.call_kept_ms;
  opened_.emplace(expires_ms, id);
  calls_.insert_or_assign(std::move(id), call{client, expires_ms, std::nullopt});
  ++open_;
}

void call_store::close(std::string_view id, http_answer answer, uint64_t now_ms) {
  expire(now_ms);
  const auto at = calls_.find(std::string{id});
  if (at == calls_.end() || at->second.answer) return;
  opened_.erase({at->second.expires_ms, at->first});
  --open_;
  auto& held = holdings_[at->second.client];
  const auto bytes = entry_bytes + answer.body.size();
  bytes_ += bytes;
  held.bytes += bytes;
  at->second.answer = std::move(answer);
  at->second.expires_ms = now_ms + limits_.answer_kept_ms;
  answered_.emplace(at->second.expires_ms, at->first);
  held.answered.emplace(at->second.expires_ms, at->first);
  while ((has_too_many_bytes() || has_too_many()) && !answered_.empty())
    drop(greatest().answered.begin()->second);
}

call_store::found call_store::find(std::string_view id, uint64_t now_ms) {
  expire(now_ms);
  const auto at = calls_.find(std::string{id});
  if (at == calls_.end()) return {};
  if (!at->second.answer) return {state::processing, nullptr};
  return {state::answered, &*at->second.answer};
}

bool call_store::has_too_many_bytes() const noexcept {
  return bytes_ > limits_.answers_kept_bytes_max;
}

bool call_store::has_too_many() const noexcept {
  return calls_.size() - open_ > limits_.calls_kept_max;
}

const call_store::holding& call_store::greatest() const {
  const bool by_bytes = has_too_many_bytes();
  const auto less = [by_bytes](const auto& a, const auto& b) {
    return by_bytes ? a.second.bytes < b.second.bytes
                    : a.second.answered.size() < b.second.answered.size();
  };
  return std::max_element(holdings_.begin(), holdings_.end(), less)->second;
}

void call_store::expire(uint64_t now_ms) {
  for (auto* list : {&opened_, &answered_})
    while (!list->empty() && list->begin()->first <= now_ms) drop(list->begin()->second);
}

// By value: the id that is given may be the one of the entry that goes.
void call_store::drop(std::string id) {
  const auto at = calls_.find(id);
  if (at->second.answer) {
    const auto bytes = entry_bytes + at->second.answer->body.size();
    const auto holder = holdings_.find(at->second.client);
    bytes_ -= bytes;
    holder->second.bytes -= bytes;
    holder->second.answered.erase({at->second.expires_ms, id});
    if (holder->second.answered.empty()) holdings_.erase(holder);
    answered_.erase({at->second.expires_ms, id});
  } else {
    --open_;
    opened_.erase({at->second.expires_ms, id});
  }
  calls_.erase(at);
}

} // namespace moxzi::net
