#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "shapescript/check/builtins.hpp"
#include "shapescript/check/words.hpp"
#include "shapescript/lsp/analysis.hpp"
#include "shapescript/lsp/json.hpp"

namespace shapescript::lsp {

/// The protocol's kinds of completions.
enum class item_kind : int {
  method = 2,
  function = 3,
  field = 5,
  variable = 6,
  class_ = 7,
  module = 9,
  value = 12,
  keyword = 14,
  snippet = 15,
  constant = 21,
  struct_ = 22,
  type = 25
};

item_kind kind_of(name_kind what);

/// One completion. `insert` is what is written, the label if it is empty; in a snippet `$1` and
/// `${1:text}` are stops.
struct item {
  std::string label;
  item_kind kind = item_kind::variable;
  std::string detail = {};
  std::string documentation = {};
  std::string insert = {};
  std::string snippet = {}; ///< for clients that know them
  std::string about = {};   ///< what `documentation_about` finds its documentation by
};

/// Gathers the completions of a place, each name once, in groups: those of a lower rank come first.
class completion_items {
public:
  /// The word that is being written reaches from `begin` over `offset` to `end`.
  completion_items(const view& of, uint32_t begin, uint32_t offset, uint32_t end);

  void add(item one, int rank);
  /// The names of these kinds that mean something at the place.
  void names(std::initializer_list<name_kind> kinds, int rank);
  void name(const name_info& one, int rank, std::string detail = {});
  /// A word of the language; nothing if it is none.
  void word(std::string_view name, int rank, std::string_view snippet = {});
  void words(std::initializer_list<word_role> roles, int rank);
  /// A builtin function, called if `called`.
  void builtin_function(const builtin& what, int rank, bool called);

  /// Names are only mentioned, not called: nothing is put behind them.
  bool mentioned = false;

  json::array take();

private:
  bool being_written(const name_info& one) const;
  bool call_follows() const;
  std::string model_snippet(const name_info& one) const;

  const view& of_;
  uint32_t begin_;
  uint32_t offset_;
  uint32_t end_;
  std::set<std::string, std::less<>> said_;
  json::array items_;
};

/// How a name of the program is shown beside its completion: its type or header.
std::string detail_of(const view& of, const name_info& one);

/// The documentation of a completion, found again by what it says that it is about.
std::string documentation_about(const view& of, std::string_view about);

} // namespace shapescript::lsp
