#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shapescript/report/source.hpp"

namespace shapescript {

/// A source line as it is drawn: what is shown, and at which display column each byte stands.
struct drawn_line {
  std::string shown;
  std::vector<uint32_t> columns; ///< of each byte of the line, and of its end

  /// Expands tabs and replaces what cannot be shown.
  explicit drawn_line(std::string_view line);

  /// Keeps display columns `[begin, end)`, with `...` where something is cut off.
  void cut(uint32_t begin, uint32_t end);

  uint32_t width() const {
    return columns.back();
  }
};

} // namespace shapescript
