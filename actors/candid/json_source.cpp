#include "actors/candid/json_source.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "actors/candid/errc.hpp"
#include "base/bytes.hpp"
#include "base/limits.hpp"

namespace moxzi::candid {

namespace {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool ends_number(char c) {
  return std::string_view{",]}: \t\r\n"}.find(c) != std::string_view::npos;
}

void append_utf8(std::string& out, uint32_t point) {
  const auto put = [&out](uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xC0 | point >> 6);
  } else {
    if (point < 0x10000) {
      put(0xE0 | point >> 12);
    } else {
      put(0xF0 | point >> 18);
      put(0x80 | (point >> 12 & 0x3F));
    }
    put(0x80 | (point >> 6 & 0x3F));
  }
  put(0x80 | (point & 0x3F));
}

} // namespace

bool json_source::fail(std::string_view reason) {
  if (failure_.empty()) {
    const auto before = text_.substr(0, at_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto start = before.rfind('\n');
    const auto column = 1 + at_ - (start == std::string_view::npos ? 0 : start + 1);
    failure_ = fmt::format("JSON {}:{}: {}", line, column, reason);
  }
  return false;
}

char json_source::peek() noexcept {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return c;
    ++at_;
  }
  return '\0';
}

bool json_source::accept(char c) noexcept {
  if (peek() != c || at_ == text_.size()) return false;
  ++at_;
  return true;
}

bool json_source::expect(char c) {
  if (accept(c)) return true;
  if (at_ == text_.size()) return fail(fmt::format("expected '{}', got the end", c));
  return fail(fmt::format("expected '{}', got '{}'", c, glimpse()));
}

