#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shapescript/report/source.hpp"

namespace shapescript {

enum class severity : uint8_t { error, warning };

/// A marked piece of the source with what is to be said about it.
struct label {
  span where;
  std::string text;
  bool primary = false; ///< carets instead of dashes; gives the diagnostic its place
};

/// A change that mends the fault when applied as it is.
struct fix {
  span where;
  std::string text; ///< what stands there afterwards
};

/// What is wrong, as data. The terminal, JSON and the editor are renderings of this one object.
///
/// The message starts in lower case, ends without a full stop, and says what was seen; backquotes
/// enclose code. Exactly one label is primary.
struct diagnostic {
  std::string code; ///< `E0408`, `W0201`: one of `all_codes()`
  severity level = severity::error;
  std::string message;
  std::vector<label> labels;
  std::vector<std::string> notes;
  std::vector<std::string> help;
  std::vector<fix> fixes;

  const label& primary() const;
};

/// How many reports a program gets; after that nobody reads on.
inline constexpr size_t reports_max = 100;

/// Puts diagnostics in the order of their places in the source.
void sort_by_place(std::vector<diagnostic>& all);

/// A code and what it stands for.
struct registered_code {
  std::string_view code;
  std::string_view title;
};

/// Every code that a diagnostic may have (`diagnostic.def`), sorted.
std::span<const registered_code> all_codes() noexcept;

} // namespace shapescript
