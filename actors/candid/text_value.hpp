#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/candid/grammar.hpp"
#include "actors/candid/lexer.hpp"
#include "actors/candid/types.hpp"
#include "actors/candid/value.hpp"
#include "base/result.hpp"

namespace moxzi::candid {

/// A value as it was written, before it has a type.
struct text_value {
  enum class form : uint8_t {
    null,
    boolean,   ///< `text` is `true` or `false`
    number,    ///< `text` has the digits, with sign, without `_`
    text,      ///< `text` is what the quotes mean
    blob,      ///< likewise
    opt,       ///< one item
    vec,       ///< items
    record,    ///< items, each with its field
    variant,   ///< one item with its field
    principal, ///< `text` is a checked principal
    service,   ///< likewise
    func,      ///< likewise, and `method`
    annotated, ///< one item of `type`
  };
  /// A field's name or number.
  struct label {
    uint32_t id = 0;
    std::string name;
    bool has_name = false;
  };

  form what = form::null;
  std::string text;
  std::string method;
  std::vector<label> labels; ///< of the items of a record or variant
  std::vector<text_value> items;
  type_ref type;
  size_t offset = 0;

  /// A number with a fraction or an exponent, or one of `nan`, `inf`.
  bool is_float() const noexcept;
};

/// Reads values; types in annotations go through `types`.
class text_parser {
public:
  text_parser(lexer& in, type_parser& types) : in_(in), types_(types) {
    // nop
  }
  /// `(v, v : t, …)`
  bool arguments(std::vector<text_value>& out);

private:
  bool annotated(text_value& out);
  bool single(text_value& out);
  bool number(text_value& out);
  bool word(text_value& out);
  bool quoted(text_value& out, text_value::form what);
  bool reference(text_value& out, text_value::form what);
  bool vec(text_value& out);
  bool record(text_value& out);
  bool record_item(text_value& out, uint64_t& next);
  bool variant(text_value& out);
  bool label(text_value::label& out);

  lexer& in_;
  type_parser& types_;
  size_t count_ = 0; ///< of values
};

/// Replaces the types held in annotations, after `type_parser::resolve` (give it these).
void collect_types(std::vector<text_value>& values, std::vector<type_ref*>& out);

/// Gives written values types: those expected, or those that they show.
class text_typer {
public:
  /// `annotations` is the table of the types in annotations; `types` that of the expected types.
  /// At most `steps` values are made, missing ones included.
  text_typer(const type_table& annotations, const type_table& types, size_t steps)
      : annotations_(annotations), types_(types), steps_(steps) {
    // nop
  }

  /// False, with `reason` and `offset`, if the value does not fit the type.
  bool convert(const text_value& from, type_ref type, value& out);
  /// False, as above, if so many fields are missing that `convert` would run out of steps; to be
  /// asked before, since missing fields cost no text.
  bool affords_missing(const std::vector<text_value>& values, std::span<const type_ref> types);
  std::string reason;
  size_t offset = 0;

private:
  bool spend(const text_value& from);
  bool count_missing(const text_value& from, const type_table& types, type_ref type, size_t& left);
  bool refuse(const text_value& from, std::string why);
  bool expected(const text_value& from, type_ref type);
  bool whole(const text_value& from, type_ref type, value& out);
  bool floating(const text_value& from, type_ref type, value& out);
  bool fixed_nat(const text_value& from, type_ref type, const integer& n, uint64_t most,
                 value& out);
  bool fixed_int(const text_value& from, type_ref type, const integer& n, int bits, value& out);
  bool reference(const text_value& from, type_ref type, value& out);
  bool vec(const text_value& from, type_ref type, value& out);
  bool opt(const text_value& from, type_ref type, value& out);
  bool record(const text_value& from, type_ref type, value& out);
  bool variant(const text_value& from, type_ref type, value& out);
  bool annotated(const text_value& from, type_ref type, value& out);

  const type_table& annotations_;
  const type_table& types_;
  size_t steps_;
};

/// The types that values show by themselves, made in a table.
class text_inference {
public:
  /// At most `steps` types and fields are looked at where the elements of a vector differ.
  text_inference(type_table& types, size_t steps)
      : types_(types), steps_(steps), annotated_(types.size()) {
    // nop
  }
  bool infer(const text_value& from, type_ref& out);
  std::string reason;
  size_t offset = 0;

private:
  /// A type, and the element of the vector that shows it.
  struct shown {
    type_ref type;
    uint32_t element;
  };
  using shown_types = std::vector<shown>;
  struct column;

  bool infer_vec(const text_value& from, type_ref& out);
  bool infer_fields(const text_value& from, type_ref& out);
  bool join(shown_types all, type_ref& out);
  bool join_bounded(const shown_types& all, type_ref& out);
  bool join_composite(const shown_types& all, kind form, type_ref& out);
  bool join_fields(const shown_types& all, kind form, type_ref made);
  bool gather(const shown_types& all, std::vector<column>& columns);
  bool is_above(type_ref super, type_ref sub);
  void keep_different(shown_types& all) const;
  bool differ(const shown& from);
  bool spend(size_t n);

  type_table& types_;
  size_t steps_;
  size_t annotated_; ///< as many entries of the table come from annotations: they may be recursive
  /// Sets of those that are put together already, and what they become.
  std::map<std::vector<int32_t>, type_ref> joining_;
  int depth_ = 0;
  uint32_t culprit_ = 0; ///< the element that does not go with those before it
  std::string why_not_;
  type_ref blob_ = kind::null; ///< an entry once there was one; likewise
  type_ref service_ = kind::null;
  type_ref func_ = kind::null;
};

} // namespace moxzi::candid
