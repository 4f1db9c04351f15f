#include "shapescript/check/locals.hpp"

#include <utility>

namespace shapescript {

bool locals::contains(std::string_view name) const {
  return current_.contains(name);
}

const local_state* locals::find(std::string_view name) const {
  const auto found = current_.find(name);
  return found == current_.end() ? nullptr : &found->second;
}

std::vector<std::string_view> locals::names() const {
  std::vector<std::string_view> all;
  for (const auto& [name, state] : current_) all.push_back(name);
  return all;
}

// Keeps the state from before the path's first change of the name.
void locals::note(std::string_view name) {
  if (before_.empty() || before_.back().contains(name)) return;
  const auto found = current_.find(name);
  before_.back().emplace(name,
                         found == current_.end() ? std::nullopt : std::optional{found->second});
}

void locals::set(std::string_view name, local_state state) {
  note(name);
  current_[name] = std::move(state);
}

void locals::erase(std::string_view name) {
  note(name);
  current_.erase(name);
}

void locals::clear() {
  current_.clear();
  before_.clear();
}

size_t locals::begin_path() {
  before_.emplace_back();
  return before_.size() - 1;
}

path_changes locals::changes_since(size_t path) const {
  path_changes changes;
  for (size_t i = path; i < before_.size(); ++i)
    for (const auto& [name, state] : before_[i])
      if (const auto* now = find(name)) changes.emplace(name, *now);
  return changes;
}

path_changes locals::end_path() {
  auto changes = changes_since(before_.size() - 1);
  for (auto& [name, state] : before_.back()) {
    if (state)
      current_[name] = std::move(*state);
    else
      current_.erase(name);
  }
  before_.pop_back();
  return changes;
}

} // namespace shapescript
