#include "actors/candid/float_text.hpp"
#include "actors/candid/lexer.hpp"
#include "actors/candid/text.hpp"

namespace moxzi::candid {

namespace {

class text_writer {
public:
  text_writer(const type_table& types, const text_options& options)
      : types_(types), options_(options) {
    // nop
  }

  void write(type_ref type, const value& v);

  std::string out;

private:
  /// A number, with its type if it would read back at another (`int` and `float64` are assumed).
  void number(type_ref type, std::string_view text, bool under_opt) {
    const auto form = types_.kind_of(type);
    const bool says = options_.annotate && form != kind::integer && form != kind::float64;
    if (says && under_opt) out += '(';
    out += text;
    if (!says) return;
    out += " : ";
    out += keyword(form);
    if (under_opt) out += ')';
  }
  void label(const field& f) {
    const auto name = types_.name_of(f);
    if (f.name == field::no_name) {
      out += std::to_string(f.id);
    } else {
      out += is_plain_name(name) ? std::string{name} : quoted(name);
    }
  }
  void single(type_ref type, const value& v, bool under_opt);
  void record(type_ref type, const value& v);
  void variant(type_ref type, const value& v);
  void composite(type_ref type, const value& v);

  const type_table& types_;
  const text_options& options_;
};

void text_writer::write(type_ref type, const value& v) {
  single(type, v, false);
}

void text_writer::single(type_ref type, const value& v, bool under_opt) {
  switch (types_.kind_of(type)) {
    case kind::boolean:
      out += v.as_boolean() ? "true" : "false";
      break;
    case kind::nat:
    case kind::integer:
      number(type, v.as_whole().to_text(), under_opt);
      break;
    case kind::nat8:
    case kind::nat16:
    case kind::nat32:
    case kind::nat64:
      number(type, std::to_string(v.as_fixed_nat()), under_opt);
      break;
    case kind::int8:
    case kind::int16:
    case kind::int32:
    case kind::int64:
      number(type, std::to_string(v.as_fixed_int()), under_opt);
      break;
    case kind::float32:
      number(type, float_text(v.as_float32()), under_opt);
      break;
    case kind::float64:
      number(type, float_text(v.as_float64()), under_opt);
      break;
    case kind::text:
      out += quoted(v.as_string());
      break;
    case kind::principal:
      out += "principal \"" + v.as_principal().to_text() + '"';
      break;
    case kind::service:
      out += "service \"" + v.as_principal().to_text() + '"';
      break;
    case kind::func: {
      const auto& name = v.as_func().method;
      out += "func \"" + v.as_func().service.to_text() + "\".";
      out += is_plain_name(name) ? name : quoted(name);
      break;
    }
    default:
      composite(type, v);
      break;
  }
}

void text_writer::composite(type_ref type, const value& v) {
  switch (types_.kind_of(type)) {
    case kind::opt:
      if (v.is_null()) {
        out += "null";
      } else {
        out += "opt ";
        single(types_.element(type), v.as_some(), true);
      }
      break;
    case kind::vec:
      if (types_.is_blob(type)) {
        out += "blob " + quoted_bytes(v.as_string());
        break;
      }
      out += "vec {";
      for (const auto& item : v.as_list()) {
        out += out.back() == '{' ? " " : "; ";
        write(types_.element(type), item);
      }
      out += v.as_list().empty() ? "}" : " }";
      break;
    case kind::record:
      record(type, v);
      break;
    case kind::variant:
      variant(type, v);
      break;
    default: // null, reserved
      out += "null";
  }
}

void text_writer::record(type_ref type, const value& v) {
  const auto fields = types_.fields(type);
  const bool tuple = types_.is_tuple(type);
  out += "record {";
  for (size_t i = 0; i < fields.size(); ++i) {
    out += i == 0 ? " " : "; ";
    const auto at = tuple ? i : fields[i].declared;
    if (!tuple) {
      label(fields[at]);
      out += " = ";
    }
    write(fields[at].type, v.as_list()[at]);
  }
  out += fields.empty() ? "}" : " }";
}

void text_writer::variant(type_ref type, const value& v) {
  const auto& tag = types_.fields(type)[v.as_position()];
  out += "variant { ";
  label(tag);
  if (types_.kind_of(tag.type) != kind::null) {
    out += " = ";
    write(tag.type, v.as_payload());
  }
  out += " }";
}

} // namespace

std::string values_to_text(const tuple_type& types, std::span<const value> values,
                           const text_options& options) {
  text_writer writer{*types.types, options};
  writer.out += '(';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) writer.out += ", ";
    writer.write(types.items[i], values[i]);
  }
  writer.out += ')';
  return std::move(writer.out);
}

std::string message_to_text(const message& what, const text_options& options) {
  return values_to_text({.types = what.types, .items = what.items, .header = {}}, what.values,
                        options);
}

} // namespace moxzi::candid
