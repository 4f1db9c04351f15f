#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shapescript/check/types.hpp"
#include "shapescript/report/source.hpp"

namespace shapescript {

/// A model, or a part of one, that a name stands for. Assigning a model copies nothing: it makes a
/// second name for it.
struct place {
  uint32_t root = 0;              ///< the variable it began as, in the checker's list
  std::vector<std::string> steps; ///< fields and indices from there
  auto operator<=>(const place&) const = default;
};

/// What is known of a local at a point of the program.
struct local_state {
  uint32_t local = 0; ///< which variable, in the checker's list
  type what;
  bool maybe = false; ///< assigned on some paths only
  span assigned;
  std::vector<place> places; ///< what a model that it is may be, in order
};

/// What a path changed: the states at its end.
using path_changes = std::map<std::string_view, local_state>;

/// The locals at a point of the program. Paths are followed one after the other, and only what each
/// changes is kept, so that a branch costs what is in it and not what is around it.
class locals {
public:
  bool contains(std::string_view name) const;
  const local_state* find(std::string_view name) const;
  std::vector<std::string_view> names() const;
  void set(std::string_view name, local_state state);
  void erase(std::string_view name);
  void clear();

  /// Begins a path; its number says how many are begun.
  size_t begin_path();
  /// What was changed since a path began, up to here.
  path_changes changes_since(size_t path) const;
  /// Ends the path begun last: all is as it was at its begin.
  path_changes end_path();

private:
  void note(std::string_view name);

  std::map<std::string_view, local_state> current_;
  std::vector<std::map<std::string_view, std::optional<local_state>>> before_; // of open paths
};

} // namespace shapescript
