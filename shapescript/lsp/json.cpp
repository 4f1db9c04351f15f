#include "shapescript/lsp/json.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

namespace shapescript::lsp {

namespace {

// The protocol's largest number.
constexpr uint32_t count_max = 0x7FFF'FFFF;

// The code unit of a `\\uXXXX` at a place, or nothing.
std::optional<uint32_t> unit_at(std::string_view text, size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  uint32_t unit = 0;
  const auto digits = text.substr(at + 2, 4);
  const auto [end, failed] =
    std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
  if (failed != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return unit;
}

bool is_high(uint32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}

bool is_low(uint32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

std::string without_halves(std::string_view text) {
  std::string out{text};
  for (size_t i = 0; i + 1 < out.size(); ++i) {
    if (out[i] != '\\') continue;
    const auto unit = unit_at(out, i);
    const auto next = unit_at(out, i + 6);
    if (unit && is_high(*unit) && next && is_low(*next))
      i += 11;
    else if (unit && (is_high(*unit) || is_low(*unit)))
      out.replace(i, 6, "\\uFFFD");
    else
      ++i; // what is escaped
  }
  return out;
}

} // namespace

json::value read_json(std::string_view text, json::error_code& failed) {
  auto out = json::parse(text, failed);
  if (!failed) return out;
  json::error_code still;
  out = json::parse(without_halves(text), still);
  if (!still) failed = {};
  return out;
}

const json::value* member(const json::value& from, std::string_view name) noexcept {
  const auto* object = from.if_object();
  return object == nullptr ? nullptr : object->if_contains(name);
}

std::optional<std::string_view> text_member(const json::value& from,
                                            std::string_view name) noexcept {
  const auto* found = member(from, name);
  const auto* text = found == nullptr ? nullptr : found->if_string();
  if (text == nullptr) return std::nullopt;
  return std::string_view{text->data(), text->size()};
}

std::optional<uint32_t> count_member(const json::value& from, std::string_view name) noexcept {
  const auto* found = member(from, name);
  if (found == nullptr) return std::nullopt;
  if (const auto* small = found->if_int64()) {
    if (*small < 0) return std::nullopt;
    return static_cast<uint32_t>(std::min<int64_t>(*small, count_max));
  }
  if (found->is_uint64()) return count_max;
  return std::nullopt;
}

bool flag_member(const json::value& from, std::string_view name) noexcept {
  const auto* found = member(from, name);
  const auto* flag = found == nullptr ? nullptr : found->if_bool();
  return flag != nullptr && *flag;
}

std::optional<place> read_place(const json::value& from) noexcept {
  const auto line = count_member(from, "line");
  const auto column = count_member(from, "character");
  if (!line || !column) return std::nullopt;
  return place{*line, *column};
}

std::optional<place_range> read_range(const json::value& from) noexcept {
  const auto* start = member(from, "start");
  const auto* end = member(from, "end");
  if (start == nullptr || end == nullptr) return std::nullopt;
  const auto first = read_place(*start);
  const auto last = read_place(*end);
  if (!first || !last) return std::nullopt;
  return place_range{*first, *last};
}

json::object to_json(const place& what) {
  return {{"line", what.line}, {"character", what.column}};
}

json::object to_json(const place_range& what) {
  return {{"start", to_json(what.start)}, {"end", to_json(what.end)}};
}

} // namespace shapescript::lsp
