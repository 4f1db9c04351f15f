#include "actors/candid/lexer.hpp"

#include <algorithm>
#include <array>

#include "base/bytes.hpp"
#include "base/limits.hpp"

namespace moxzi::candid {

namespace {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_utf8(std::string& out, uint32_t point) {
  const auto put = [&out](uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | point >> 6);
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3F));
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

constexpr std::array<std::string_view, 32> keywords{"blob",    "bool",      "composite_query",
                                                    "empty",   "false",     "float32",
                                                    "float64", "func",      "import",
                                                    "int",     "int16",     "int32",
                                                    "int64",   "int8",      "nat",
                                                    "nat16",   "nat32",     "nat64",
                                                    "nat8",    "null",      "oneway",
                                                    "opt",     "principal", "query",
                                                    "record",  "reserved",  "service",
                                                    "text",    "true",      "type",
                                                    "variant", "vec"};

} // namespace

lexer::lexer(std::string_view text) : text_(text) {
  current_ = scan();
}

const token& lexer::peek_second() {
  if (!has_second_) {
    second_ = scan();
    has_second_ = true;
  }
  return second_;
}

token lexer::take() {
  auto taken = std::move(current_);
  current_ = has_second_ ? std::move(second_) : scan();
  has_second_ = false;
  return taken;
}

bool lexer::accept(std::string_view raw) {
  if (!is(raw)) return false;
  take();
  return true;
}

bool lexer::expect(std::string_view raw) {
  return accept(raw) || fail_expected(fmt::format("'{}'", raw));
}

error error_at(std::string_view text, size_t offset, candid_errc code, std::string_view reason) {
  const auto before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto start = before.rfind('\n');
  // Columns are characters: bytes that go on with one do not count.
  const auto on_line = before.substr(start == std::string_view::npos ? 0 : start + 1);
  const auto column =
    1 + std::count_if(on_line.begin(), on_line.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return fail(code, "{}:{}: {}", line, column, reason);
}

bool lexer::fail_at(size_t offset, std::string_view reason) {
  if (!failed_) {
    failed_ = true;
    error_ = error_at(text_, offset, candid_errc::syntax, reason);
  }
  at_ = text_.size();
  current_ = token{.offset = text_.size()};
  has_second_ = false;
  return false;
}

bool lexer::fail_expected(std::string_view what) {
  const auto got = current_.kind == token::form::end ? std::string{"the end"}
                                                     : fmt::format("'{}'", excerpt(current_.raw));
  return fail_at(current_.offset, fmt::format("expected {}, got {}", what, got));
}

bool lexer::deeper() {
  if (++depth_ <= limits::candid_depth_max) return true;
  return fail_at(current_.offset, fmt::format("nested deeper than {}", limits::candid_depth_max));
}

bool lexer::skip_block_comment() {
  const auto start = at_;
  int open = 0;
  do {
    const auto rest = text_.substr(at_);
    if (rest.empty()) return fail_at(start, "a comment that does not end");
    if (rest.starts_with("/*")) {
      ++open;
      at_ += 2;
    } else if (rest.starts_with("*/")) {
      --open;
      at_ += 2;
    } else {
      ++at_;
    }
  } while (open > 0);
  return true;
}

bool lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const auto c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else if (text_.substr(at_).starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.substr(at_).starts_with("/*")) {
      if (!skip_block_comment()) return false;
    } else {
      return true;
    }
  }
  return true;
}

token lexer::scan() {
  if (failed_ || !skip_blanks()) return token{.offset = text_.size()};
  token out;
  out.offset = at_;
  if (at_ == text_.size()) return out;
  const auto rest = text_.substr(at_);
  const char c = rest.front();
  if (is_letter(c)) {
    size_t n = 1;
    while (n < rest.size() && (is_letter(rest[n]) || is_digit(rest[n]))) ++n;
    out.kind = token::form::name;
    out.raw = rest.substr(0, n);
    at_ += n;
    return out;
  }
  if (is_digit(c)) {
    scan_number(out);
    return out;
  }
  if (c == '"') {
    if (!scan_text(out)) return token{.offset = text_.size()};
    return out;
  }
  size_t n = 0;
  for (const std::string_view symbol : {"->", "==", "!=", "!:"}) {
    if (rest.starts_with(symbol)) n = symbol.size();
  }
  if (n == 0 && std::string_view{"(){}[];,:=.+-"}.find(c) != std::string_view::npos) n = 1;
  if (n == 0) {
    const auto printable = c >= 0x20 && c < 0x7F;
    fail_at(at_, printable ? fmt::format("'{}' begins nothing", c)
                           : fmt::format("byte {:#04x} begins nothing", static_cast<uint8_t>(c)));
    return token{.offset = text_.size()};
  }
  out.kind = token::form::symbol;
  out.raw = rest.substr(0, n);
  at_ += n;
  return out;
}

