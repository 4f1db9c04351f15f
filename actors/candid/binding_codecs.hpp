#pragma once

#include "actors/candid/binding.hpp"

/// The codecs of `binding.hpp`; include that.
namespace moxzi::candid {

namespace internal {

/// ranks[i]: the position, among names sorted by id, of the i-th one.
template <size_t N>
constexpr std::array<uint32_t, N> ranks_by_id(const std::array<std::string_view, N>& names) {
  std::array<uint32_t, N> ranks{};
  for (size_t i = 0; i < N; ++i) {
    for (size_t k = 0; k < N; ++k) {
      if (hash_name(names[k]) < hash_name(names[i])) ++ranks[i];
    }
  }
  return ranks;
}

/// The other way round: which name has the position.
template <size_t N>
constexpr std::array<uint32_t, N> inverse(const std::array<uint32_t, N>& ranks) {
  std::array<uint32_t, N> order{};
  for (size_t i = 0; i < N; ++i) order[ranks[i]] = static_cast<uint32_t>(i);
  return order;
}

template <class T>
constexpr kind fixed_kind() {
  if constexpr (std::is_unsigned_v<T>) {
    return sizeof(T) == 1   ? kind::nat8
           : sizeof(T) == 2 ? kind::nat16
           : sizeof(T) == 4 ? kind::nat32
                            : kind::nat64;
  } else {
    return sizeof(T) == 1   ? kind::int8
           : sizeof(T) == 2 ? kind::int16
           : sizeof(T) == 4 ? kind::int32
                            : kind::int64;
  }
}

} // namespace internal

// -- primitive types ----------------------------------------------------------

template <>
struct codec<std::monostate> {
  static type_ref type(binder&) {
    return kind::null;
  }
  static void read(value&, std::monostate&) {
    // nop
  }
  static value write(const std::monostate&) {
    return {};
  }
};

template <>
struct codec<bool> {
  static type_ref type(binder&) {
    return kind::boolean;
  }
  static void read(value& v, bool& out) {
    out = v.as_boolean();
  }
  static value write(bool in) {
    return value::boolean(in);
  }
};

template <std::integral T>
struct codec<T> {
  static type_ref type(binder&) {
    return internal::fixed_kind<T>();
  }
  static void read(value& v, T& out) {
    if constexpr (std::is_unsigned_v<T>) {
      out = static_cast<T>(v.as_fixed_nat());
    } else {
      out = static_cast<T>(v.as_fixed_int());
    }
  }
  static value write(T in) {
    if constexpr (std::is_unsigned_v<T>) {
      return value::fixed_nat(in);
    } else {
      return value::fixed_int(in);
    }
  }
};

template <>
struct codec<float> {
  static type_ref type(binder&) {
    return kind::float32;
  }
  static void read(value& v, float& out) {
    out = v.as_float32();
  }
  static value write(float in) {
    return value::float32(in);
  }
};

template <>
struct codec<double> {
  static type_ref type(binder&) {
    return kind::float64;
  }
  static void read(value& v, double& out) {
    out = v.as_float64();
  }
  static value write(double in) {
    return value::float64(in);
  }
};

template <>
struct codec<std::string> {
  static type_ref type(binder&) {
    return kind::text;
  }
  static void read(value& v, std::string& out) {
    out = std::move(v.as_string());
  }
  static value write(const std::string& in) {
    return value::string(in);
  }
};

template <>
struct codec<blob> {
  static type_ref type(binder& b) {
    const auto made = b.types().blob();
    b.remember<blob>(made);
    return made;
  }
  static void read(value& v, blob& out) {
    out.bytes = std::move(v.as_string());
  }
  static value write(const blob& in) {
    return value::string(in.bytes);
  }
};

template <>
struct codec<principal> {
  static type_ref type(binder&) {
    return kind::principal;
  }
  static void read(value& v, principal& out) {
    out = v.as_principal();
  }
  static value write(const principal& in) {
    return value::principal(in);
  }
};

template <>
struct codec<integer> {
  static type_ref type(binder&) {
    return kind::integer;
  }
  static void read(value& v, integer& out) {
    out = v.as_whole();
  }
  static value write(const integer& in) {
    return value::whole(in);
  }
};

template <>
struct codec<natural> {
  static type_ref type(binder&) {
    return kind::nat;
  }
  static void read(value& v, natural& out) {
    out.number = v.as_whole();
  }
  static value write(const natural& in) {
    return value::whole(in.number);
  }
};

template <class Tag>
struct codec<dynamic<Tag>> {
  static type_ref type(binder&) {
    moxzi_assert(false, "a dynamic type that the binder was not given");
    return {};
  }
  static void read(value& v, dynamic<Tag>& out) {
    out.held = std::move(v);
  }
  static value write(const dynamic<Tag>& in) {
    return in.held;
  }
};

// -- composite types ----------------------------------------------------------

template <class T>
struct codec<std::optional<T>> {
  static type_ref type(binder& b) {
    const auto entry = b.types().declare();
    b.remember<std::optional<T>>(entry);
    b.types().set_opt(entry, b.type_of<T>());
    return entry;
  }
  static void read(value& v, std::optional<T>& out) {
    if (v.is_null()) {
      out.reset();
    } else {
      codec<T>::read(v.as_some(), out.emplace());
    }
  }
  static value write(const std::optional<T>& in) {
    return in ? value::some(codec<T>::write(*in)) : value{};
  }
};

template <class T>
struct codec<std::vector<T>> {
  static_assert(!std::is_same_v<T, uint8_t>, "a vector of bytes is a blob");

