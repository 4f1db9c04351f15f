#include "actors/candid/motoko_printer.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "actors/candid/errc.hpp"
#include "actors/candid/lexer.hpp"

namespace moxzi::candid {

namespace {

using std::string_view;

constexpr auto keywords = std::to_array<string_view>(
  {"actor",  "and",        "assert",    "async",    "await",     "break",       "case",
   "catch",  "class",      "composite", "continue", "debug",     "debug_show",  "do",
   "else",   "false",      "finally",   "flexible", "for",       "from_candid", "func",
   "if",     "ignore",     "implicit",  "import",   "in",        "include",     "label",
   "let",    "loop",       "mixin",     "module",   "not",       "null",        "object",
   "or",     "persistent", "private",   "public",   "query",     "return",      "shared",
   "stable", "switch",     "system",    "throw",    "to_candid", "transient",   "true",
   "try",    "type",       "var",       "weak",     "while",     "with"});

// Types that Motoko has names for already, and the ones that we add.
constexpr auto taken_types = std::to_array<string_view>(
  {"Any",   "Blob",  "Bool",  "Char",  "Error",     "Float",  "Float32", "Init",
   "Int",   "Int16", "Int32", "Int64", "Int8",      "Nat",    "Nat16",   "Nat32",
   "Nat64", "Nat8",  "None",  "Null",  "Principal", "Region", "Self",    "Text"});

bool is_identifier(string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && is_letter(name.front())
         && std::all_of(name.begin(), name.end(),
                        [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

string_view primitive(kind k) {
  switch (k) {
    case kind::null:
      return "Null";
    case kind::boolean:
      return "Bool";
    case kind::nat:
      return "Nat";
    case kind::integer:
      return "Int";
    case kind::nat8:
      return "Nat8";
    case kind::nat16:
      return "Nat16";
    case kind::nat32:
      return "Nat32";
    case kind::nat64:
      return "Nat64";
    case kind::int8:
      return "Int8";
    case kind::int16:
      return "Int16";
    case kind::int32:
      return "Int32";
    case kind::int64:
      return "Int64";
    case kind::float32:
      return "Float32";
    case kind::float64:
      return "Float";
    case kind::text:
      return "Text";
    case kind::reserved:
      return "Any";
    case kind::principal:
      return "Principal";
    default:
      return "None";
  }
}

class printer {
public:
  explicit printer(const type_table& types) : types_(types) {
    std::set<std::string> used(taken_types.begin(), taken_types.end());
    for (const auto& [name, _] : types.definitions()) {
      auto mine = motoko_label(name);
      while (!used.insert(mine).second) mine += '_';
      names_.emplace(name, std::move(mine));
    }
  }

  const std::string& name_of(const std::string& definition) const {
    return names_.at(definition);
  }

  /// The first thing that could not be said.
  const std::optional<error>& failure() const {
    return failure_;
  }

  /// A type where it is used; `depth` levels inside others.
  std::string use(type_ref type, size_t depth) {
    if (const auto name = types_.type_name(type); !name.empty())
      return names_.at(std::string{name});
    return structure(type, depth);
  }

  /// What a definition says.
  std::string structure(type_ref type, size_t depth) {
    if (!type.is_entry()) return std::string{primitive(types_.kind_of(type))};
    if (!open_.insert(type.index()).second) {
      give_up("a type refers to itself without a name");
      return "None";
    }
    auto text = inner(type, depth);
    open_.erase(type.index());
    return text;
  }

  std::string tuple(std::span<const type_ref> items, size_t depth, type_ref func, size_t first) {
    std::string text = "(";
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text += ", ";
      const auto name = func.is_entry() ? types_.parameter_name(func, first + i) : string_view{};
      if (!name.empty()) text += motoko_label(name) + " : ";
      text += use(items[i], depth);
    }
    return text + ")";
  }

  std::string actor(type_ref service, size_t depth) {
    std::string text = "actor {";
    for (const auto& m : types_.methods(service)) {
      if (!is_identifier(m.name))
        give_up(fmt::format("method {} has no name in Motoko", quoted(m.name)));
      const auto alias = types_.type_name(m.type);
      text += margin(depth + 1) + motoko_label(m.name) + " : "
              + (alias.empty() ? signature(m.type, depth + 1) : names_.at(std::string{alias}))
              + ";";
    }
    return text + (types_.methods(service).empty() ? "}" : margin(depth) + "}");
  }

private:
  static std::string margin(size_t depth) {
    return "\n" + std::string(2 * depth, ' ');
  }

  void give_up(std::string why) {
    if (!failure_) failure_ = error{make_error_code(candid_errc::mismatch), std::move(why)};
  }

  std::string inner(type_ref type, size_t depth) {
    const auto form = types_.kind_of(type);
    switch (form) {
      case kind::opt:
        return "?" + use(types_.element(type), depth);
      case kind::vec:
        if (types_.is_blob(type)) return "Blob";
        return "[" + use(types_.element(type), depth) + "]";
      case kind::record:
        return record(type, depth);
      case kind::variant:
        return fields(type, depth, true);
      case kind::func:
        return signature(type, depth);
      case kind::service:
        return actor(type, depth);
      default:
        return "None"; // of a later version
    }
  }

  std::string record(type_ref type, size_t depth) {
    const auto all = types_.fields(type);
    // Motoko's tuples have two items or more; `{0 : t}` is none.
    if (!types_.is_tuple(type) || all.size() < 2) return fields(type, depth, false);
    std::string text = "(";
    for (size_t i = 0; i < all.size(); ++i) text += (i > 0 ? ", " : "") + use(all[i].type, depth);
    return text + ")";
  }

  std::string fields(type_ref type, size_t depth, bool is_variant) {
    const auto all = types_.fields(type);
    if (all.empty()) return is_variant ? "{#}" : "{}";
    std::string text = "{";
    for (size_t i = 0; i < all.size(); ++i) {
      const auto& f = types_.declared(type, i);
      text += margin(depth + 1) + (is_variant ? "#" : "");
      text +=
        f.name == field::no_name ? fmt::format("_{}_", f.id) : motoko_label(types_.name_of(f));
      const bool is_bare = is_variant && types_.kind_of(f.type) == kind::null;
      if (!is_bare) text += " : " + use(f.type, depth + 1);
      text += ";";
    }
    return text + margin(depth) + "}";
  }

  std::string signature(type_ref type, size_t depth) {
    const auto arguments = types_.arguments(type);
    const auto set = types_.annotations(type);
    std::string text = "shared ";
    if (set & annotation::query) text += "query ";
    if (set & annotation::composite_query) text += "composite query ";
    text += tuple(arguments, depth, type, 0) + " -> ";
    if (set & annotation::oneway) return text + "()";
    const auto results = types_.results(type);
    if (results.size() != 1) return text + "async " + tuple(results, depth, type, arguments.size());
    // `async (T)` of a function type would be read as its result.
    const auto one = use(results[0], depth);
    return text + "async " + (one.starts_with("shared ") ? "(" + one + ")" : one);
  }

  const type_table& types_;
  std::map<std::string, std::string> names_;
  std::set<uint32_t> open_;
  std::optional<error> failure_;
};

} // namespace

std::string motoko_label(string_view name) {
  if (!is_identifier(name)) return fmt::format("_{}_", hash_name(name));
  const bool is_keyword = std::find(keywords.begin(), keywords.end(), name) != keywords.end();
  return std::string{name} + (is_keyword || name.back() == '_' ? "_" : "");
}

result<std::string> motoko_text(const interface& what) {
  printer out{*what.types};
  std::string text = "module {\n";
  for (const auto& [name, type] : what.types->definitions()) {
    // An alias of a named type is that name; the type itself is written in full.
    const bool is_first = what.types->type_name(type) == name;
    text += fmt::format("  public type {} = {};\n", out.name_of(name),
                        is_first ? out.structure(type, 1) : out.use(type, 1));
  }
  if (what.has_constructor)
    text += fmt::format("  public type Init = {};\n", out.tuple(what.init.items, 1, {}, 0));
  if (what.service) text += fmt::format("  public type Self = {};\n", out.actor(*what.service, 1));
  if (out.failure()) return *out.failure();
  return text + "};\n";
}

} // namespace moxzi::candid
