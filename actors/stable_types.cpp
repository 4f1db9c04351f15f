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

// `stable var name : type`.
void put_field(string_view item, fields& to) {
  constexpr string_view word = "stable ";
  item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
  if (!item.starts_with(word)) return;
  item.remove_prefix(word.size());
  const bool is_variable = item.starts_with("var ");
  if (is_variable) item.remove_prefix(4);
  const auto colon = item.find(':');
  if (colon == string_view::npos) return;
  auto name = item.substr(0, colon);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  auto type = item.substr(colon + 1);
  type.remove_prefix(std::min(type.find_first_not_of(' '), type.size()));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  to.insert_or_assign(std::string{name}, (is_variable ? "var " : "") + std::string{type});
}

// The fields of `actor { … }`; none if the text has another form.
std::optional<fields> read_fields(string_view whole) {
  const auto text = squeezed(whole);
  const auto actor = text.find("actor {");
  if (actor == std::string::npos) return std::nullopt;
  fields out;
  size_t depth = 0;
  auto begin = actor + 7;
  for (auto at = begin; at < text.size(); ++at) {
    const auto c = text[at];
    if (c == '{' || c == '(' || c == '[') ++depth;
    const bool is_end = depth == 0 && c == '}';
    if (is_end || (depth == 0 && c == ';')) {
      put_field(string_view{text}.substr(begin, at - begin), out);
      begin = at + 1;
    }
    if (is_end) return out;
    if (c == '}' || c == ')' || c == ']') --depth;
  }
  return std::nullopt;
}

} // namespace

std::string stable_differences(string_view before, string_view after) {
  const auto old = read_fields(before);
  const auto now = read_fields(after);
  if (!old || !now) return {};
  std::string out;
  const auto add = [&out](std::string what) { out += (out.empty() ? "" : "; ") + std::move(what); };
  for (const auto& [name, type] : *old) {
    const auto at = now->find(name);
    if (at == now->end()) {
      add(fmt::format("{} is gone", name));
    } else if (at->second != type) {
      add(fmt::format("{} was {} and is {}", name, type, at->second));
    }
  }
  return out;
}

} // namespace moxzi::actors