  static type_ref type(binder& b) {
    const auto entry = b.types().declare();
    b.remember<std::vector<T>>(entry);
    b.types().set_vec(entry, b.type_of<T>());
    return entry;
  }
  static void read(value& v, std::vector<T>& out) {
    auto& items = v.as_list();
    out.clear();
    out.reserve(items.size());
    for (auto& item : items) codec<T>::read(item, out.emplace_back());
  }
  static value write(const std::vector<T>& in) {
    std::vector<value> items;
    items.reserve(in.size());
    for (const auto& item : in) items.push_back(codec<T>::write(item));
    return value::list(std::move(items));
  }
};

template <class... Ts>
struct codec<std::tuple<Ts...>> {
  static type_ref type(binder& b) {
    std::vector<field_spec> fields;
    uint32_t next = 0;
    (fields.emplace_back(next++, b.type_of<Ts>()), ...);
    const auto made = b.types().record(std::move(fields));
    b.remember<std::tuple<Ts...>>(made);
    return made;
  }
  static void read(value& v, std::tuple<Ts...>& out) {
    auto& items = v.as_list();
    size_t next = 0;
    std::apply([&](auto&... part) { (codec<Ts>::read(items[next++], part), ...); }, out);
  }
  static value write(const std::tuple<Ts...>& in) {
    std::vector<value> items;
    items.reserve(sizeof...(Ts));
    std::apply([&](const auto&... part) { (items.push_back(codec<Ts>::write(part)), ...); }, in);
    return value::list(std::move(items));
  }
};

template <has_record T>
struct codec<T> {
  static constexpr auto names = std::apply(
    [](const auto&... m) { return std::array<std::string_view, sizeof...(m)>{m.name...}; },
    record_of<T>::fields);
  static constexpr auto ranks = internal::ranks_by_id(names);

  template <class Struct, class Field>
  static Field field_of(const member<Struct, Field>&);

