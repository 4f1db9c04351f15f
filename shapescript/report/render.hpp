#pragma once

#include <span>
#include <string>
#include <string_view>

#include "shapescript/report/diagnostic.hpp"

namespace shapescript {

/// A diagnostic as a terminal shows it, in the layout that rustc made known: message, place, the
/// marked source lines, notes and help, and a pointer to `explain`. Ends with a line end.
///
/// Wide characters count two columns, tabs are shown as four spaces, control characters and bytes
/// that are no UTF-8 as U+FFFD; of a very long line only the part around the labels is shown.
std::string render_text(const diagnostic& what, const source& text, bool color);

/// All of a file's diagnostics, an empty line between them, and a summary if there are several.
std::string render_text(std::span<const diagnostic> all, const source& text, bool color);

/// A diagnostic as one line of JSON, without the line end; lines and columns count from 1.
std::string render_json(const diagnostic& what, const source& text);

/// Text as a JSON string, with its quotes; bytes that are no UTF-8 become U+FFFD.
std::string json_text(std::string_view text);

/// Columns that a terminal needs for a character: 0 (combining), 1 or 2 (wide).
int columns_of(char32_t character) noexcept;

} // namespace shapescript
