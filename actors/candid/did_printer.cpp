#include "actors/candid/did_printer.hpp"

#include <set>

#include "actors/candid/lexer.hpp"

namespace moxzi::candid {

namespace {

/// Longer lists of fields are put on lines of their own.
constexpr size_t fields_on_a_line_max = 78;

class printer {
public:
  explicit printer(const type_table& types) : types_(types) {
    // nop
  }

  /// A type where it is used.
  std::string use(type_ref type) {
    if (const auto name = types_.type_name(type); !name.empty()) return std::string{name};
    return structure(type);
  }

  /// What a definition says.
  std::string structure(type_ref type) {
    // A table may refer to itself without a name; text cannot say that.
    if (type.is_entry() && !open_.insert(type.index()).second) {
      return fmt::format("{} /* again */", keyword(types_.kind_of(type)));
    }
    auto text = inner(type);
    if (type.is_entry()) open_.erase(type.index());
    return text;
  }

  /// `name_of(i)` is the name of the i-th item, or empty.
  template <class Names>
  std::string tuple(std::span<const type_ref> items, Names name_of) {
    std::string text = "(";
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text += ", ";
      const std::string_view name = name_of(i);
      if (!name.empty()) text += (is_plain_name(name) ? std::string{name} : quoted(name)) + " : ";
      text += use(items[i]);
    }
    return text + ")";
  }

  std::string service(type_ref type) {
    std::string text = "{";
    for (const auto& m : types_.methods(type)) {
      const auto name = is_plain_name(m.name) ? m.name : quoted(m.name);
      const auto alias = types_.type_name(m.type);
      text +=
        "\n  " + name + " : " + (alias.empty() ? signature(m.type) : std::string{alias}) + ";";
    }
    return text + (types_.methods(type).empty() ? "}" : "\n}");
  }

private:
  std::string inner(type_ref type) {
    const auto form = types_.kind_of(type);
    switch (form) {
      case kind::opt:
        return "opt " + use(types_.element(type));
      case kind::vec:
        return types_.is_blob(type) ? "blob" : "vec " + use(types_.element(type));
      case kind::record:
      case kind::variant:
        return fields(type, form == kind::record);
      case kind::func:
        return "func " + signature(type);
      case kind::service:
        return "service " + service(type);
      case kind::future:
        return "empty /* a type of a later version */";
      default:
        return std::string{keyword(form)};
    }
  }

  std::string signature(type_ref type) {
    const auto arguments = types_.arguments(type);
    const auto name = [this, type](size_t i) { return types_.parameter_name(type, i); };
    const auto result_name = [&](size_t i) { return name(arguments.size() + i); };
    auto text = tuple(arguments, name) + " -> " + tuple(types_.results(type), result_name);
    const auto set = types_.annotations(type);
    if (set & annotation::query) text += " query";
    if (set & annotation::composite_query) text += " composite_query";
    if (set & annotation::oneway) text += " oneway";
    return text;
  }

  std::string field_text(const field& f, bool is_record, bool is_tuple) {
    const auto type = use(f.type);
    if (is_tuple) return type;
    std::string label = std::to_string(f.id);
    if (f.name != field::no_name) {
      const auto name = types_.name_of(f);
      label = is_plain_name(name) ? std::string{name} : quoted(name);
    }
    const bool is_bare = !is_record && types_.kind_of(f.type) == kind::null;
    return is_bare ? label : label + " : " + type;
  }

  std::string fields(type_ref type, bool is_record) {
    const auto all = types_.fields(type);
    std::vector<std::string> parts;
    size_t size = 0;
    ++indent_;
    for (size_t i = 0; i < all.size(); ++i) {
      parts.push_back(field_text(types_.declared(type, i), is_record, types_.is_tuple(type)));
      size += parts.back().size() + 2;
    }
    --indent_;
    std::string text = is_record ? "record {" : "variant {";
    if (parts.empty()) return text + "}";
    const bool one_line = size + 2 * indent_ < fields_on_a_line_max;
    const auto margin = "\n" + std::string(2 * (indent_ + 1), ' ');
    for (size_t i = 0; i < parts.size(); ++i) {
      text += (one_line ? " " : margin) + parts[i];
      if (!one_line || i + 1 < parts.size()) text += ';';
    }
    return text + (one_line ? " }" : "\n" + std::string(2 * indent_, ' ') + "}");
  }

  const type_table& types_;
  std::set<uint32_t> open_;
  size_t indent_ = 0;
};

} // namespace

std::string type_text(const type_table& types, type_ref type) {
  return printer{types}.use(type);
}

std::string tuple_text(const tuple_type& types) {
  return printer{*types.types}.tuple(types.items, [](size_t) { return std::string_view{}; });
}

std::string did_text(const interface& what) {
  printer out{*what.types};
  std::string text;
  for (const auto& [name, type] : what.types->definitions()) {
    // An alias of a named type prints as that name; the type itself prints in full.
    const bool is_first = what.types->type_name(type) == name;
    text += "type " + name + " = " + (is_first ? out.structure(type) : out.use(type)) + ";\n";
  }
  if (!what.service) return text;
  text += "service ";
  if (!what.service_name.empty()) text += what.service_name + " ";
  text += ": ";
  const auto init_name = [&what](size_t i) {
    return i < what.init_names.size() ? std::string_view{what.init_names[i]} : std::string_view{};
  };
  if (what.has_constructor) text += out.tuple(what.init.items, init_name) + " -> ";
  return text + out.service(*what.service) + "\n";
}

} // namespace moxzi::candid