bool json_source::accept_word(std::string_view word) noexcept {
  peek();
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

bool json_source::enter() {
  if (++depth_ <= limits::json_depth_max) return true;
  return fail(fmt::format("nested deeper than {}", limits::json_depth_max));
}

bool json_source::code_unit(uint32_t& out) {
  out = 0;
  const auto digits = text_.substr(at_, 4);
  if (digits.size() < 4) return fail("expected four hexadecimal digits");
  for (const char c : digits) {
    const auto lower = static_cast<char>(c | 0x20);
    if (!is_digit(c) && (lower < 'a' || lower > 'f')) {
      return fail("expected four hexadecimal digits");
    }
    out = out * 16 + static_cast<uint32_t>(is_digit(c) ? c - '0' : lower - 'a' + 10);
  }
  at_ += 4;
  return true;
}

bool json_source::escape(std::string& out) {
  const char c = at_ < text_.size() ? text_[at_++] : '\0';
  constexpr std::string_view names = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  if (const auto index = names.find(c); c != '\0' && index != std::string_view::npos) {
    out += meanings[index];
    return true;
  }
  if (c != 'u') return fail("an escape that does not exist");
  uint32_t point = 0;
  if (!code_unit(point)) return false;
  if (point >= 0xD800 && point < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
    at_ += 2;
    uint32_t low = 0;
    if (!code_unit(low)) return false;
    if (low < 0xDC00 || low > 0xDFFF) return fail("half of a surrogate pair");
    point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
  }
  if (point >= 0xD800 && point < 0xE000) return fail("half of a surrogate pair");
  append_utf8(out, point);
  return true;
}

bool json_source::string(std::string& out) {
  out.clear();
  if (!expect('"')) return false;
  for (;;) {
    auto run = at_;
    while (run < text_.size() && text_[run] != '"' && text_[run] != '\\'
           && static_cast<uint8_t>(text_[run]) >= 0x20) {
      ++run;
    }
    out.append(text_.substr(at_, run - at_));
    at_ = run;
    if (at_ == text_.size()) return fail("a string that does not end");
    if (text_[at_] == '"') break;
    if (text_[at_] != '\\') return fail("a control character in a string");
    ++at_;
    if (!escape(out)) return false;
  }
  ++at_;
  return is_utf8(out) || fail("a string that is not UTF-8");
}

bool json_source::number(std::string_view& out) {
  peek();
  const auto start = at_;
  const auto digits = [this] {
    const auto first = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > first;
  };
  const auto next = [this] { return at_ < text_.size() ? text_[at_] : '\0'; };
  if (next() == '-') ++at_;
  const bool zero = next() == '0';
  const auto first = at_;
  if (!digits()) return fail(fmt::format("expected a number, got '{}'", glimpse()));
  if (zero && at_ - first > 1) return fail("a number that begins with 0");
  if (next() == '.') {
    ++at_;
    if (!digits()) return fail("a number that ends with a point");
  }
  if (next() == 'e' || next() == 'E') {
    ++at_;
    if (next() == '+' || next() == '-') ++at_;
    if (!digits()) return fail("a number without its exponent");
  }
  out = text_.substr(start, at_ - start);
  return true;
}

bool json_source::skip_object() {
  std::set<std::string> keys;
  if (!expect('{')) return false;
  if (accept('}')) return true;
  do {
    std::string key;
    if (!string(key) || !expect(':') || !skip()) return false;
    if (!keys.insert(key).second) return fail(fmt::format("key \"{}\" twice", key));
  } while (accept(','));
  return expect('}');
}

bool json_source::skip_array() {
  if (!expect('[')) return false;
  if (accept(']')) return true;
  do {
    if (!skip()) return false;
  } while (accept(','));
  return expect(']');
}

bool json_source::skip() {
  std::string text;
  std::string_view digits;
  switch (peek()) {
    case '{':
    case '[': {
      if (!enter()) return false;
      const bool ok = peek() == '{' ? skip_object() : skip_array();
      leave();
      return ok;
    }
    case '"':
      return string(text);
    case 't':
      return accept_word("true") || fail("expected true");
    case 'f':
      return accept_word("false") || fail("expected false");
    case 'n':
      return accept_word("null") || fail("expected null");
    default:
      return number(digits);
  }
}

std::string json_source::glimpse() {
  constexpr size_t shown_max = 32;
  peek();
  if (at_ == text_.size()) return "the end";
  auto rest = text_.substr(at_);
  size_t n = 1;
  bool is_cut = false;
  if (rest.front() == '"') {
    while (n < rest.size() && n < shown_max && rest[n] != '"') n += rest[n] == '\\' ? 2 : 1;
    n = std::min(n + 1, rest.size());
    is_cut = rest[n - 1] != '"';
  } else if (rest.front() != '{' && rest.front() != '[') {
    while (n < rest.size() && n < shown_max && !ends_number(rest[n])) ++n;
    is_cut = n == shown_max && n < rest.size() && !ends_number(rest[n]);
  } else {
    return rest.front() == '{' ? "an object" : "an array";
  }
  return excerpt(rest.substr(0, is_cut ? n + 1 : n), n);
}

std::optional<uint32_t> id_of_key(std::string_view key) noexcept {
  if (key.size() < 3 || key.size() > 12 || key.front() != '_' || key.back() != '_') return {};
  key = key.substr(1, key.size() - 2);
  if (key.front() == '0' && key.size() > 1) return {};
  uint64_t id = 0;
  for (const char c : key) {
    if (c < '0' || c > '9') return {};
    id = id * 10 + static_cast<uint64_t>(c - '0');
  }
  if (id > UINT32_MAX) return {};
  return static_cast<uint32_t>(id);
}

void append_json_string(std::string& out, std::string_view text) {
  const auto plain = [](char c) {
    return static_cast<uint8_t>(c) >= 0x20 && c != '"' && c != '\\';
  };
  out += '"';
  while (!text.empty()) {
    size_t run = 0;
    while (run < text.size() && plain(text[run])) ++run;
    out.append(text.substr(0, run));
    text.remove_prefix(run);
    if (text.empty()) break;
    const char c = text.front();
    text.remove_prefix(1);
    constexpr std::string_view named = "\"\\\n\r\t";
    constexpr std::string_view letters = "\"\\nrt";
    if (const auto index = named.find(c); index != std::string_view::npos) {
      out += '\\';
      out += letters[index];
    } else {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<uint8_t>(c));
    }
  }
  out += '"';
}

} // namespace moxzi::candid
