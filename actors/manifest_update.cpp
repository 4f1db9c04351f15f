#include <boost/json.hpp>

#include "actors/json_spans.hpp"
#include "actors/manifest.hpp"
#include "base/reject.hpp"

namespace moxzi::actors {

namespace {

using std::string_view;

std::string entry_text(const manifest_actor& entry) {
  auto text =
    fmt::format("{{\"name\": {}, \"wasm\": {}", json_quote(entry.name), json_quote(entry.wasm));
  if (entry.did) text += fmt::format(", \"did\": {}", json_quote(*entry.did));
  return text + "}";
}

std::string string_at(string_view text, const json_span& span) {
  auto value =
    boost::json::parse(boost::json::string_view{text.data() + span.value, span.end - span.value});
  return value.is_string() ? std::string{value.get_string().c_str()} : std::string{};
}

const json_span* find_key(const std::vector<json_span>& parts, string_view key) {
  for (const auto& part : parts)
    if (part.key == key) return &part;
  return nullptr;
}

void replace_value(std::string& text, const json_span& span, string_view value) {
  text.replace(span.value, span.end - span.value, value);
}

// Adds a part at the end of the object or array at `open`, laid out as the last one before it.
void append_part(std::string& text, size_t open, const std::string& part) {
  auto parts = json_parts(text, open);
  if (parts.empty()) {
    auto close = skip_json_space(text, open + 1);
    text.replace(open + 1, close - open - 1, part);
    return;
  }
  auto line = text.rfind('\n', parts.back().begin);
  auto first = line == std::string::npos ? std::string::npos : skip_json_space(text, line);
  auto own_line = first == parts.back().begin;
  auto separator = own_line ? "," + text.substr(line, first - line) : ", ";
  text.insert(parts.back().end, separator + part);
}

// Sets one key of the object at `open`.
void set_key(std::string& text, size_t open, string_view key, string_view value) {
  auto parts = json_parts(text, open);
  if (const auto* found = find_key(parts, key)) {
    if (string_at(text, *found) != value) replace_value(text, *found, json_quote(value));
    return;
  }
  append_part(text, open, fmt::format("{}: {}", json_quote(key), json_quote(value)));
}

// The list of the second and third shape.
void update_list(std::string& text, size_t open, const manifest& known,
                 const manifest_actor& entry) {
  auto parts = json_parts(text, open);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (known.actors[i].name != entry.name) continue;
    if (text[parts[i].value] != '{') {
      if (known.actors[i].wasm != entry.wasm) replace_value(text, parts[i], entry_text(entry));
      return;
    }
    set_key(text, parts[i].value, "wasm", entry.wasm);
    if (entry.did) set_key(text, parts[i].value, "did", *entry.did);
    return;
  }
  append_part(text, open, entry_text(entry));
}

} // namespace

result<std::string> with_actor(string_view text, string_view path, const manifest_actor& entry) {
  if (skip_json_space(text, 0) == text.size())
    return fmt::format("{{\n  \"version\": 1,\n  \"actors\": [\n    {}\n  ]\n}}\n",
                       entry_text(entry));
  auto known = parse_manifest(text, path);
  if (!known) return known.error();
  std::string out{text};
  auto open = skip_json_space(out, 0);
  if (out[open] == '[') {
    update_list(out, open, *known, entry);
  } else {
    auto parts = json_parts(out, open);
    const auto* list = find_key(parts, "actors");
    if (list != nullptr && out[list->value] == '[')
      update_list(out, list->value, *known, entry);
    else
      set_key(out, open, entry.name, entry.wasm);
  }
  // What was written must read back as meant (a pinned id may clash, say).
  if (auto good = parse_manifest(out, path); !good) return good.error();
  return out;
}

} // namespace moxzi::actors
