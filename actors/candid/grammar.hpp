#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "actors/candid/did_parser.hpp"
#include "actors/candid/lexer.hpp"
#include "actors/candid/types.hpp"

namespace moxzi::candid {

/// Reads types out of tokens into a table. A name may be used before it is defined: it gets an
/// entry that stands for it until `resolve`.
class type_parser {
public:
  explicit type_parser(type_table& types) : types_(types) {
    // nop
  }

  /// `type NAME = …`, with `type` already taken.
  bool definition(lexer& in);
  bool type(lexer& in, type_ref& out);
  /// `(t, name : t, …)`; a name for each, or an empty one.
  bool tuple(lexer& in, std::vector<type_ref>& out, std::vector<std::string>& names);
  /// `{ method : …; … }`
  bool actor(lexer& in, type_ref& out);
  /// The type under this name, now or later. The lexer's text must live until `resolve`.
  type_ref named(std::string_view name, const lexer& in, size_t offset);

  /// Of two files, by their texts: does the first know what the second defines?
  using visibility = std::function<bool(std::string_view user, std::string_view definer)>;

  /// When all definitions are read: replaces the names by what they mean. `extra` are references
  /// held outside the table.
  result<void> resolve(std::span<type_ref* const> extra, const visibility& sees = {});
  /// After `resolve` failed: the text of the file that its error is about.
  std::string_view failed_text() const noexcept {
    return failed_text_;
  }

private:
  /// Where a name is used.
  struct use {
    type_ref standin;
    std::string_view text; ///< of the file
    size_t offset = 0;
  };

  /// The first use in each file.
  using uses = std::vector<use>;

  bool primitive(std::string_view name, type_ref& out) const;
  bool composite(lexer& in, std::string_view word, type_ref& out, bool& known);
  bool fields(lexer& in, bool is_record, type_ref& out);
  bool one_field(lexer& in, bool is_record, std::vector<field_spec>& all, uint64_t& next);
  bool func(lexer& in, type_ref& out);
  result<const type_ref*> meaning_of(std::string_view name, const uses& all,
                                     const visibility& sees);
  result<void> check_methods(std::span<const type_ref> targets);
  error fail_use(const use& used, candid_errc code, std::string_view reason);

  type_table& types_;
  std::map<std::string, uses, std::less<>> uses_;
  std::map<std::string, std::string_view, std::less<>> definers_; ///< texts of files, by type
  std::vector<std::pair<std::string, use>> aliased_methods_;      ///< `m : NAME`
  std::string_view failed_text_;
};

/// Unsigned number of at most 32 bits, as field ids are written.
bool parse_id(const token& number, uint64_t& out);

} // namespace moxzi::candid
