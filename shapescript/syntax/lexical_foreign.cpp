#include <algorithm>

#include "shapescript/syntax/lexical.hpp"

namespace shapescript {

namespace {

constexpr std::string_view blanks = " \t\r";

// Each looks no further than it must: a line may be long, and have many of these.

std::string_view first_line(std::string_view text) {
  return text.substr(0, std::min(text.find('\n'), text.size()));
}

// Whether nothing but a comment follows in the line.
bool ends_line(std::string_view rest) {
  const auto at = rest.find_first_not_of(blanks);
  return at == rest.npos || rest[at] == '#' || rest[at] == '\n';
}

// Whether nothing stands before in the line.
bool begins_line(std::string_view before) {
  const auto last = before.find_last_not_of(blanks);
  return last == before.npos || before[last] == '\n';
}

size_t spaces_at_end(std::string_view text) {
  const auto last = text.find_last_not_of(' ');
  return last == text.npos ? text.size() : text.size() - last - 1;
}

foreign word_for(std::string_view group, std::string_view text, std::string help,
                 token_kind reads_as = token_kind::bad) {
  const auto length = group.size();
  foreign out{group, length, length, std::move(help)};
  out.reads_as = reads_as;
  out.mends = true;
  out.replaced = length;
  out.text = text;
  return out;
}

std::optional<foreign> quoted(std::string_view text) {
  const auto close = text.find_first_of("'\n", 1);
  foreign out{"'", 1, 1, "strings are written in double quotes"};
  if (close == text.npos || text[close] == '\n') return out;
  const auto inner = text.substr(1, close - 1);
  out.length = out.replaced = close + 1;
  out.reads_as = token_kind::string;
  out.mends = inner.find('"') == inner.npos && inner.find('\\') == inner.npos;
  out.text = "\"" + std::string{inner} + "\"";
  return out;
}

std::optional<foreign> docstring(std::string_view text) {
  const auto close = text.find("\"\"\"", 3);
  if (close == text.npos) return std::nullopt;
  foreign out{"\"\"\"", close + 3, 3, "a comment begins with `#` in each of its lines"};
  out.silent = true;
  return out;
}

std::optional<foreign> brace(std::string_view text, std::string_view before) {
  foreign out{"{}", 1, 1, "a block begins after `:` and is what is indented"};
  const auto rest = text.substr(1);
  if (text.front() == '{' && ends_line(rest) && !begins_line(before)) {
    out.before = spaces_at_end(before);
    out.mends = true;
    out.text = ":";
    out.reads_as = token_kind::colon;
  } else if (text.front() == '}' && begins_line(before)) {
    const auto next = rest.find_first_not_of(blanks);
    const bool goes_on = next != rest.npos && rest.substr(next).starts_with("else");
    if (!ends_line(rest) && !goes_on) return out;
    // The line goes with it, or what follows takes its place.
    out.replaced = 1 + (goes_on ? next : first_line(rest).size());
    out.mends = true;
    if (!goes_on) out.before = before.size() - (before.rfind('\n') + 1);
    out.silent = true;
  }
  return out;
}

std::optional<foreign> semicolon(std::string_view text, std::string_view before) {
  foreign out{";", 1, 1, "a line is a statement; nothing ends it"};
  out.silent = out.mends = ends_line(text.substr(1)) && !begins_line(before);
  return out;
}

} // namespace

std::optional<foreign> foreign_at(std::string_view text, std::string_view before) {
  switch (text.front()) {
    case '\'':
      return quoted(text);
    case '"':
      return docstring(text);
    case '{':
    case '}':
      return brace(text, before);
    case ';':
      return semicolon(text, before);
    case '&':
      if (text.starts_with("&&")) return word_for("&&", "and", "write `and`");
      return foreign{"&", 1, 1, "conditions are joined by `and`, masks by `*` of their numbers"};
    case '|':
      if (text.starts_with("||")) return word_for("||", "or", "write `or`");
      return std::nullopt;
    case '^':
      return word_for("^", "**", "a power is `**`", token_kind::power);
    case '~':
      return word_for("~", "!", "a mask is negated by `!`");
    default:
      return std::nullopt;
  }
}

size_t escape_bytes(std::string_view text) noexcept {
  if (text.size() < 2) return 0;
  if (std::string_view{"nt\\\"{"}.find(text[1]) != std::string_view::npos) return 2;
  if (text[1] != 'u' || text.size() < 3 || text[2] != '{') return 0;
  const auto digit = [](char c) -> int {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  uint32_t value = 0;
  size_t i = 3;
  for (; i < text.size() && i < 10 && digit(text[i]) >= 0; ++i)
    value = value * 16 + static_cast<uint32_t>(digit(text[i]));
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  const bool whole = i > 3 && i < text.size() && text[i] == '}';
  return whole && value <= 0x10FFFF && !surrogate ? i + 1 : 0;
}

namespace {

// Whether the text after a name at the start of a line is `, name ... =`.
bool assigns(std::string_view rest) noexcept {
  size_t i = 0;
  while (i < rest.size()
         && (rest[i] == ' ' || rest[i] == ',' || rest[i] == '.' || is_letter(rest[i])
             || is_digit(rest[i])))
    ++i;
  if (i < rest.size() && std::string_view{"+-*/"}.find(rest[i]) != rest.npos) ++i;
  return i < rest.size() && rest[i] == '='
         && !(i + 1 < rest.size() && (rest[i + 1] == '=' || rest[i + 1] == '>'));
}

} // namespace

bool begins_new_statement(std::string_view rest, bool after_operand) noexcept {
  size_t n = 0;
  while (n < rest.size() && (is_letter(rest[n]) || is_digit(rest[n]))) ++n;
  const auto word = rest.substr(0, n);
  size_t next = n;
  while (next < rest.size() && rest[next] == ' ') ++next;
  const bool name_follows = next > n && next < rest.size() && is_letter(rest[next]);
  switch (word_kind(word)) {
    case token_kind::kw_for:
    case token_kind::kw_while:
    case token_kind::kw_if:
    case token_kind::kw_elif:
    case token_kind::kw_else:
    case token_kind::kw_return:
    case token_kind::kw_break:
    case token_kind::kw_continue:
    case token_kind::kw_pass:
      return true;
    case token_kind::kw_fn:
      return name_follows;
    case token_kind::name:
      break;
    default:
      return false;
  }
  if (n == 0) return false;
  const bool declares = word == "dim" || word == "model" || word == "data" || word == "devices"
                        || word == "extern" || word == "import" || word == "param"
                        || word == "buffer" || word == "layer";
  if (declares && (name_follows || rest.substr(next).starts_with("fn "))) return true;
  return after_operand && assigns(rest.substr(n));
}

} // namespace shapescript
