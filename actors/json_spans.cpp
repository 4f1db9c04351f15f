#include "actors/json_spans.hpp"

#include <boost/json.hpp>

namespace moxzi::actors {

namespace {

size_t end_of_string(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

// One past the value that starts at `at`.
size_t end_of_value(std::string_view text, size_t at) {
  size_t depth = 0;
  while (at < text.size()) {
    auto c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      if (depth == 0) return at;
      continue;
    }
    if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at; // a number or word ended by what encloses it
      if (--depth == 0) return at + 1;
    } else if (depth == 0 && (c == ',' || skip_json_space(text, at) != at)) {
      return at;
    }
    ++at;
  }
  return at;
}

} // namespace

size_t skip_json_space(std::string_view text, size_t from) noexcept {
  auto at = text.find_first_not_of(" \t\r\n", from);
  return at == std::string_view::npos ? text.size() : at;
}

std::vector<json_span> json_parts(std::string_view text, size_t open) {
  std::vector<json_span> parts;
  auto keyed = text[open] == '{';
  auto at = skip_json_space(text, open + 1);
  while (at < text.size() && text[at] != '}' && text[at] != ']') {
    json_span part;
    part.begin = at;
    if (keyed) {
      auto end = end_of_string(text, at);
      part.key = boost::json::parse(boost::json::string_view{text.data() + at, end - at})
                   .as_string()
                   .c_str();
      at = skip_json_space(text, skip_json_space(text, end) + 1); // over the colon
    }
    part.value = at;
    part.end = end_of_value(text, at);
    at = skip_json_space(text, part.end);
    if (at < text.size() && text[at] == ',') at = skip_json_space(text, at + 1);
    parts.push_back(std::move(part));
  }
  return parts;
}

} // namespace moxzi::actors
