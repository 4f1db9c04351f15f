#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace moxzi::candid {

/// The forms of types, numbered as in the binary format.
enum class kind : int8_t {
  null = -1,
  boolean = -2,
  nat = -3,
  integer = -4,
  nat8 = -5,
  nat16 = -6,
  nat32 = -7,
  nat64 = -8,
  int8 = -9,
  int16 = -10,
  int32 = -11,
  int64 = -12,
  float32 = -13,
  float64 = -14,
  text = -15,
  reserved = -16,
  empty = -17,
  opt = -18,
  vec = -19,
  record = -20,
  variant = -21,
  func = -22,
  service = -23,
  principal = -24,
  future = -25, ///< any opcode below -24: from a later version of Candid, skipped
};

/// True for the types that are written without a table.
constexpr bool is_primitive(kind k) noexcept {
  return k >= kind::empty || k == kind::principal;
}

/// The keyword of a kind: `nat8`, `record`, …
std::string_view keyword(kind k) noexcept;

/// A type: a primitive one, or an entry of a `type_table`. Types refer to each other through the
/// table, so recursive ones need nothing special.
class type_ref {
public:
  constexpr type_ref() = default;
  /// A primitive type.
  constexpr type_ref(kind primitive) : raw_(static_cast<int32_t>(primitive)) {
    // nop
  }
  static constexpr type_ref entry(uint32_t index) {
    type_ref ref;
    ref.raw_ = static_cast<int32_t>(index);
    return ref;
  }
  constexpr bool is_entry() const noexcept {
    return raw_ >= 0;
  }
  constexpr uint32_t index() const noexcept {
    return static_cast<uint32_t>(raw_);
  }
  /// As in the binary format: an index, or an opcode below zero.
  constexpr int32_t raw() const noexcept {
    return raw_;
  }
  constexpr bool operator==(const type_ref&) const = default;

private:
  int32_t raw_ = -1;
};

/// The id of a record field or variant tag of this name.
constexpr uint32_t hash_name(std::string_view name) noexcept {
  uint32_t hash = 0;
  for (const char c : name) hash = hash * 223 + static_cast<uint8_t>(c);
  return hash;
}

/// One field of a record or tag of a variant.
struct field {
  static constexpr uint32_t no_name = 0xFFFFFFFF;

  uint32_t id = 0;
  type_ref type;
  uint32_t name = no_name; ///< into the table's names
  uint32_t declared = 0;   ///< at [i]: which field of the entry was declared i-th
};

/// One method of a service type; `type` is a `func`.
struct method {
  std::string name;
  type_ref type;
  uint32_t declared = 0; ///< at [i]: which method of the entry was declared i-th
};

/// What a function promises; a set.
enum annotation : uint8_t { query = 1, oneway = 2, composite_query = 4 };

/// A field to be put into a table: by name, or by number where it has none.
struct field_spec {
  field_spec(std::string_view name, type_ref type)
      : id(hash_name(name)), name(name), has_name(true), type(type) {
    // nop
  }
  field_spec(uint32_t id, type_ref type) : id(id), type(type) {
    // nop
  }
  uint32_t id;
  std::string name;
  bool has_name = false;
  type_ref type;
};

/// The composite types of one interface or message. Fields are kept sorted by id, methods by name.
/// An entry is declared, then defined once; it may refer to entries declared but not yet defined.
class type_table {
public:
  // -- reading ------------------------------------------------------------------

