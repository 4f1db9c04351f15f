#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "shapescript/report/source.hpp"
#include "shapescript/syntax/token.hpp"

namespace shapescript {

/// Places in the tree's arrays. `none` stands for a part that is absent.
enum class expr_id : uint32_t { none = 0xFFFF'FFFF };
enum class dim_id : uint32_t { none = 0xFFFF'FFFF };
enum class type_id : uint32_t { none = 0xFFFF'FFFF };
enum class stmt_id : uint32_t { none = 0xFFFF'FFFF };
enum class pattern_id : uint32_t { none = 0xFFFF'FFFF };

/// A size as written in a type or a `dim` line.
struct dim_expr {
  enum kind_t : uint8_t { error, integer, name, binary } kind = error;
  token_kind operation = token_kind::end; ///< of `binary`
  uint16_t depth = 1;
  span where;
  span file; ///< of `lib.D` the first name, empty if absent
  span word; ///< of `name`
  dim_id left = dim_id::none;
  dim_id right = dim_id::none;
};

/// `NAME` or `NAME[dims]` after the axes of a type: a dtype, a refinement or a record.
struct element_name {
  span name;
  span where;
  std::vector<dim_id> dims;
  span brackets; ///< around the sizes, empty if absent
  span file;     ///< of `lib.Record` the first name, empty if absent
};

/// What stands in the brackets of a named type. A lone name, `lib.Mlp` too, is written as a dim.
struct type_argument {
  dim_id dim = dim_id::none;
  type_id type = type_id::none;
};

struct type_expr {
  enum kind_t : uint8_t { error, tensor, named, function } kind = error;
  uint16_t depth = 1;
  span where;
  span file;                            ///< of `lib.Model` the first name, empty if absent
  span name;                            ///< of `named`
  std::vector<dim_id> axes;             ///< of `tensor`
  std::vector<element_name> elements;   ///< of `tensor`: at most two
  std::vector<type_argument> arguments; ///< of `named`
  bool has_arguments = false;
  std::vector<type_id> parameters; ///< of `function`
  type_id result = type_id::none;  ///< of `function`
};

/// A part of an axis pattern.
struct pattern_item {
  enum kind_t : uint8_t { name, integer, rest, group } kind = name;
  span where;
  std::vector<pattern_item> inner; ///< of `group`: names and integers only
};

struct pattern {
  span where;
  std::vector<pattern_item> items;
};

/// The patterns of a call: `u, v: P, Q -> R`.
struct pattern_call {
  std::vector<expr_id> operands; ///< before the colon
  std::vector<pattern> sources;
  pattern result;
  span where;
};

struct argument {
  span where;
  span mut;  ///< the word, empty if absent
  span name; ///< of a named argument, empty if absent
  expr_id value = expr_id::none;
};

enum class expr_kind : uint8_t {
  error,
  name,
  integer,
  decimal,
  string,
  boolean,
  list,   ///< `[a, b]`: items
  tuple,  ///< `(a, b)`: items
  member, ///< left `.` name
  call,   ///< left `(` arguments or patterns `)`
  index,  ///< left `[` arguments `]`; `axes` if they stand next to each other without commas
  unary,
  binary, ///< arithmetic, comparison, `and`, `or`
  range,  ///< left `..` right, each may be absent
  pipe,   ///< left `|>` right
  cast,   ///< left `as` type
};

struct expr {
  expr_kind kind = expr_kind::error;
  token_kind operation = token_kind::end; ///< of unary, binary; the literal of boolean
  uint16_t depth = 1;
  bool axes = false;
  span where;
  span name; ///< the name, field or operator
  expr_id left = expr_id::none;
  expr_id right = expr_id::none;
  type_id type = type_id::none;
  pattern_id patterns = pattern_id::none;
  std::vector<expr_id> items;
  std::vector<argument> arguments;
};

using block = std::vector<stmt_id>;

/// `if` or `elif` with its block.
struct branch {
  expr_id condition = expr_id::none;
  block body;
};

enum class stmt_kind : uint8_t {
  error,
  expression,
  assign, ///< targets, operation, values; `type` if written
  return_,
  break_,
  continue_,
  pass,
  for_,   ///< names, values[0], body
  while_, ///< branches[0]
  if_,    ///< branches, then body as `else`
};

struct stmt {
  stmt_kind kind = stmt_kind::error;
  token_kind operation = token_kind::end;
  bool has_else = false;
  bool nameless = false; ///< of an error: what it assigns could not be read
  span where;            ///< the statement's own line, or its keyword
  span name;             ///< of an assignment: `=`, `+=` and their like
  std::vector<expr_id> targets;
  std::vector<expr_id> values;
  std::vector<span> names; ///< of `for`; of an error the names that it assigns
  type_id type = type_id::none;
  std::vector<branch> branches;
  block body;
};

struct parameter {
  span where;
  span mut; ///< the word, empty if absent
  span name;
  type_id type = type_id::none; ///< absent for `self`
  expr_id initial = expr_id::none;
};

struct function_decl {
  span where;
  span name;
  std::vector<parameter> parameters;
  std::vector<type_id> results;
  bool tuple_result = false;
  bool is_extern = false;
  bool broken = false; ///< its first line could not be read to the end
  span python;         ///< of an extern: the string
  block body;
  span header_end; ///< where the signature ends
};

struct devices_option {
  span where;
  span word;
  std::vector<span> names;
  bool well_formed = false; ///< it is `shard params` or `split NAMES`
};

struct devices_decl {
  span where;
  span kind;
  span list; ///< with its brackets; empty if absent
  std::vector<span> indices;
  std::vector<devices_option> options;
};

struct dim_decl {
  span where;
  span name;
  dim_id value = dim_id::none;
};

struct data_field {
  span name;
  type_id type = type_id::none;
};

struct data_decl {
  span where;
  span name;
  std::vector<data_field> fields;
  bool broken = false; ///< a part could not be read: it may declare any name
};

enum class member_kind : uint8_t { param, buffer, layer };

struct model_member {
  member_kind kind = member_kind::param;
  span name;
  type_id type = type_id::none;
  expr_id initial = expr_id::none;
  dim_id count = dim_id::none; ///< of a list of layers
  bool broken = false;         ///< its line could not be read to the end
};

struct model_decl {
  span where;
  span name;
  std::vector<span> dims;
  std::vector<model_member> members;
  std::vector<uint32_t> methods; ///< places in `functions`
  bool broken = false;           ///< a part could not be read: it may declare any name
};

struct import_decl {
  span where;
  bool python = false;
  std::vector<span> path;
  span name; ///< what the file calls it
};

enum class decl_kind : uint8_t { devices, dim, data, model, function, import };

struct decl_ref {
  decl_kind kind;
  uint32_t index;
};

/// A parsed program. Nodes refer to each other by place; spans refer to the source.
struct tree {
  std::vector<expr> exprs;
  std::vector<dim_expr> dims;
  std::vector<type_expr> types;
  std::vector<stmt> stmts;
  std::vector<pattern_call> patterns;
  std::vector<devices_decl> devices;
  std::vector<dim_decl> dim_decls;
  std::vector<data_decl> data;
  std::vector<model_decl> models;
  std::vector<function_decl> functions; ///< with methods
  std::vector<import_decl> imports;
  std::vector<decl_ref> order; ///< the declarations as they stand in the file

