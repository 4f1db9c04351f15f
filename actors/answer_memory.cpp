#include "actors/answer_memory.hpp"

namespace moxzi::actors {

namespace {

size_t bytes_of(const call_response& response) {
  if (const auto* reply = std::get_if<reply_value>(&response.answer)) return reply->argument.size();
  return std::get<rejection>(response.answer).message.size();
}

} // namespace

answer_memory::verdict answer_memory::ask(const call_identity& identity) const {
  if (const auto at = requests_.find(identity); at != requests_.end())
    return at->second ? verdict::answered : verdict::open;
  const auto newest = newest_.find({identity.caller, identity.epoch});
  const bool taken = newest != newest_.end() && identity.sequence <= newest->second;
  return taken ? verdict::forgotten : verdict::fresh;
}

void answer_memory::open(const call_identity& identity) {
  requests_.emplace(identity, std::nullopt);
  auto& newest = newest_[{identity.caller, identity.epoch}];
  newest = std::max(newest, identity.sequence);
}

void answer_memory::close(const call_response& answer) {
  const auto at = requests_.find(answer.identity);
  if (at == requests_.end() || at->second) return;
  at->second = answer;
  bytes_ += bytes_of(answer);
  answered_.push_back(answer.identity);
  while (answered_.size() > count_max_ || bytes_ > bytes_max_) {
    const auto oldest = requests_.find(answered_.front());
    bytes_ -= bytes_of(*oldest->second);
    requests_.erase(oldest);
    answered_.pop_front();
  }
}

const call_response* answer_memory::find(const call_identity& identity) const {
  const auto at = requests_.find(identity);
  return at != requests_.end() && at->second ? &*at->second : nullptr;
}

} // namespace moxzi::actors
