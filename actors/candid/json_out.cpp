#include <array>
#include <charconv>

#include "actors/candid/base64.hpp"
#include "actors/candid/float_text.hpp"
#include "actors/candid/json.hpp"
#include "actors/candid/json_source.hpp"

namespace moxzi::candid {

namespace {

/// The largest whole number that every reader of JSON takes exactly.
constexpr int64_t exact_max = (int64_t{1} << 53) - 1;

class json_writer {
public:
  json_writer(const type_table& types, const json_options& options)
      : types_(types), options_(options) {
    // nop
  }

  void write(type_ref type, const value& v);

  std::string out;

private:
  void integer_text(const integer& n) {
    const auto small = n.to_int64();
    if (small && *small <= exact_max && *small >= -exact_max) return number(*small);
    out += '"' + n.to_text() + '"';
  }
  void number(int64_t n) {
    std::array<char, 24> raw;
    const auto end = std::to_chars(raw.data(), raw.data() + raw.size(), n).ptr;
    out.append(raw.data(), end);
  }
  void float_value(std::string text) {
    if (text == "nan") {
      text = "\"NaN\"";
    } else if (text.ends_with("inf")) {
      text = text.front() == '-' ? "\"-Infinity\"" : "\"Infinity\"";
    }
    out += text;
  }
  /// A name that reads as the number of another field is not written: its own number is.
  void label(type_ref type, const field& f) {
    const auto name = types_.name_of(f);
    const auto id = id_of_key(name);
    if (f.name == field::no_name || (id && types_.find(type, *id) != nullptr)) {
      out += "\"_" + std::to_string(f.id) + "_\"";
    } else {
      append_json_string(out, name);
    }
  }
  void blob(const std::string& bytes) {
    if (options_.blob_base64) {
      out += "{\"base64\":\"" + to_base64(bytes) + "\"}";
    } else {
      out += "\"0x" + to_hex(bytes) + '"';
    }
  }
  void opt(type_ref type, const value& v);
  void vec(type_ref type, const value& v);
  void record(type_ref type, const value& v);
  void variant(type_ref type, const value& v);
  void composite(type_ref type, const value& v);

  const type_table& types_;
  const json_options& options_;
};

void json_writer::write(type_ref type, const value& v) {
  switch (types_.kind_of(type)) {
    case kind::boolean:
      out += v.as_boolean() ? "true" : "false";
      break;
    case kind::nat:
    case kind::integer:
      integer_text(v.as_whole());
      break;
    case kind::nat8:
    case kind::nat16:
    case kind::nat32:
      number(static_cast<int64_t>(v.as_fixed_nat()));
      break;
    case kind::nat64:
      integer_text(integer::from_uint64(v.as_fixed_nat()));
      break;
    case kind::int8:
    case kind::int16:
    case kind::int32:
      number(v.as_fixed_int());
      break;
    case kind::int64:
      integer_text(integer::from_int64(v.as_fixed_int()));
      break;
    case kind::float32:
      float_value(float_text(v.as_float32()));
      break;
    case kind::float64:
      float_value(float_text(v.as_float64()));
      break;
    case kind::text:
      append_json_string(out, v.as_string());
      break;
    case kind::principal:
    case kind::service:
      out += '"' + v.as_principal().to_text() + '"';
      break;
    case kind::func:
      out += "{\"principal\":\"" + v.as_func().service.to_text() + "\",\"method\":";
      append_json_string(out, v.as_func().method);
      out += '}';
      break;
    default:
      composite(type, v);
      break;
  }
}

void json_writer::composite(type_ref type, const value& v) {
  switch (types_.kind_of(type)) {
    case kind::opt:
      return opt(type, v);
    case kind::vec:
      return vec(type, v);
    case kind::record:
      return record(type, v);
    case kind::variant:
      return variant(type, v);
    default: // null, reserved
      out += "null";
  }
}

void json_writer::opt(type_ref type, const value& v) {
  const auto element = types_.element(type);
  const bool nested = types_.is_nullable(element);
  if (v.is_null()) {
    out += nested ? "[]" : "null";
    return;
  }
  if (nested) out += '[';
  write(element, v.as_some());
  if (nested) out += ']';
}

void json_writer::vec(type_ref type, const value& v) {
  if (types_.is_blob(type)) return blob(v.as_string());
  const auto element = types_.element(type);
  char separator = '[';
  for (const auto& item : v.as_list()) {
    out += separator;
    write(element, item);
    separator = ',';
  }
  out += separator == '[' ? "[]" : "]";
}

void json_writer::record(type_ref type, const value& v) {
  const auto fields = types_.fields(type);
  const auto& items = v.as_list();
  const bool tuple = types_.is_tuple(type);
  const char open = tuple ? '[' : '{';
  const char close = tuple ? ']' : '}';
  out += open;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out += ',';
    const auto at = tuple ? i : fields[i].declared;
    if (!tuple) {
      label(type, fields[at]);
      out += ':';
    }
    write(fields[at].type, items[at]);
  }
  out += close;
}

void json_writer::variant(type_ref type, const value& v) {
  const auto& tag = types_.fields(type)[v.as_position()];
  if (types_.kind_of(tag.type) == kind::null) return label(type, tag);
  out += '{';
  label(type, tag);
  out += ':';
  write(tag.type, v.as_payload());
  out += '}';
}

} // namespace

std::string values_to_json(const tuple_type& types, std::span<const value> values,
                           const json_options& options) {
  json_writer writer{*types.types, options};
  writer.out += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) writer.out += ',';
    writer.write(types.items[i], values[i]);
  }
  writer.out += ']';
  return std::move(writer.out);
}

result<std::string> reply_to_json(const method_type& method, byte_view reply,
                                  const json_options& options) {
  constexpr quota allowed{.steps_max = limits::json_values_max};
  // Seen through before anything is built, so that what is refused takes no memory.
  if (auto sound = validate(reply, method.results, allowed); !sound) return sound.error();
  auto values = decode(reply, method.results, allowed);
  if (!values) return values.error();
  return values_to_json(method.results, *values, options);
}

} // namespace moxzi::candid
