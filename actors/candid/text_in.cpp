#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "actors/candid/encode.hpp"
#include "actors/candid/errc.hpp"
#include "actors/candid/float_text.hpp"
#include "actors/candid/text.hpp"
#include "actors/candid/text_value.hpp"

namespace moxzi::candid {

namespace {

using form = text_value::form;

std::string_view form_name(form what) {
  constexpr std::string_view names[]{"null",    "bool", "a number", "text",    "blob",
                                     "opt",     "vec",  "record",   "variant", "principal",
                                     "service", "func", "value"};
  return names[static_cast<size_t>(what)];
}

} // namespace

bool text_typer::refuse(const text_value& from, std::string why) {
  reason = std::move(why);
  offset = from.offset;
  return false;
}

bool text_typer::spend(const text_value& from) {
  if (steps_ == 0) return refuse(from, "more values than a text of this size may have");
  --steps_;
  return true;
}

bool text_typer::expected(const text_value& from, type_ref type) {
  const auto got =
    from.what == form::number ? excerpt(from.text) : std::string{form_name(from.what)};
  return refuse(from,
                fmt::format("expected {}, got {}",
                            types_.is_blob(type) ? "blob" : keyword(types_.kind_of(type)), got));
}

bool text_typer::convert(const text_value& from, type_ref type, value& out) {
  if (!spend(from)) return false;
  const auto wanted = types_.kind_of(type);
  if (wanted == kind::reserved) return true;
  if (from.what == form::annotated) return annotated(from, type, out);
  switch (wanted) {
    case kind::null:
      return from.what == form::null || expected(from, type);
    case kind::boolean:
      if (from.what != form::boolean) return expected(from, type);
      out = value::boolean(from.text == "true");
      return true;
    case kind::text:
      if (from.what != form::text) return expected(from, type);
      out = value::string(from.text);
      return true;
    case kind::float32:
    case kind::float64:
      return floating(from, type, out);
    case kind::empty:
    case kind::future:
      return expected(from, type);
    case kind::principal:
    case kind::service:
    case kind::func:
      return reference(from, type, out);
    case kind::opt:
      return opt(from, type, out);
    case kind::vec:
      return vec(from, type, out);
    case kind::record:
      return record(from, type, out);
    case kind::variant:
      return variant(from, type, out);
    default:
      return whole(from, type, out);
  }
}

bool text_typer::fixed_nat(const text_value& from, type_ref type, const integer& n, uint64_t most,
                           value& out) {
  const auto small = n.to_uint64();
  if (!small || *small > most) {
    return refuse(from, fmt::format("{} is out of range for {}", excerpt(from.text),
                                    keyword(types_.kind_of(type))));
  }
  out = value::fixed_nat(*small);
  return true;
}

bool text_typer::fixed_int(const text_value& from, type_ref type, const integer& n, int bits,
                           value& out) {
  const auto small = n.to_int64();
  const auto most = std::numeric_limits<int64_t>::max() >> (64 - bits);
  if (!small || *small > most || *small < -most - 1) {
    return refuse(from, fmt::format("{} is out of range for {}", excerpt(from.text),
                                    keyword(types_.kind_of(type))));
  }
  out = value::fixed_int(*small);
  return true;
}

bool text_typer::whole(const text_value& from, type_ref type, value& out) {
  if (from.what != form::number || from.is_float()) return expected(from, type);
  auto digits = from.text;
  int base = 10;
  for (const auto* prefix : {"0x", "0X"}) {
    const auto at = digits.find(prefix);
    if (at == std::string::npos) continue;
    digits.erase(at, 2);
    base = 16;
  }
  auto n = integer::from_text(digits, base);
  if (!n) return refuse(from, n.error().message);
  switch (types_.kind_of(type)) {
    case kind::nat:
      if (n->is_negative()) {
        return refuse(from, fmt::format("{} is out of range for nat", excerpt(from.text)));
      }
      [[fallthrough]];
    case kind::integer:
      out = value::whole(std::move(*n));
      return true;
    case kind::nat8:
      return fixed_nat(from, type, *n, UINT8_MAX, out);
    case kind::nat16:
      return fixed_nat(from, type, *n, UINT16_MAX, out);
    case kind::nat32:
      return fixed_nat(from, type, *n, UINT32_MAX, out);
    case kind::nat64:
      return fixed_nat(from, type, *n, UINT64_MAX, out);
    case kind::int8:
      return fixed_int(from, type, *n, 8, out);
    case kind::int16:
      return fixed_int(from, type, *n, 16, out);
    case kind::int32:
      return fixed_int(from, type, *n, 32, out);
    default:
      return fixed_int(from, type, *n, 64, out);
  }
}

bool text_typer::floating(const text_value& from, type_ref type, value& out) {
  if (from.what != form::number) return expected(from, type);
  const bool is_single = types_.kind_of(type) == kind::float32;
  // strtod knows hexadecimal and inf; the shortest decimals go through from_chars.
  const bool is_hex = from.text.find_first_of("xX") != std::string::npos;
  const bool is_word = from.text.find('n') != std::string::npos;
  float single = 0;
  double number = 0;
  bool ok = true;
  if (from.text.find("nan") != std::string::npos) {
    ok = is_single ? parse_nan(from.text, single) : parse_nan(from.text, number);
    if (!ok)
      return refuse(
        from, fmt::format("{} is no NaN of {}", excerpt(from.text), keyword(types_.kind_of(type))));
  } else if (is_hex || is_word) {
    single = std::strtof(from.text.c_str(), nullptr);
    number = std::strtod(from.text.c_str(), nullptr);
  } else {
    ok = is_single ? parse_float(from.text, single) : parse_float(from.text, number);
  }
  const bool is_infinite = is_single ? std::isinf(single) : std::isinf(number);
  if (is_infinite && !is_word) ok = false; // 0x1p9999
  if (!ok) {
    return refuse(from, fmt::format("{} is out of range for {}", excerpt(from.text),
                                    keyword(types_.kind_of(type))));
  }
  out = is_single ? value::float32(single) : value::float64(number);
  return true;
}

bool text_typer::reference(const text_value& from, type_ref type, value& out) {
  const auto wanted = types_.kind_of(type);
  const bool fits = (wanted == kind::principal && from.what == form::principal)
                    || (wanted != kind::func && from.what == form::service)
                    || (wanted == kind::func && from.what == form::func);
  if (!fits) return expected(from, type);
  auto who = principal::from_text(from.text);
  if (!who) return refuse(from, who.error().message);
  out = wanted == kind::func ? value::func({std::move(*who), from.method})
                             : value::principal(std::move(*who));
  return true;
}

bool text_typer::opt(const text_value& from, type_ref type, value& out) {
  if (from.what == form::null) return true;
  const auto element = types_.element(type);
  const auto& content = from.what == form::opt ? from.items.front() : from;
  // A value without its `opt` is taken for one, unless `null` would then have two meanings.
  if (from.what != form::opt && types_.is_nullable(element)) return expected(from, type);
  value inner;
  if (!convert(content, element, inner)) return false;
  out = value::some(std::move(inner));
  return true;
}

bool text_typer::vec(const text_value& from, type_ref type, value& out) {
  const bool is_blob = types_.is_blob(type);
  if (is_blob && from.what == form::blob) {
    out = value::string(from.text);
    return true;
  }
  if (from.what != form::vec) return expected(from, type);
  const auto element = types_.element(type);
  std::vector<value> items(from.items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (!convert(from.items[i], element, items[i])) return false;
  }
  if (is_blob) {
    byte_string bytes;
    for (const auto& item : items) bytes += static_cast<char>(item.as_fixed_nat());
    out = value::string(std::move(bytes));
  } else {
    out = value::list(std::move(items));
  }
  return true;
}

bool text_typer::count_missing(const text_value& from, const type_table& types, type_ref type,
                               size_t& left) {
  if (from.what == form::annotated) {
    return count_missing(from.items.front(), annotations_, from.type, left);
  }
  switch (types.kind_of(type)) {
    case kind::opt: {
      // As in `opt`: without the word, only where the content is no opt itself.
      if (from.what == form::null) return true;
      const bool is_bare = from.what != form::opt;
      if (is_bare && types.is_nullable(types.element(type))) return true;
      const auto& content = is_bare ? from : from.items.front();
      return count_missing(content, types, types.element(type), left);
    }
    case kind::vec:
      if (from.what != form::vec || is_primitive(types.kind_of(types.element(type)))) return true;
      for (const auto& item : from.items) {
        if (!count_missing(item, types, types.element(type), left)) return false;
      }
      return true;
    case kind::record:
    case kind::variant:
      break;
    default:
      return true;
  }
  if (from.labels.size() != from.items.size()) return true; // of another form
  size_t given = 0;
  for (size_t i = 0; i < from.items.size(); ++i) {
    const auto* f = types.find(type, from.labels[i].id);
    if (f == nullptr) continue;
    ++given;
    if (!count_missing(from.items[i], types, f->type, left)) return false;
  }
  if (types.kind_of(type) == kind::variant) return true;
  const auto missing = types.fields(type).size() - given;
  if (missing > left) return refuse(from, "more values than a text of this size may have");
  left -= missing;
  return true;
}

bool text_typer::affords_missing(const std::vector<text_value>& values,
                                 std::span<const type_ref> types) {
  auto left = steps_;
  for (size_t i = 0; i < std::min(values.size(), types.size()); ++i) {
    if (!count_missing(values[i], types_, types[i], left)) return false;
  }
  return true;
}

bool text_typer::record(const text_value& from, type_ref type, value& out) {
  if (from.what != form::record) return expected(from, type);
  const auto fields = types_.fields(type);
  std::vector<value> items(fields.size());
  std::vector<bool> given(fields.size());
  for (size_t i = 0; i < from.items.size(); ++i) {
    const auto* f = types_.find(type, from.labels[i].id);
    if (f == nullptr) continue;
    const auto index = static_cast<size_t>(f - fields.data());
    given[index] = true;
    if (!convert(from.items[i], f->type, items[index])) return false;
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    if (given[i]) continue;
    if (!spend(from)) return false;
    if (types_.is_nullable(fields[i].type)) continue;
    return refuse(from, fmt::format("field '{}' is missing", types_.label_of(fields[i])));
  }
  out = value::list(std::move(items));
  return true;
}

bool text_typer::variant(const text_value& from, type_ref type, value& out) {
  if (from.what != form::variant) return expected(from, type);
  const auto& label = from.labels.front();
  const auto* tag = types_.find(type, label.id);
  if (tag == nullptr) {
    return refuse(from, fmt::format("the variant has no tag '{}'",
                                    label.has_name ? label.name : std::to_string(label.id)));
  }
  value payload;
  if (!convert(from.items.front(), tag->type, payload)) return false;
  out = value::variant(static_cast<uint32_t>(tag - types_.fields(type).data()), std::move(payload));
  return true;
}

// A value of the annotated type that is then read at the expected one, as if it had been sent.
bool text_typer::annotated(const text_value& from, type_ref type, value& out) {
  text_typer inner{annotations_, annotations_, steps_};
  value written;
  if (!inner.convert(from.items.front(), from.type, written)) {
    reason = inner.reason;
    offset = inner.offset;
    return false;
  }
  steps_ = inner.steps_;
  const auto borrow = [](const type_table& table) {
    return std::shared_ptr<const type_table>{std::shared_ptr<void>{}, &table};
  };
  if (&annotations_ == &types_ && from.type == type) {
    out = std::move(written);
    return true;
  }
  const auto bytes = encode(make_tuple_type(borrow(annotations_), {from.type}), {&written, 1});
  if (!bytes) return refuse(from, bytes.error().message);
  // So that many annotations around one large value are not read again and again.
  if (bytes->size() > steps_)
    return refuse(from, "more annotations than a text of this size may have");
  steps_ -= bytes->size();
  auto read = decode(*bytes, make_tuple_type(borrow(types_), {type}));
  if (!read) return refuse(from, read.error().message);
  out = std::move(read->front());
  return true;
}

namespace {

size_t steps_for(std::string_view text) {
  return text.size() * limits::candid_steps_per_byte + limits::candid_steps_free;
}

/// Values and the table of their annotations.
struct parsed {
  std::shared_ptr<type_table> types;
  std::vector<text_value> values;
};

result<parsed> parse(std::string_view text, const interface* names) {
  parsed made;
  made.types =
    names == nullptr ? std::make_shared<type_table>() : std::make_shared<type_table>(*names->types);
  lexer in{text};
  type_parser types{*made.types};
  if (!text_parser{in, types}.arguments(made.values)) return in.failure();
  if (in.peek().kind != token::form::end) in.fail_expected("the end");
  if (in.failed()) return in.failure();
  std::vector<type_ref*> held;
  collect_types(made.values, held);
  if (auto done = types.resolve(held); !done) return done.error();
  return made;
}

} // namespace

result<std::vector<value>> text_to_values(const tuple_type& types, std::string_view text) {
  auto made = parse(text, nullptr);
  if (!made) return made.error();
  text_typer typer{*made->types, *types.types, steps_for(text)};
  if (!typer.affords_missing(made->values, types.items)) {
    return error_at(text, typer.offset, candid_errc::mismatch, typer.reason);
  }
  std::vector<value> values(types.items.size());
  for (size_t i = 0; i < types.items.size(); ++i) {
    if (i < made->values.size()) {
      if (!typer.convert(made->values[i], types.items[i], values[i])) {
        return error_at(text, typer.offset, candid_errc::mismatch, typer.reason);
      }
    } else if (!types.types->is_nullable(types.items[i])) {
      return fail(candid_errc::mismatch, "expected {}, got {}",
                  counted(types.items.size(), "value"), made->values.size());
    }
  }
  return values;
}

result<message> text_to_message(std::string_view text, const interface* names) {
  auto made = parse(text, names);
  if (!made) return made.error();
  message out;
  text_inference inference{*made->types, steps_for(text)};
  for (const auto& v : made->values) {
    type_ref type;
    if (!inference.infer(v, type))
      return error_at(text, inference.offset, candid_errc::mismatch, inference.reason);
    out.items.push_back(type);
  }
  text_typer typer{*made->types, *made->types, steps_for(text)};
  if (!typer.affords_missing(made->values, out.items)) {
    return error_at(text, typer.offset, candid_errc::mismatch, typer.reason);
  }
  for (size_t i = 0; i < made->values.size(); ++i) {
    if (!typer.convert(made->values[i], out.items[i], out.values.emplace_back())) {
      return error_at(text, typer.offset, candid_errc::mismatch, typer.reason);
    }
  }
  out.types = std::move(made->types);
  return out;
}

} // namespace moxzi::candid
