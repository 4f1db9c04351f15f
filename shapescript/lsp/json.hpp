#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <boost/json.hpp>

#include "shapescript/lsp/document.hpp"

namespace shapescript::lsp {

namespace json = boost::json;

/// A text as JSON. Half of a surrogate pair, which an editor may send while a character is typed,
/// is read as U+FFFD.
json::value read_json(std::string_view text, json::error_code& failed);

/// The member of an object; nothing if `from` is no object or has none of the name.
const json::value* member(const json::value& from, std::string_view name) noexcept;

/// A member's text; nothing if it is no string.
std::optional<std::string_view> text_member(const json::value& from,
                                            std::string_view name) noexcept;

/// A member that counts lines or columns; what is too large counts as the largest.
std::optional<uint32_t> count_member(const json::value& from, std::string_view name) noexcept;

/// A member that is true; one that is absent or no bool counts as false.
bool flag_member(const json::value& from, std::string_view name) noexcept;

/// `{"line": 0, "character": 0}`
std::optional<place> read_place(const json::value& from) noexcept;

/// `{"start": PLACE, "end": PLACE}`
std::optional<place_range> read_range(const json::value& from) noexcept;

json::object to_json(const place& what);
json::object to_json(const place_range& what);

} // namespace shapescript::lsp
