#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "shapescript/check/types.hpp"
#include "shapescript/syntax/tree.hpp"

namespace shapescript {

inline constexpr uint32_t no_index = 0xFFFF'FFFF;

/// The sizes that names stand for in a function or model.
using size_scope = std::map<std::string, size_form, std::less<>>;

/// What a name at the top of a file stands for.
struct entity {
  enum kind_t : uint8_t { dim, record, model, function, python, file } kind = dim;
  uint32_t index = 0;
  span declared;
  uint32_t name = no_index; ///< its place in `typed_tree::names`
};

/// One file: the program itself (module 0) or one that it imports.
struct module_info {
  source text;
  parsed program;
  std::map<std::string_view, entity> names;
  bool lenient = false;                     ///< it has syntax errors
  std::set<std::string_view> doubtful = {}; ///< names in what could not be read
  std::vector<uint32_t> begins = {};        ///< where declarations and methods begin, in order
  std::vector<type> types = {};             ///< by `expr_id`; poison where nothing is known
};

struct dim_info {
  uint32_t module;
  const dim_decl* decl;
  bool known = false; ///< false after a reported mistake
  int64_t value = 1;
};

struct record_info {
  uint32_t module;
  const data_decl* decl;
  std::vector<type> fields;
  std::vector<uint32_t> names = {}; ///< of the fields
};

struct member_info {
  member_kind kind;
  std::string_view name;
  span where;
  type what;
  uint32_t name_at = no_index;
  std::optional<size_form> count = {}; ///< of a list of layers
};

/// Something that must hold of a size whose symbols are not known where it is written: that it is
/// a whole number, or that it is 1 at least.
struct size_need {
  enum kind_t : uint8_t { exact, positive } kind;
  size_form size;
  uint32_t module;
  span where;
  std::string what; ///< as it is written: `n/2`
  bool operator==(const size_need&) const = default;
};

struct model_info {
  uint32_t module;
  const model_decl* decl; ///< none for the built-in BatchNorm
  std::string_view name;
  size_scope scope;
  std::vector<symbol> dims;
  std::vector<member_info> members;
  std::map<std::string_view, uint32_t> methods;
  std::vector<size_need> needs = {}; ///< of its sizes
};

struct parameter_info {
  std::string_view name;
  span where;
  type what;
  bool is_mut = false;
  bool has_default = false;
  uint32_t name_at = no_index;
  bool changed = false; ///< it is changed although it is not `mut`: reported
};

/// What the symbols of a called function are.
using symbol_sizes = std::map<symbol, size_form>;

/// A place where a function calls another.
struct call_edge {
  uint32_t callee;
  span where;
  symbol_sizes sizes = {};           ///< of the callee's symbols, if the call is sound
  std::map<symbol, span> given = {}; ///< the arguments that they come from
};

/// An operation whose verdict waits until it is known which axes the devices split.
struct split_question {
  enum kind_t : uint8_t { python, crossing } kind;
  span where;  ///< the argument, axis or call
  span callee; ///< the Python function
  std::string operation;
  std::vector<axis> axes; ///< the value's, or the one that is crossed
  std::string label = {};
  std::vector<uint32_t> after = {}; ///< questions before it about what it is given
  span call = {};                   ///< of Python
  bool said = false;                ///< reported, or it follows from what was
};

struct function_info {
  uint32_t module;
  const function_decl* decl;
  uint32_t owner = no_index; ///< the model of a method
  size_scope scope;
  std::vector<symbol> given;          ///< symbols of the parameters
  std::vector<symbol> only_in_result; ///< symbols that a call must give by name
  std::vector<parameter_info> parameters;
  type result;
  bool resolved = false;
  bool has_errors = false;      ///< in its body: what it does is not all known
  bool result_in_doubt = false; ///< what its body returns is not what its head says
  bool host = false;            ///< a controller function, once placement is known
  std::vector<call_edge> calls;
  std::vector<size_need> needs; ///< of its symbols
  std::vector<split_question> questions;
  std::vector<span> python_calls; ///< straight in it, without those that were reported
  span host_site;                 ///< the first host work straight in it, empty if none
  std::string host_what;
  span device_site; ///< the first device work
  std::string device_what;
  std::string device_number; ///< a tensor without axes that it works with, as written
  uint32_t name_at = no_index;
};

struct symbol_info {
  std::string name;
  uint32_t module;
  span declared;
  bool batch = false; ///< an axis of batches, which several devices split
  uint32_t name_at = no_index;
  uint32_t batch_by = no_index; ///< the call that made it one, in the checker's list
};

/// What a name means.
enum class name_kind : uint8_t {
  dim,
  axis, ///< a symbolic size of a function, or a size of a model
  record,
  field,
  model,
  member, ///< a param, buffer or layer
  function,
  method,
  parameter,
  local,
  python, ///< an imported Python module
  file,   ///< an imported program
};

/// One thing that has a name: where it is declared, and what it is.
struct name_info {
  name_kind kind = name_kind::local;
  std::string name;
  uint32_t module = 0;
  span declared;
  type what;                 ///< its type; of a dim its value
  uint32_t owner = no_index; ///< the function, record or model it belongs to
};

/// A place where a name is written, its declaration too.
struct name_use {
  uint32_t module = 0;
  span where;
  uint32_t name = 0; ///< its place in `typed_tree::names`
  bool declares = false;
  bool writes = false; ///< it is assigned here
  bool operator==(const name_use&) const = default;
};

/// The devices of a program.
struct device_info {
  std::string kind; ///< empty without a `devices` line
  size_t count = 1;
  bool shard_params = false;
  std::vector<std::string> split; ///< dims that are split, in the order of their names
};

/// A program with all that the check found out: declarations by their place, the type of every
/// expression, every name with its uses. Nothing in it changes once it is made.
struct typed_tree {
  std::vector<std::unique_ptr<module_info>> modules;
  std::vector<dim_info> dims;
  std::vector<record_info> records;
  std::vector<model_info> models; ///< the first is the built-in BatchNorm
  std::vector<function_info> functions;
  std::vector<symbol_info> symbols;
  std::vector<name_info> names;
  std::vector<name_use> uses; ///< sorted by file and place
  device_info devices;

  /// The type of an expression; poison if it was not reached.
  const type& type_of(uint32_t module, expr_id id) const noexcept;
  /// The use that holds this offset, or null.
  const name_use* use_at(uint32_t module, uint32_t offset) const noexcept;
  /// All uses of a name, its declaration first if that is written anywhere.
  std::vector<name_use> uses_of(uint32_t name) const;

  /// Types as people write them.
  std::string show(const type& what) const;
  std::string show(const std::vector<axis>& axes) const;
  std::string show(const size_form& size) const;
  std::string show(const size_sum& sum) const;
  std::string show(const axis& one) const;

private:
  std::string show_tensor(const type& what) const;
};

/// A size of a model as an axis, as it was written.
axis dim_of(const type& model, size_t i);

} // namespace shapescript
