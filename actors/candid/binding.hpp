#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "actors/candid/interface.hpp"
#include "actors/candid/types.hpp"
#include "actors/candid/value.hpp"
#include "base/assert.hpp"
#include "base/codec.hpp"

/// C++ types as Candid, declared once: from a declaration come the Candid type, its text in the
/// `.did` file, the reading of values and the writing of bytes.
///
///     struct pair { uint32_t a = 0; std::optional<std::string> note; bool on = false; };
///     declarations in;
///     auto how = record_of<pair>(in, "Pair", {
///       bound("a", &pair::a, nat32_form()),
///       bound("note", &pair::note, opt_of(in, text_form()), "What a reader should know."),
///       bound_or_default(in, "on", &pair::on, boolean_form()),
///     });
///     in.add_method("keep", "Keeps it.", {how}, {});
///
/// Declarations are made at run time, so that a part of them can come from a table.
namespace moxzi::candid {

/// A type and how a `.did` file writes it.
struct typed_text {
  type_ref type;
  std::string text;
};

/// The types and methods of an interface, and their text in the order of declaration.
class declarations {
public:
  type_table& types() noexcept {
    return types_;
  }
  const type_table& types() const noexcept {
    return types_;
  }
  /// Names a type; `body` is its text, `note` a comment or nothing.
  void define(std::string_view name, type_ref type, std::string_view body, std::string_view note);
  /// Adds a name for a primitive type, for readers only.
  void alias(std::string_view name, std::string_view body, std::string_view note);
  /// Adds a method to the service.
  void add_method(std::string_view name, std::string_view note,
                  const std::vector<typed_text>& arguments, const std::vector<typed_text>& results,
                  uint8_t annotations = 0);

  /// False if values of the type take no bytes: a few bytes could say that there are millions.
  bool takes_bytes(type_ref type) const;

