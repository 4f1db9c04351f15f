#include "shapescript/syntax/lexical.hpp"

#include <array>

namespace shapescript {

namespace {

constexpr std::array keywords{
  spelling{"fn", token_kind::kw_fn},         spelling{"mut", token_kind::kw_mut},
  spelling{"for", token_kind::kw_for},       spelling{"in", token_kind::kw_in},
  spelling{"while", token_kind::kw_while},   spelling{"if", token_kind::kw_if},
  spelling{"elif", token_kind::kw_elif},     spelling{"else", token_kind::kw_else},
  spelling{"return", token_kind::kw_return}, spelling{"break", token_kind::kw_break},
  spelling{"pass", token_kind::kw_pass},     spelling{"continue", token_kind::kw_continue},
  spelling{"and", token_kind::kw_and},       spelling{"or", token_kind::kw_or},
  spelling{"not", token_kind::kw_not},       spelling{"as", token_kind::kw_as},
  spelling{"true", token_kind::kw_true},     spelling{"false", token_kind::kw_false}};

} // namespace

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

size_t character_bytes(std::string_view text) noexcept {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const auto second = byte(1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;
  if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
  return length;
}

bool is_comparison(token_kind kind) noexcept {
  switch (kind) {
    case token_kind::equal:
    case token_kind::not_equal:
    case token_kind::less:
    case token_kind::less_equal:
    case token_kind::greater:
    case token_kind::greater_equal:
      return true;
    default:
      return false;
  }
}

token_kind word_kind(std::string_view word) noexcept {
  for (const auto& [text, kind] : keywords)
    if (text == word) return kind;
  return token_kind::name;
}

std::optional<spelling> operator_at(std::string_view text) noexcept {
  constexpr auto first = static_cast<int>(token_kind::ellipsis);
  constexpr auto last = static_cast<int>(token_kind::close_bracket);
  constexpr std::string_view starts = ".|-=!<>+*/%@,:()[]";
  if (text.empty() || starts.find(text.front()) == starts.npos) return std::nullopt;
  for (int i = first; i <= last; ++i) {
    const auto kind = static_cast<token_kind>(i);
    auto quoted = describe(kind);
    const auto plain = quoted.substr(1, quoted.size() - 2);
    if (text.starts_with(plain)) return spelling{plain, kind};
  }
  return std::nullopt;
}

} // namespace shapescript