void lexer::scan_number(token& out) {
  const auto rest = text_.substr(at_);
  size_t n = 0;
  const bool hex = rest.starts_with("0x") || rest.starts_with("0X");
  const auto run = [&] {
    while (n < rest.size()
           && (rest[n] == '_' || (hex ? hex_value(rest[n]) >= 0 : is_digit(rest[n]))))
      ++n;
  };
  if (hex) n = 2;
  run();
  if (n < rest.size() && rest[n] == '.') {
    ++n;
    run();
  }
  const auto marks = hex ? std::string_view{"pP"} : std::string_view{"eE"};
  if (n < rest.size() && marks.find(rest[n]) != std::string_view::npos) {
    auto after = n + 1;
    if (after < rest.size() && (rest[after] == '+' || rest[after] == '-')) ++after;
    if (after < rest.size() && is_digit(rest[after])) {
      while (after < rest.size() && (is_digit(rest[after]) || rest[after] == '_')) ++after;
      n = after;
    }
  }
  // "12ab" is no number followed by a name.
  while (n < rest.size() && (is_letter(rest[n]) || is_digit(rest[n]))) ++n;
  out.kind = token::form::number;
  out.raw = rest.substr(0, n);
  at_ += n;
}

bool lexer::scan_text(token& out) {
  const auto start = at_++;
  out.kind = token::form::text;
  for (;;) {
    if (at_ == text_.size()) return fail_at(start, "a string that does not end");
    const char c = text_[at_];
    if (c == '"') break;
    if (static_cast<uint8_t>(c) < 0x20) {
      return fail_at(at_, c == '\n' ? "a string that does not end on its line"
                                    : "a control character in a string: write \\t, \\hh or \\u{…}");
    }
    if (c == '\\') {
      if (!scan_escape(out.bytes)) return false;
    } else {
      out.bytes += c;
      ++at_;
    }
  }
  ++at_;
  out.raw = text_.substr(start, at_ - start);
  return true;
}

bool lexer::scan_escape(std::string& out) {
  const auto rest = text_.substr(at_ + 1);
  const auto unknown = [&] { return fail_at(at_, "an escape that does not exist"); };
  if (rest.empty()) return unknown();
  constexpr std::string_view names = "nrt\\\"'";
  constexpr std::string_view meanings = "\n\r\t\\\"'";
  if (const auto index = names.find(rest.front()); index != std::string_view::npos) {
    out += meanings[index];
    at_ += 2;
    return true;
  }
  if (rest.size() >= 2 && hex_value(rest[0]) >= 0 && hex_value(rest[1]) >= 0) {
    out += static_cast<char>(hex_value(rest[0]) * 16 + hex_value(rest[1]));
    at_ += 3;
    return true;
  }
  if (!rest.starts_with("u{")) return unknown();
  uint32_t point = 0;
  size_t n = 2;
  bool any = false;
  for (; n < rest.size() && (rest[n] == '_' || hex_value(rest[n]) >= 0); ++n) {
    if (rest[n] == '_') continue;
    any = true;
    point = point * 16 + static_cast<uint32_t>(hex_value(rest[n]));
    if (point > 0x10FFFF) return fail_at(at_, "a code point above 10ffff");
  }
  if (!any || n == rest.size() || rest[n] != '}') return fail_at(at_, "expected \\u{hex digits}");
  if (point >= 0xD800 && point < 0xE000) return fail_at(at_, "a surrogate is no character");
  append_utf8(out, point);
  at_ += n + 2;
  return true;
}

// -- writing ------------------------------------------------------------------

bool is_plain_name(std::string_view name) noexcept {
  if (name.empty() || !is_letter(name.front())) return false;
  if (!std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); })) {
    return false;
  }
  return std::find(keywords.begin(), keywords.end(), name) == keywords.end();
}

namespace {

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    default:
      fmt::format_to(std::back_inserter(out), "\\{:02x}", static_cast<uint8_t>(c));
      break;
  }
}

} // namespace

std::string quoted(std::string_view text) {
  if (!is_utf8(text)) return quoted_bytes(text);
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x20 || byte == 0x7F || c == '"' || c == '\\') {
      append_escaped(out, c);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string quoted_bytes(std::string_view bytes) {
  std::string out = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x20 || byte >= 0x7F || c == '"' || c == '\\') {
      fmt::format_to(std::back_inserter(out), "\\{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

} // namespace moxzi::candid