  size_t size() const noexcept {
    return entries_.size();
  }
  kind kind_of(type_ref type) const noexcept {
    return type.is_entry() ? entries_[type.index()].form : static_cast<kind>(type.raw());
  }
  /// Of an `opt` or `vec`.
  type_ref element(type_ref type) const noexcept {
    return entries_[type.index()].element;
  }
  /// Of a `record` or `variant`, ascending ids.
  std::span<const field> fields(type_ref type) const noexcept {
    const auto& e = entries_[type.index()];
    return {fields_.data() + e.first, e.count};
  }
  /// The field of this id, or null.
  const field* find(type_ref type, uint32_t id) const noexcept;
  /// The field declared `i`-th.
  const field& declared(type_ref type, size_t i) const noexcept {
    const auto all = fields(type);
    return all[all[i].declared];
  }
  /// Of a `func`.
  std::span<const type_ref> arguments(type_ref type) const noexcept {
    const auto& e = entries_[type.index()];
    return {tuples_.data() + e.first, e.count};
  }
  std::span<const type_ref> results(type_ref type) const noexcept {
    const auto& e = entries_[type.index()];
    return {tuples_.data() + e.first + e.count, e.results};
  }
  /// The name of an argument, or (counted on) of a result; empty if it has none. For readers only.
  std::string_view parameter_name(type_ref func, size_t i) const noexcept;
  /// Of a `func`: a set of `annotation`.
  uint8_t annotations(type_ref type) const noexcept {
    return entries_[type.index()].annotations;
  }
  /// Of a `service`, in ascending order of names.
  std::span<const method> methods(type_ref type) const noexcept {
    const auto& e = entries_[type.index()];
    return {methods_.data() + e.first, e.count};
  }
  /// The field's name; empty if only its number is known (see `field::no_name`).
  std::string_view name_of(const field& f) const noexcept {
    return f.name == field::no_name ? std::string_view{} : std::string_view{names_[f.name]};
  }
  /// The field's name, or its number.
  std::string label_of(const field& f) const;
  /// The name that a type was defined under; empty if none.
  std::string_view type_name(type_ref type) const noexcept;
  /// Defined names, in the order of their definitions.
  const std::vector<std::pair<std::string, type_ref>>& definitions() const noexcept {
    return definitions_;
  }
  /// The type defined under this name.
  const type_ref* lookup(std::string_view name) const noexcept;
  /// A record whose ids are 0, 1, …, n-1, with n ≥ 1, and not the hashes of names.
  bool is_tuple(type_ref type) const noexcept;
  /// True if a missing value of this type reads as null: `null`, `opt`, `reserved`.
  bool is_nullable(type_ref type) const noexcept {
    const auto k = kind_of(type);
    return k == kind::null || k == kind::opt || k == kind::reserved;
  }
  /// True for `vec nat8`.
  bool is_blob(type_ref type) const noexcept {
    return kind_of(type) == kind::vec && element(type) == type_ref{kind::nat8};
  }

  // -- building -----------------------------------------------------------------

  /// A new entry, to be defined later.
  type_ref declare();
  void set_opt(type_ref entry, type_ref element);
  void set_vec(type_ref entry, type_ref element);
  /// Fails if two fields have one id.
  result<void> set_record(type_ref entry, std::vector<field_spec> fields);
  result<void> set_variant(type_ref entry, std::vector<field_spec> tags);
  void set_func(type_ref entry, std::span<const type_ref> arguments,
                std::span<const type_ref> results, uint8_t annotations);
  /// Names an argument, or (counted on) a result.
  void name_parameter(type_ref func, size_t i, std::string name);
  /// Fails if two methods have one name.
  result<void> set_service(type_ref entry, std::vector<method> methods);
  void set_future(type_ref entry);
  /// Names a type; fails if the name is taken.
  result<void> define(std::string_view name, type_ref type);

  type_ref opt(type_ref element);
  type_ref vec(type_ref element);
  type_ref blob() {
    return vec(kind::nat8);
  }
  /// As above, for fields known to differ.
  type_ref record(std::vector<field_spec> fields);
  type_ref variant(std::vector<field_spec> tags);

  /// Replaces references to entries that only stand for another type (`targets[i]` for entry i, or
  /// itself). For readers of text, where a name may be used before its definition.
  void substitute(std::span<const type_ref> targets);

private:
  friend class header_reader;

  struct entry {
    kind form = kind::empty;
    uint8_t annotations = 0;
    type_ref element;
    uint32_t first = 0; ///< into fields_, tuples_ or methods_
    uint32_t count = 0;
    uint32_t results = 0;
  };

  result<void> set_fields(type_ref entry, kind form, std::vector<field_spec> fields);

  std::vector<entry> entries_;
  std::vector<field> fields_;
  std::vector<type_ref> tuples_;
  std::map<uint32_t, std::string> tuple_names_; ///< by place in tuples_, where one has a name
  std::vector<method> methods_;
  std::vector<std::string> names_;
  std::vector<std::pair<std::string, type_ref>> definitions_;
  std::map<std::string, uint32_t, std::less<>> definition_index_;
  std::map<uint32_t, uint32_t> entry_names_; ///< entry → definition
};

/// The types of a list of arguments or results, with what reading and writing such a list needs
/// worked out once.
struct tuple_type {
  std::shared_ptr<const type_table> types;
  std::vector<type_ref> items;
  byte_string header; ///< `DIDL`, type table and argument types of a message of these types
};

/// Works out the header.
tuple_type make_tuple_type(std::shared_ptr<const type_table> types, std::vector<type_ref> items);

} // namespace moxzi::candid
