#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "actors/candid/decode.hpp"
#include "actors/candid/header.hpp"
#include "actors/candid/subtype.hpp"

namespace moxzi::candid {

/// Remembers values of one expected type, so that a large one that comes again and again is
/// recognised by its bytes instead of being read.
class value_memo {
public:
  virtual ~value_memo() = default;
  /// The expected type of such values.
  virtual type_ref type() const noexcept = 0;
  /// Reads over a known value that `in` is at; false if it is none. The decoder then gives null in
  /// its place. May refuse the value through `in`.
  virtual bool find(type_ref wire, cursor& in) = 0;
  /// After a `find` that was false: the value was read, and `in` is behind it.
  virtual void keep(cursor& in) = 0;
};

/// How a decoder reads, beside what the specification says.
struct reading {
  /// Refuse what would otherwise be dropped without a word: a value inside an `opt` that does not
  /// fit (it would read as null), and a field that the expected record does not have, unless it is
  /// null anyway. For callees that would do something else than what was asked for.
  bool strict = false;
  value_memo* memo = nullptr;
};

/// Reads the values of one message. Each byte is looked at once: when a value turns out not to fit,
/// the rest of it is skipped on the spot, so an enclosing `opt` only has to become null.
class decoder {
public:
  enum class fit : uint8_t {
    ok,
    mismatch, ///< sound, read to its end, but not of the type expected
    error,    ///< not sound, or over the budget: `in_` has the reason
  };

  decoder(cursor& in, const type_table& wire, const type_table& expected, size_t empty_values_max,
          const reading& how = {})
      : in_(in), wire_(wire), expected_(expected), empty_left_(empty_values_max), how_(how) {
    // nop
  }

  /// Reads a value of wire type `w` at type `e` into `out`, which is null initially; only checks
  /// where `out` is a null pointer.
  fit read(type_ref w, type_ref e, value* out);
  /// Reads over a value, as strictly as `read`.
  bool skip(type_ref w);
  /// A missing value: null if the type allows it.
  fit missing(type_ref e);
  /// After a mismatch: where and why.
  std::string explain() const;

private:
  fit read_composite(type_ref w, type_ref e, value* out);
  fit read_primitive(kind form, value* out);
  fit read_memorable(type_ref w, type_ref e, value* out);
  fit read_opt(type_ref w, type_ref e, value* out);
  fit read_vec(type_ref w, type_ref e, value* out);
  fit read_record(type_ref w, type_ref e, value* out);
  fit read_variant(type_ref w, type_ref e, value* out);
  fit read_reference(type_ref w, type_ref e, value* out);
  fit superfluous(const field& f, type_ref w, type_ref e);
  fit mismatch(type_ref w, type_ref e);
  fit refuse(type_ref w, type_ref e, uint32_t tag = 0);

  bool skip_primitive(kind form);
  bool skip_composite(type_ref w);
  bool skip_future();
  bool number(bool is_signed, value* out);
  bool principal_value(value* out);
  bool func_value(value* out);
  bool deeper();
  bool vec_length(type_ref element, uint64_t& n);
  size_t bytes_min(type_ref w, int depth);

  template <class T>
  bool fixed(T& out);

  cursor& in_;
  const type_table& wire_;
  const type_table& expected_;
  size_t empty_left_;
  reading how_;
  int depth_ = 0;
  std::vector<size_t> bytes_min_; ///< by wire entry, once asked
  std::optional<subtype_checker> subtypes_;

  /// A step into a value: a field or tag of the expected type, or else an element.
  struct segment {
    const field* member;
    uint64_t index;
  };
  /// The last mismatch; put into words only when somebody asks.
  struct cause {
    std::optional<type_ref> wire;
    type_ref expected;
    uint32_t tag = 0;
  };
  std::vector<segment> path_; ///< innermost first
  cause cause_;
};

} // namespace moxzi::candid