  static type_ref type(binder& b) {
    const auto entry = b.types().declare();
    b.remember<T>(entry);
    std::vector<field_spec> fields;
    std::apply(
      [&](const auto&... m) {
        (fields.emplace_back(m.name, b.type_of<decltype(field_of(m))>()), ...);
      },
      record_of<T>::fields);
    const auto made = b.types().set_record(entry, std::move(fields));
    moxzi_assert(made.has_value());
    b.define(record_of<T>::name, entry);
    return entry;
  }
  static void read(value& v, T& out) {
    auto& items = v.as_list();
    size_t next = 0;
    const auto one = [&](const auto& m) {
      codec<decltype(field_of(m))>::read(items[ranks[next++]], out.*(m.pointer));
    };
    std::apply([&](const auto&... m) { (one(m), ...); }, record_of<T>::fields);
  }
  static value write(const T& in) {
    std::vector<value> items(names.size());
    size_t next = 0;
    const auto one = [&](const auto& m) {
      items[ranks[next++]] = codec<decltype(field_of(m))>::write(in.*(m.pointer));
    };
    std::apply([&](const auto&... m) { (one(m), ...); }, record_of<T>::fields);
    return value::list(std::move(items));
  }
};

template <has_enum T>
struct codec<T> {
  static constexpr size_t count = std::tuple_size_v<std::decay_t<decltype(enum_of<T>::tags)>>;
  static constexpr auto names = [] {
    std::array<std::string_view, count> all{};
    for (size_t i = 0; i < count; ++i) all[i] = enum_of<T>::tags[i].name;
    return all;
  }();
  static constexpr auto ranks = internal::ranks_by_id(names);
  static constexpr auto order = internal::inverse(ranks);

  static type_ref type(binder& b) {
    std::vector<field_spec> tags;
    for (const auto name : names) tags.emplace_back(name, kind::null);
    const auto made = b.types().variant(std::move(tags));
    b.remember<T>(made);
    b.define(enum_of<T>::name, made);
    return made;
  }
  static void read(value& v, T& out) {
    out = enum_of<T>::tags[order[v.as_position()]].number;
  }
  static value write(T in) {
    for (size_t i = 0; i < count; ++i) {
      if (enum_of<T>::tags[i].number == in) return value::variant(ranks[i]);
    }
    moxzi_assert(false, "an enumerator without a tag");
    return {};
  }
};

template <has_variant T>
struct codec<T> {
  using choice_type = std::decay_t<decltype(std::declval<T>().*(variant_of<T>::choice))>;
  static constexpr size_t count = std::variant_size_v<choice_type>;
  static_assert(std::tuple_size_v<std::decay_t<decltype(variant_of<T>::tags)>> == count);
  static constexpr auto ranks = internal::ranks_by_id(variant_of<T>::tags);
  static constexpr auto order = internal::inverse(ranks);

  static type_ref type(binder& b) {
    const auto entry = b.types().declare();
    b.remember<T>(entry);
    std::vector<field_spec> tags;
    [&]<size_t... I>(std::index_sequence<I...>) {
      (tags.emplace_back(variant_of<T>::tags[I],
                         b.type_of<std::variant_alternative_t<I, choice_type>>()),
       ...);
    }
    (std::make_index_sequence<count>{});
    const auto made = b.types().set_variant(entry, std::move(tags));
    moxzi_assert(made.has_value());
    b.define(variant_of<T>::name, entry);
    return entry;
  }
  static void read(value& v, T& out) {
    const auto chosen = order[v.as_position()];
    auto payload = v.take_payload();
    auto& choice = out.*(variant_of<T>::choice);
    const auto one = [&]<size_t I>(std::integral_constant<size_t, I>) {
      if (I != chosen) return;
      codec<std::variant_alternative_t<I, choice_type>>::read(payload,
                                                              choice.template emplace<I>());
    };
    [&]<size_t... I>(std::index_sequence<I...>) {
      (one(std::integral_constant<size_t, I>{}), ...);
    }
    (std::make_index_sequence<count>{});
  }
  static value write(const T& in) {
    const auto& choice = in.*(variant_of<T>::choice);
    value payload;
    const auto one = [&]<size_t I>(std::integral_constant<size_t, I>) {
      if (I != choice.index()) return;
      using alternative = std::variant_alternative_t<I, choice_type>;
      payload = codec<alternative>::write(std::get<I>(choice));
    };
    [&]<size_t... I>(std::index_sequence<I...>) {
      (one(std::integral_constant<size_t, I>{}), ...);
    }
    (std::make_index_sequence<count>{});
    return value::variant(ranks[choice.index()], std::move(payload));
  }
};

} // namespace moxzi::candid
