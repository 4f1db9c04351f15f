#pragma once

#include <array>
#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "actors/candid/decode.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/interface.hpp"
#include "actors/candid/types.hpp"
#include "actors/candid/value.hpp"
#include "base/assert.hpp"

/// C++ types as Candid types, declared once: from the declaration come the Candid type (and so the
/// `.did` text), reading and writing.
///
///     struct pair { uint32_t a; std::optional<std::string> note; };
///     template <> struct moxzi::candid::record_of<pair> {
///       static constexpr std::string_view name = "Pair"; // "" = written in place
///       static constexpr auto fields = std::tuple{member("a", &pair::a),
///                                                 member("note", &pair::note)};
///     };
///
/// | C++ | Candid |
/// | --- | --- |
/// | `bool`, `uintN_t`, `intN_t`, `float`, `double` | `bool`, `natN`, `intN`, `float32`, `float64`
/// | | `std::string`, `blob`, `principal` | `text`, `blob`, `principal` | | `natural`, `integer` |
/// `nat`, `int` | | `std::monostate` | `null` | | `std::optional<T>`, `std::vector<T>`,
/// `std::tuple<…>` | `opt`, `vec`, tuple `record` | | with `record_of`, `enum_of`, `variant_of` |
/// `record`, `variant` of tags, `variant` | | `dynamic<Tag>` | the type that the `binder` was given
/// for `Tag` at run time |
namespace moxzi::candid {

/// Bytes that are no text.
struct blob {
  byte_string bytes;
  bool operator==(const blob&) const = default;
};

/// A `nat`.
struct natural {
  integer number;
  bool operator==(const natural&) const = default;
};

/// A value of a type that is known at run time only, such as the variant made from the table of
/// operations. `Tag` is any type; it tells several of them apart.
template <class Tag>
struct dynamic {
  value held;
  bool operator==(const dynamic&) const = default;
};

/// A field of a struct under its Candid name.
template <class Struct, class Field>
struct member {
  std::string_view name;
  Field Struct::*pointer;
  constexpr member(std::string_view name, Field Struct::*pointer) : name(name), pointer(pointer) {
    // nop
  }
};

/// An enumerator under its Candid name.
template <class Enum>
struct enumerator {
  std::string_view name;
  Enum number;
  constexpr enumerator(std::string_view name, Enum number) : name(name), number(number) {
    // nop
  }
};

/// Specialise with `name` and `fields`, a `std::tuple` of `member`.
template <class T>
struct record_of;

/// Specialise for an enum with `name` and `tags`, a `std::array` of `enumerator`.
template <class T>
struct enum_of;

/// Specialise for a struct that holds a `std::variant` with `name`, `choice` (pointer to that
/// member) and `tags`, a `std::array<std::string_view, N>` in the order of the alternatives.
template <class T>
struct variant_of;

template <class T>
concept has_record = requires {
  record_of<T>::fields;
};
template <class T>
concept has_enum = requires {
  enum_of<T>::tags;
};
template <class T>
concept has_variant = requires {
  variant_of<T>::tags;
};

class binder;

/// How a C++ type is one of Candid: `type(binder&)`, `read(value&, T&)`, `write(const T&)`. Values
/// read have the shape of the type, as `decode` makes them.
template <class T>
struct codec;

/// Collects the types and methods of an interface. Types with a name are defined under it, in the
/// order in which they are met, parts first.
class binder {
public:
  /// For types made at run time; those of bound structs come from `type_of`.
  type_table& types() noexcept {
    return *types_;
  }

  /// What `dynamic<Tag>` is. Before the first `type_of` that contains it.
  template <class Tag>
  void set_dynamic(type_ref type) {
    known_[key<dynamic<Tag>>()] = type;
  }

  template <class T>
  type_ref type_of() {
    const auto* k = key<T>();
    if (const auto at = known_.find(k); at != known_.end()) return at->second;
    return codec<T>::type(*this);
  }

  /// Remembers the type of `T` while its parts are still being made (recursive types).
  template <class T>
  void remember(type_ref type) {
    known_[key<T>()] = type;
  }
  /// Defines a name, unless it is empty.
  void define(std::string_view name, type_ref type);

  /// Adds a method; `Arguments` and `Results` are `std::tuple`s.
  template <class Arguments, class Results>
  void add_method(std::string_view name, uint8_t annotations = 0) {
    const auto arguments = tuple_of(static_cast<Arguments*>(nullptr));
    const auto results = tuple_of(static_cast<Results*>(nullptr));
    add_method(name, arguments, results, annotations);
  }

  /// The interface of all methods added. The binder is used up.
  interface finish();

private:
  template <class T>
  static const void* key() noexcept {
    static constexpr char place = 0;
    return &place;
  }
  template <class... Ts>
  std::vector<type_ref> tuple_of(std::tuple<Ts...>*) {
    return {type_of<Ts>()...};
  }
  void add_method(std::string_view name, const std::vector<type_ref>& arguments,
                  const std::vector<type_ref>& results, uint8_t annotations);

  std::shared_ptr<type_table> types_ = std::make_shared<type_table>();
  std::map<const void*, type_ref> known_;
  std::vector<method> methods_;
};

/// Reads a C++ value out of one that has the shape of its type.
template <class T>
T from_value(value v) {
  T out{};
  codec<T>::read(v, out);
  return out;
}

template <class T>
value to_value(const T& in) {
  return codec<T>::write(in);
}

/// One method of a bound interface, its arguments and results as C++ types: the same ones that it
/// was added to the binder with.
template <class Arguments, class Results>
class typed_method {
public:
  /// `from` must have the method, and outlive this.
  typed_method(const interface& from, std::string_view name) : type_(from.find(name)) {
    moxzi_assert(type_ != nullptr, "no method {}", name);
  }

  const method_type& type() const noexcept {
    return *type_;
  }
  result<Arguments> decode_arguments(byte_view bytes, const quota& allowed = {}) const {
    return read<Arguments>(bytes, type_->arguments, allowed);
  }
  result<Results> decode_results(byte_view bytes, const quota& allowed = {}) const {
    return read<Results>(bytes, type_->results, allowed);
  }
  result<byte_string> encode_arguments(const Arguments& arguments) const {
    return write(arguments, type_->arguments);
  }
  result<byte_string> encode_results(const Results& results) const {
    return write(results, type_->results);
  }

private:
  template <class Tuple>
  static result<Tuple> read(byte_view bytes, const tuple_type& types, const quota& allowed) {
    auto values = decode(bytes, types, allowed);
    if (!values) return values.error();
    Tuple out{};
    [&]<size_t... I>(std::index_sequence<I...>) {
      (codec<std::tuple_element_t<I, Tuple>>::read((*values)[I], std::get<I>(out)), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Tuple>>{});
    return out;
  }
  template <class Tuple>
  static result<byte_string> write(const Tuple& tuple, const tuple_type& types) {
    std::vector<value> values;
    values.reserve(std::tuple_size_v<Tuple>);
    std::apply([&values](const auto&... part) { (values.push_back(to_value(part)), ...); }, tuple);
    return encode(types, values);
  }

  const method_type* type_;
};

} // namespace moxzi::candid

#include "actors/candid/binding_codecs.hpp"
