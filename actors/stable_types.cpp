#include "actors/stable_types.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace moxzi::actors {

namespace {

using std::string_view;
using fields = std::map<std::string, std::string>;

constexpr string_view space = " \t\r\n";

// Without comments, and with one space for many.
std::string squeezed(string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "//") i = std::min(text.find('\n', i), text.size() - 1);
    if (space.find(text[i]) == string_view::npos) {
      out += text[i];
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// `stable var name : type`; `in` instead of `stable` if it is only taken over. False if it is
// neither, nor nothing.
bool put_field(string_view item, fields& to) {
  item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
  if (item.empty()) return true;
  const auto word = item.substr(0, item.find(' ') + 1);
  if (word != "stable " && word != "in ") return false;
  item.remove_prefix(word.size());
  const bool is_variable = item.starts_with("var ");
  if (is_variable) item.remove_prefix(4);
  const auto colon = item.find(':');
  if (colon == string_view::npos) return false;
  auto name = item.substr(0, colon);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  auto type = item.substr(colon + 1);
  type.remove_prefix(std::min(type.find_first_not_of(' '), type.size()));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  to.insert_or_assign(std::string{name}, (is_variable ? "var " : "") + std::string{type});
  return true;
}

// Calls `take` with each part that ends with a semicolon outside of brackets, or with the text or
// the bracket that it stands in. Returns where the last one ends.
template <class Take>
size_t for_each_part(string_view text, Take take) {
  size_t depth = 0, begin = 0, at = 0;
  for (; at < text.size(); ++at) {
    const auto c = text[at];
    const bool closes = c == '}' || c == ')' || c == ']';
    if (closes && depth == 0) break;
    if (c == '{' || c == '(' || c == '[') ++depth;
    if (closes) --depth;
    if (c != ';' || depth != 0) continue;
    take(text.substr(begin, at - begin));
    begin = at + 1;
  }
  take(text.substr(begin, at - begin));
  return at;
}

// The fields of a block, of which `text` is what follows its bracket; goes on behind it. None if
// there is something else in it, or it does not end.
std::optional<fields> read_block(string_view& text) {
  fields out;
  bool is_sound = true;
  const auto end =
    for_each_part(text, [&](string_view part) { is_sound = put_field(part, out) && is_sound; });
  if (!is_sound || end == text.size()) return std::nullopt;
  text.remove_prefix(end + 1);
  return out;
}

struct signature {
  fields taken; ///< what it can be upgraded from
  fields left;  ///< what it leaves
};

// `actor { … }` behind its types, or `actor ({ … }, { … })` of one that migrates; none if the text
// has another form.
std::optional<signature> read_signature(string_view whole) {
  const auto text = squeezed(whole);
  string_view actor;
  for_each_part(text, [&actor](string_view part) {
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    if (part.starts_with("actor ")) actor = part;
  });
  const bool migrates = actor.starts_with("actor ({");
  if (!migrates && !actor.starts_with("actor {")) return std::nullopt;
  actor.remove_prefix(actor.find('{') + 1);
  const auto taken = read_block(actor);
  if (!taken) return std::nullopt;
  if (!migrates) return signature{*taken, *taken};
  const auto second = actor.find('{');
  if (second == string_view::npos) return std::nullopt;
  actor.remove_prefix(second + 1);
  const auto left = read_block(actor);
  if (!left) return std::nullopt;
  return signature{*taken, *left};
}

} // namespace

std::string stable_differences(string_view before, string_view after) {
  const auto old = read_signature(before);
  const auto now = read_signature(after);
  if (!old || !now) return {};
  std::string out;
  const auto add = [&out](std::string what) { out += (out.empty() ? "" : "; ") + std::move(what); };
  for (const auto& [name, type] : old->left) {
    const auto at = now->taken.find(name);
    if (at == now->taken.end()) {
      add(fmt::format("{} is gone", name));
    } else if (at->second != type) {
      add(fmt::format("{} was {} and is {}", name, type, at->second));
    }
  }
  return out;
}

} // namespace moxzi::actors
