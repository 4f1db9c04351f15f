#include "device/plan_cache.hpp"

#include "base/codec.hpp"
#include "base/limits.hpp"

namespace moxzi::device {

uint64_t program_numbers::of(const std::shared_ptr<const program>& what) {
  auto& known = by_place_[what.get()];
  if (known.number != 0 && known.what.lock() == what) return known.number;
  writer text;
  encode(text, *what);
  // Numbers are not given twice, so plans of those that are forgotten are just not found.
  if (by_text_.size() >= programs_max_) by_text_.clear();
  auto [found, fresh] = by_text_.emplace(text.take(), last_ + 1);
  if (fresh) ++last_;
  auto number = found->second;
  if (by_place_.size() > programs_max_) by_place_.clear();
  by_place_[what.get()] = {what, number};
  return number;
}

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