  const expr& at(expr_id id) const {
    return exprs[static_cast<uint32_t>(id)];
  }
  const dim_expr& at(dim_id id) const {
    return dims[static_cast<uint32_t>(id)];
  }
  const type_expr& at(type_id id) const {
    return types[static_cast<uint32_t>(id)];
  }
  const stmt& at(stmt_id id) const {
    return stmts[static_cast<uint32_t>(id)];
  }
  const pattern_call& at(pattern_id id) const {
    return patterns[static_cast<uint32_t>(id)];
  }
};

/// The expressions that stand leftmost inside one another, from the given one inwards: each is
/// evaluated by way of the next. `a + b + c` and `x |> f |> g` are not nested, however long they
/// are: whoever walks a tree goes along such a chain without recursion.
std::vector<expr_id> left_chain(const tree& program, expr_id id);

/// Whether arithmetic divides. Where a size is written that gives a whole number, elsewhere a
/// float.
bool divides(const tree& program, expr_id id);

/// A text as a tree, and what was wrong with it: the lexer's and the parser's reports.
struct parsed {
  tree program;
  std::vector<comment> comments;
  std::vector<token> tokens;
  std::vector<diagnostic> diagnostics;
  std::vector<span> skipped;   ///< what could not be read
  std::vector<span> misplaced; ///< lines whose indentation was reported
  /// Statements after a `return`, which may belong to a function whose head is gone.
  std::vector<span> unreachable;
  bool nameless = false; ///< a declaration was skipped whose name is not known
};

/// How deep brackets, operators and blocks may nest, chains from the left aside; more is E0115.
inline constexpr uint16_t nesting_max = 200;

/// Reads a program. After a mistake it goes on with the next statement or declaration, so that one
/// mistake gives one report and several give several.
parsed parse(const source& text);

} // namespace shapescript
