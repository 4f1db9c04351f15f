#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/candid/types.hpp"
#include "actors/candid/value.hpp"
#include "base/assert.hpp"
#include "base/codec.hpp"

/// Declares C++ types as Candid, once: from a declaration come the Candid type, its text in the
/// interface, the reading of values and the writing of bytes.
namespace moxzi::actors::management {

/// The types of an interface, and their text in the order of declaration.
class declarations {
public:
  candid::type_table& types() noexcept {
    return types_;
  }
  const candid::type_table& types() const noexcept {
    return types_;
  }
  /// Names a type; `body` is its text, `note` a comment or nothing.
  void define(std::string_view name, candid::type_ref type, std::string_view body,
              std::string_view note);
  /// Adds a name for a primitive type, for readers only.
  void alias(std::string_view name, std::string_view body, std::string_view note);
  /// `type … = …;` for all that was defined.
  const std::string& text() const noexcept {
    return text_;
  }

private:
  candid::type_table types_;
  std::string text_;
};

/// How a C++ type is Candid.
template <class T>
struct form {
  candid::type_ref type;
  std::string text; ///< as the interface writes it
  /// Takes a value of the type apart.
  std::function<T(candid::value)> read;
  /// Appends the value as a message has it.
  std::function<void(writer&, const T&)> append;
};

// -- primitive types ----------------------------------------------------------

form<bool> boolean_form();
form<uint32_t> nat32_form();
form<uint64_t> nat64_form();
form<double> float64_form();
form<std::string> text_form();
form<byte_string> blob_form(declarations& in);

// -- composed types -----------------------------------------------------------

template <class T>
form<std::vector<T>> vec_of(declarations& in, form<T> element) {
  const auto type = in.types().vec(element.type);
  auto text = "vec " + element.text;
  auto read = [from = element.read](candid::value list) {
    std::vector<T> items;
    items.reserve(list.as_list().size());
    for (auto& item : list.as_list()) items.push_back(from(std::move(item)));
    return items;
  };
  auto append = [to = element.append](writer& out, const std::vector<T>& items) {
    out.count(items.size());
    for (const auto& item : items) to(out, item);
  };
  return {type, std::move(text), std::move(read), std::move(append)};
}

template <class T>
form<std::optional<T>> opt_of(declarations& in, form<T> content) {
  const auto type = in.types().opt(content.type);
  auto text = "opt " + content.text;
  auto read = [from = content.read](candid::value held) -> std::optional<T> {
    if (held.is_null()) return std::nullopt;
    return from(std::move(held.as_some()));
  };
  auto append = [to = content.append](writer& out, const std::optional<T>& held) {
    out.boolean(held.has_value());
    if (held) to(out, *held);
  };
  return {type, std::move(text), std::move(read), std::move(append)};
}

/// A field of a record that stands for `T`.
template <class T>
struct member {
  std::string name;
  candid::type_ref type;
  std::string text;
  std::function<void(candid::value, T&)> read;
  std::function<void(writer&, const T&)> append;
  std::string note;
};

template <class T, class M>
member<T> field(std::string_view name, M T::*where, form<M> how, std::string_view note = {}) {
  return {std::string{name},
          how.type,
          how.text,
          [where, from = how.read](candid::value v, T& to) { to.*where = from(std::move(v)); },
          [where, to = how.append](writer& out, const T& x) { to(out, x.*where); },
          std::string{note}};
}

/// A field that is optional in the interface and has a default in C++: that of a `T{}`.
template <class T, class M>
member<T> field_or_default(declarations& in, std::string_view name, M T::*where, form<M> how,
                           std::string_view note = {}) {
  auto optional = opt_of(in, std::move(how));
  return {std::string{name},
          optional.type,
          optional.text,
          [where, from = optional.read](candid::value v, T& to) {
            if (auto held = from(std::move(v))) to.*where = std::move(*held);
          },
          [where, to = optional.append](writer& out, const T& x) { to(out, x.*where); },
          std::string{note}};
}

/// The text of `record { … }` or `variant { … }`, on one line, or on one for each part.
std::string braces(std::string_view word, const std::vector<std::string>& parts,
                   const std::vector<std::string>& notes, bool is_block);

/// A record. With a name, it is defined under it.
template <class T>
form<T> record_of(declarations& in, std::string_view name, std::vector<member<T>> members,
                  std::string_view note = {}) {
  std::vector<candid::field_spec> specs;
  std::vector<std::string> parts;
  std::vector<std::string> notes;
  for (const auto& m : members) {
    specs.emplace_back(m.name, m.type);
    parts.push_back(fmt::format("{} : {}", m.name, m.text));
    notes.push_back(m.note);
  }
  const auto type = in.types().record(std::move(specs));
  auto text = braces("record", parts, notes, !name.empty());
  if (!name.empty()) {
    in.define(name, type, text, note);
    text = name;
  }
  // By position in the value, which is not the order of declaration.
  std::vector<member<T>> sorted(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    sorted[in.types().fields(type)[i].declared] = std::move(members[i]);
  }
  auto read = [sorted](candid::value record) {
    T made{};
    auto& items = record.as_list();
    for (size_t i = 0; i < sorted.size(); ++i) sorted[i].read(std::move(items[i]), made);
    return made;
  };
  auto append = [sorted](writer& out, const T& x) {
    for (const auto& m : sorted) m.append(out, x);
  };
  return {type, std::move(text), std::move(read), std::move(append)};
}

/// A tag of a variant that stands for `T`.
template <class T>
struct choice {
  std::string name;
  candid::type_ref type;
  std::string text; ///< of the payload; empty for none
  std::function<T(candid::value)> read;
  std::function<bool(const T&)> is;
  std::function<void(writer&, const T&)> append; ///< the payload
  std::string note;
};

/// A tag without payload, for one value.
template <class T>
choice<T> plain(std::string_view name, T made, std::string_view note = {}) {
  return {std::string{name},
          candid::kind::null,
          {},
          [made](candid::value) { return made; },
          [made](const T& x) { return x == made; },
          [](writer&, const T&) {},
          std::string{note}};
}

/// A tag for an alternative of a `std::variant` or what `wrap` makes one of.
template <class T, class A>
choice<T> alternative(std::string_view name, form<A> how, std::string_view note = {}) {
  return {std::string{name},
          how.type,
          how.text,
          [from = how.read](candid::value v) { return T{from(std::move(v))}; },
          [](const T& x) { return std::holds_alternative<A>(x); },
          [to = how.append](writer& out, const T& x) { to(out, std::get<A>(x)); },
          std::string{note}};
}

/// A variant. With a name, it is defined under it. A value is written as the first tag that it is.
template <class T>
form<T> variant_of(declarations& in, std::string_view name, std::vector<choice<T>> choices,
                   std::string_view note = {}) {
  std::vector<candid::field_spec> specs;
  std::vector<std::string> parts;
  std::vector<std::string> notes;
  bool is_block = false;
  for (const auto& c : choices) {
    specs.emplace_back(c.name, c.type);
    parts.push_back(c.text.empty() ? c.name : fmt::format("{} : {}", c.name, c.text));
    notes.push_back(c.note);
    is_block = is_block || !c.note.empty() || !c.text.empty();
  }
  const auto type = in.types().variant(std::move(specs));
  auto text = braces("variant", parts, notes, is_block);
  if (!name.empty()) {
    in.define(name, type, text, note);
    text = name;
  }
  std::vector<uint32_t> positions;
  std::vector<choice<T>> sorted(choices.size());
  for (size_t i = 0; i < choices.size(); ++i) {
    positions.push_back(in.types().fields(type)[i].declared);
    sorted[positions[i]] = choices[i];
  }
  auto read = [sorted](candid::value tagged) {
    const auto& at = sorted[tagged.as_position()];
    return at.read(tagged.take_payload());
  };
  auto append = [choices, positions](writer& out, const T& x) {
    const auto at = std::ranges::find_if(choices, [&x](const choice<T>& c) { return c.is(x); });
    moxzi_assert(at != choices.end(), "a value that no tag stands for");
    out.count(positions[static_cast<size_t>(at - choices.begin())]);
    at->append(out, x);
  };
  return {type, std::move(text), std::move(read), std::move(append)};
}

} // namespace moxzi::actors::management