  /// The types and methods added so far.
  candid::interface service() const;
  /// The `.did` file: `type … = …;` for all that was defined, and the service.
  std::string text() const;

private:
  type_table types_;
  std::vector<method> methods_;
  std::string text_;
  std::string method_text_;
};

/// How a C++ type is Candid.
template <class T>
struct form : typed_text {
  /// Takes a value of the type apart. It has the type's shape, as `decode` makes it.
  std::function<T(value)> read;
  /// Appends the value as a message has it. What is written can be read within the usual quota, as
  /// with `encode`: no type refers to itself, so nothing nests deeper than its declaration, and all
  /// elements take bytes (see `vec_of`), so there are no more values than bytes and declared
  /// fields. Texts must be UTF-8.
  std::function<void(writer&, const T&)> append;
};

// -- primitive types ----------------------------------------------------------

form<bool> boolean_form();
form<uint32_t> nat32_form();
form<uint64_t> nat64_form();
form<double> float64_form();
form<std::string> text_form();
form<byte_string> blob_form(declarations& in);
/// `nat`, however large.
form<integer> nat_form();
form<moxzi::principal> principal_form();
/// A method of somebody's that takes and gives these types.
form<value::func_ref> func_form(declarations& in, const std::vector<typed_text>& arguments,
                                const std::vector<typed_text>& results, uint8_t annotations = 0);
/// What is read as nothing, whatever it is.
form<std::monostate> reserved_form();

// -- composed types -----------------------------------------------------------

template <class T>
form<std::vector<T>> vec_of(declarations& in, form<T> element) {
  moxzi_assert(in.takes_bytes(element.type), "a vector of {}", element.text);
  auto read = [from = element.read](value list) {
    std::vector<T> items;
    items.reserve(list.as_list().size());
    for (auto& item : list.as_list()) items.push_back(from(std::move(item)));
    return items;
  };
  auto append = [to = element.append](writer& out, const std::vector<T>& items) {
    out.count(items.size());
    for (const auto& item : items) to(out, item);
  };
  return {
    {in.types().vec(element.type), "vec " + element.text}, std::move(read), std::move(append)};
}

template <class T>
form<std::optional<T>> opt_of(declarations& in, form<T> content) {
  auto read = [from = content.read](value held) -> std::optional<T> {
    if (held.is_null()) return std::nullopt;
    return from(std::move(held.as_some()));
  };
  auto append = [to = content.append](writer& out, const std::optional<T>& held) {
    out.boolean(held.has_value());
    if (held) to(out, *held);
  };
  return {
    {in.types().opt(content.type), "opt " + content.text}, std::move(read), std::move(append)};
}

/// A field of a record that stands for `T`.
template <class T>
struct member {
  std::string name;
  typed_text type;
  std::function<void(value, T&)> read;
  std::function<void(writer&, const T&)> append;
  std::string note;
};

template <class T, class M>
member<T> bound(std::string_view name, M T::*where, form<M> how, std::string_view note = {}) {
  auto read = [where, from = how.read](value v, T& to) { to.*where = from(std::move(v)); };
  auto append = [where, to = how.append](writer& out, const T& x) { to(out, x.*where); };
  return {std::string{name}, how, std::move(read), std::move(append), std::string{note}};
}

/// A field that is optional in Candid and has a default in C++: that of a `T{}`.
template <class T, class M>
member<T> bound_or_default(declarations& in, std::string_view name, M T::*where, form<M> how,
                           std::string_view note = {}) {
  const auto optional = opt_of(in, std::move(how));
  auto read = [where, from = optional.read](value v, T& to) {
    if (auto held = from(std::move(v))) to.*where = std::move(*held);
  };
  auto append = [where, to = optional.append](writer& out, const T& x) { to(out, x.*where); };
  return {std::string{name}, optional, std::move(read), std::move(append), std::string{note}};
}

/// A field that is only written: `get` finds it in a `T`.
template <class T, class M, class F>
member<T> computed(std::string_view name, form<M> how, F get, std::string_view note = {}) {
  auto append = [get, to = how.append](writer& out, const T& x) { to(out, get(x)); };
  return {std::string{name}, how, [](value, T&) {}, std::move(append), std::string{note}};
}

/// The text of `record { … }` or `variant { … }`, on one line, or on one for each part.
std::string braces(std::string_view word, const std::vector<std::string>& parts,
                   const std::vector<std::string>& notes, bool is_block);

/// A record. With a name, it is defined under it.
template <class T>
form<T> record_of(declarations& in, std::string_view name, std::vector<member<T>> members,
                  std::string_view note = {}) {
  std::vector<field_spec> specs;
  std::vector<std::string> parts;
  std::vector<std::string> notes;
  for (const auto& m : members) {
    specs.emplace_back(m.name, m.type.type);
    parts.push_back(fmt::format("{} : {}", m.name, m.type.text));
    notes.push_back(m.note);
  }
  const auto type = in.types().record(std::move(specs));
  auto text = braces("record", parts, notes, !name.empty());
  if (!name.empty()) {
    in.define(name, type, text, note);
    text = name;
  }
  // By position in the value, which is not the order of declaration.
  auto sorted = std::make_shared<std::vector<member<T>>>(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    (*sorted)[in.types().fields(type)[i].declared] = std::move(members[i]);
  }
  auto read = [sorted](value record) {
    T made{};
    auto& items = record.as_list();
    for (size_t i = 0; i < sorted->size(); ++i) (*sorted)[i].read(std::move(items[i]), made);
    return made;
  };
  auto append = [sorted](writer& out, const T& x) {
    for (const auto& m : *sorted) m.append(out, x);
  };
  return {{type, std::move(text)}, std::move(read), std::move(append)};
}

/// A tag of a variant that stands for `T`.
template <class T>
struct choice {
  std::string name;
  std::optional<typed_text> payload;
  std::function<T(value)> read; ///< of the payload
  std::function<bool(const T&)> is;
  std::function<void(writer&, const T&)> append; ///< the payload
  std::string note;
};

/// A tag without payload, for one value.
template <class T>
choice<T> tag(std::string_view name, T made, std::string_view note = {}) {
  return {std::string{name},
          std::nullopt,
          [made](value) { return made; },
          [made](const T& x) { return x == made; },
          [](writer&, const T&) {},
          std::string{note}};
}

/// A tag without payload that is read and never written: another tag says the same.
template <class T>
choice<T> shorthand(std::string_view name, T made, std::string_view note = {}) {
  return {std::string{name},
          std::nullopt,
          [made](value) { return made; },
          [](const T&) { return false; },
          [](writer&, const T&) {},
          std::string{note}};
}

/// A tag for an alternative of a `std::variant`.
template <class T, class A>
choice<T> alternative(std::string_view name, form<A> how, std::string_view note = {}) {
  return {std::string{name},
          how,
          [from = how.read](value v) { return T{from(std::move(v))}; },
          [](const T& x) { return std::holds_alternative<A>(x); },
          [to = how.append](writer& out, const T& x) { to(out, std::get<A>(x)); },
          std::string{note}};
}

/// A struct of one member as that member alone.
template <class T, class M>
form<T> only(M T::*where, form<M> how) {
  auto read = [where, from = how.read](value v) {
    T made{};
    made.*where = from(std::move(v));
    return made;
  };
  auto append = [where, to = how.append](writer& out, const T& x) { to(out, x.*where); };
  return {how, std::move(read), std::move(append)};
}

/// A variant. With a name, it is defined under it. A value is written as the first tag that it is.
template <class T>
form<T> variant_of(declarations& in, std::string_view name, std::vector<choice<T>> choices,
                   std::string_view note = {}) {
  std::vector<field_spec> specs;
  std::vector<std::string> parts;
  std::vector<std::string> notes;
  bool is_block = false;
  for (const auto& c : choices) {
    specs.emplace_back(c.name, c.payload ? c.payload->type : type_ref{kind::null});
    parts.push_back(c.payload ? fmt::format("{} : {}", c.name, c.payload->text) : c.name);
    notes.push_back(c.note);
    is_block = is_block || !c.note.empty() || c.payload;
  }
  const auto type = in.types().variant(std::move(specs));
  auto text = braces("variant", parts, notes, is_block);
  if (!name.empty()) {
    in.define(name, type, text, note);
    text = name;
  }
  std::vector<uint32_t> positions;
  std::vector<uint32_t> chosen(choices.size());
  for (uint32_t i = 0; i < choices.size(); ++i) {
    positions.push_back(in.types().fields(type)[i].declared);
    chosen[positions[i]] = i;
  }
  const auto all = std::make_shared<const std::vector<choice<T>>>(std::move(choices));
  auto read = [all, chosen](value tagged) {
    const auto& at = (*all)[chosen[tagged.as_position()]];
    return at.read(tagged.take_payload());
  };
  auto append = [all, positions](writer& out, const T& x) {
    const auto at = std::ranges::find_if(*all, [&x](const choice<T>& c) { return c.is(x); });
    moxzi_assert(at != all->end(), "a value that no tag stands for");
    out.count(positions[static_cast<size_t>(at - all->begin())]);
    at->append(out, x);
  };
  return {{type, std::move(text)}, std::move(read), std::move(append)};
}

/// A variant of tags without payloads, for values that can be compared.
template <class E>
form<E> enum_of(declarations& in, std::string_view name,
                const std::vector<std::pair<std::string_view, E>>& tags,
                std::string_view note = {}) {
  std::vector<choice<E>> choices;
  for (const auto& [word, meaning] : tags) choices.push_back(tag(word, meaning));
  return variant_of(in, name, std::move(choices), note);
}

} // namespace moxzi::candid
