#include <fmt/format.h>

#include "base/bytes.hpp"
#include "shapescript/report/render.hpp"

namespace shapescript {

namespace {

void add_string(std::string& out, std::string_view text) {
  out += '"';
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i];
    } else if (c < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04x}", c);
    } else if (c < 0x80) {
      out += text[i];
    } else {
      size_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
      if (i + length <= text.size() && moxzi::is_utf8(text.substr(i, length))) {
        out += text.substr(i, length);
        i += length - 1;
      } else {
        out += "\\ufffd";
      }
    }
  }
  out += '"';
}

std::string place(span where, const source& text) {
  const auto begin = text.position_of(where.begin);
  const auto end = text.position_of(where.end);
  return fmt::format(R"("line":{},"col":{},"end_line":{},"end_col":{})", begin.line, begin.column,
                     end.line, end.column);
}

void add_strings(std::string& out, const char* name, const std::vector<std::string>& all) {
  out += fmt::format(R"(,"{}":[)", name);
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0) out += ',';
    add_string(out, all[i]);
  }
  out += ']';
}

} // namespace

std::string json_text(std::string_view text) {
  std::string out;
  add_string(out, text);
  return out;
}

std::string render_json(const diagnostic& what, const source& text) {
  std::string out = R"({"code":)";
  add_string(out, what.code);
  out += what.level == severity::error ? R"(,"severity":"error","message":)"
                                       : R"(,"severity":"warning","message":)";
  add_string(out, what.message);
  out += R"(,"file":)";
  add_string(out, text.name());
  out += "," + place(what.primary().where, text) + R"(,"labels":[)";
  for (size_t i = 0; i < what.labels.size(); ++i) {
    const auto& one = what.labels[i];
    if (i > 0) out += ',';
    out += "{" + place(one.where, text) + R"(,"text":)";
    add_string(out, one.text);
    out += one.primary ? R"(,"primary":true})" : R"(,"primary":false})";
  }
  out += ']';
  add_strings(out, "notes", what.notes);
  add_strings(out, "help", what.help);
  out += R"(,"fixes":[)";
  for (size_t i = 0; i < what.fixes.size(); ++i) {
    if (i > 0) out += ',';
    out += R"({"range":{)" + place(what.fixes[i].where, text) + R"(},"text":)";
    add_string(out, what.fixes[i].text);
    out += '}';
  }
  out += "]}";
  return out;
}

} // namespace shapescript
