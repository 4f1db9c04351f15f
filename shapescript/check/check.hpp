#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "shapescript/report/diagnostic.hpp"

namespace shapescript {

struct typed_tree;

/// Gives the text of another program that is imported, by its path.
using program_loader = std::function<moxzi::result<source>(const std::string& path)>;

/// What a check found, in the order of the source: nothing if the program is right.
struct checked {
  std::vector<diagnostic> diagnostics;
  std::shared_ptr<const typed_tree> program = {}; ///< of `analyze` only

  bool has_errors() const noexcept;
};

/// Checks a program whole: names, sizes, types, `mut`, and where work is done. Programs that it
/// imports are looked for beside it, by `load`. Without a loader an import is an unknown name.
///
/// One mistake gives one report: what depends on a reported mistake is not reported again. At most
/// `reports_max` are kept.
checked check(const source& text, const program_loader& load = {});

/// The same, and keeps what it found out: types, names and their uses. For lowering and editors.
checked analyze(const source& text, const program_loader& load = {});

} // namespace shapescript
