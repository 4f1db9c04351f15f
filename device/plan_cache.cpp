#include "device/plan_cache.hpp"

#include "base/limits.hpp"

namespace moxzi::device {

kept_plan_ptr plan_cache::find(const byte_string& key) {
  auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    ++counters_.misses;
    return nullptr;
  }
  ++counters_.hits;
  entries_.splice(entries_.begin(), entries_, found->second);
  return entries_.front().what;
}

void plan_cache::insert(byte_string key, kept_plan_ptr what) {
  auto bytes = what->ready->memory_bytes();
  while (!entries_.empty()
         && (entries_.size() >= plans_max_ || counters_.bytes + bytes > limits::plan_bytes_max))
    evict();
  entries_.push_front({std::move(key), std::move(what), bytes});
  by_key_.emplace(entries_.front().key, entries_.begin());
  ++counters_.plans;
  counters_.bytes += bytes;
}

bool plan_cache::evict() {
  if (entries_.empty()) return false;
  auto& last = entries_.back();
  by_key_.erase(last.key);
  --counters_.plans;
  ++counters_.evictions;
  counters_.bytes -= last.bytes;
  entries_.pop_back();
  return true;
}

} // namespace moxzi::device
