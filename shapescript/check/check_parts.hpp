#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "shapescript/check/locals.hpp"
#include "shapescript/check/typed_tree.hpp"
#include "shapescript/check/types.hpp"
#include "shapescript/report/diagnostic.hpp"
#include "shapescript/syntax/tree.hpp"

// What the checker keeps while it is at work; `checker.hpp` is its one user.

namespace shapescript {

/// A local variable, over all its assignments.
struct local_info {
  std::string_view name;
  span declared;
  bool parameter = false;
  bool is_mut = true;
  bool used = false;
  bool loop_variable = false;
  uint32_t group = 0; ///< names bound by one tuple assignment
  uint32_t name_at = no_index;
  uint32_t root = no_index; ///< its place in the list of roots
  bool widened = false;     ///< a host number that became a tensor
};

/// The paths that leave a loop by `break`, and those that begin its next round by `continue`.
struct loop_end {
  size_t path;
  std::vector<path_changes> breaks;
  std::vector<path_changes> continues;
  bool more = false; ///< there are paths that were not followed
};

/// So many paths of a loop are followed; of what more of them leave nothing is known.
inline constexpr size_t loop_paths_max = 64;
/// So many rounds of a loop are tried to find what each of them keeps, and loops in loops so deep.
inline constexpr int trial_rounds_max = 4;
inline constexpr int trials_deep_max = 3;

/// An argument as it reaches a call; the first one of a pipeline's stage has its type already.
struct call_argument {
  span where;
  span name;
  span mut;
  expr_id value = expr_id::none;
  bool piped = false;
  bool typed = false;
  type what;
};

struct call_site {
  span where;
  span callee;
  std::vector<call_argument> arguments;
  pattern_id patterns = pattern_id::none;
  std::map<symbol, span> given = {}; ///< the arguments that the callee's symbols come from
  expr_id self = expr_id::none;      ///< the model whose method is called
};

/// A place where a model of sizes is written, with the places of the sizes, or of its name alone.
struct model_place {
  uint32_t module;
  std::vector<span> places;
  type what;
  uint32_t maker = no_index; ///< the function that makes a model there
};

/// An axis of a caller that is one of the called function's.
struct axis_binding {
  symbol ours;
  symbol theirs;
  uint32_t caller;
  span where;
};

/// A function that is differentiated, scanned or mapped, and where, or who calls a function there.
struct device_root {
  uint32_t function;
  span where;
  uint32_t module;
  uint32_t caller = no_index;
};

/// A report that waits until it is known where its function runs.
struct late_report {
  enum kind_t : uint8_t { condition, widened } kind;
  uint32_t function;
  diagnostic what;
  span where; ///< the condition, or the statement that widens
  std::string number;
  bool follows = false; ///< it is about a variable that was widened
};

/// An argument that is passed as `mut` to a parameter that is not.
struct mut_argument {
  uint32_t function;
  uint32_t callee;
  size_t parameter;
  std::vector<size_t> ours; ///< the caller's parameters that it may be
  diagnostic what;
};

/// What a report is about, to see which others only follow from the same mistake.
struct report_context {
  uint32_t function = no_index; ///< in whose body it is
  uint32_t callee = no_index;   ///< the function that the call at hand does not fit
  std::vector<span> origins;    ///< the declarations that it points to
};

/// Arguments by the parameter they belong to.
struct matched {
  std::vector<call_argument*> slots;
  std::vector<call_argument*> rest;
  bool ok = true;
};

/// What is done with a name.
enum class name_place : uint8_t { value, called, indexed };

/// What the symbols of a called function are at the call.
using symbol_map = std::map<symbol, axis>;

/// A variable or field: its name, its type, and that as written.
struct declared_place {
  uint32_t module;
  span where;
  type what;
  std::vector<axis> rows; ///< of a field of a batch of records
  type_id written;
};

inline constexpr size_t no_part = SIZE_MAX;

/// Notes which argument fixed the sizes of a called function that became known by it.
void note_fixed(call_site& site, const symbol_map& map, span where);

/// What an axis is called by its size as it is written: `3*D` for `3 * lib.D`.
std::string axis_name(std::string_view written);
/// `a`, `b` and `c`, with their quotes.
std::string list_names(const std::vector<std::string_view>& names);

enum class misfit : uint8_t { none, kind, shape, element, known, bound };

} // namespace shapescript
