#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace moxzi::candid {

/// What came of a conformance file.
struct conformance_report {
  size_t passed = 0;
  size_t failed = 0;
  /// One line a failed statement: `line:column: description: reason`.
  std::vector<std::string> failures;
};

/// Runs a conformance file in the format of the public Candid test suite: type definitions, then
/// statements
///
///     assert INPUT : (types) "description";          decodes
///     assert INPUT !: (types) "description";         must not
///     assert INPUT == INPUT : (types) "description"; both decode, to the same; != to different
///     ones
///
/// where an input is `blob "…"` (a message) or `"…"` (text). Fails if the file itself is not of
/// that form.
result<conformance_report> run_conformance(std::string_view text);

} // namespace moxzi::candid
