#include <algorithm>
#include <limits>
#include <set>

#include "actors/candid/base64.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/errc.hpp"
#include "actors/candid/float_text.hpp"
#include "actors/candid/json.hpp"
#include "actors/candid/json_source.hpp"
#include "base/nearest.hpp"

namespace moxzi::candid {

namespace {

/// Reads JSON at a type. Functions return false after a failure; the path is put together on the
/// way out, innermost first.
class json_reader {
public:
  json_reader(const type_table& types, std::string_view json, const json_options& options)
      : types_(types), in_(json), options_(options),
        steps_(json.size() * limits::candid_steps_per_byte + limits::candid_steps_free) {
    // nop
  }

  result<std::vector<value>> arguments(std::span<const type_ref> items);

private:
  bool read(type_ref type, value& out);
  bool read_composite(type_ref type, value& out);
  bool whole(type_ref type, value& out);
  bool fixed(type_ref type, integer n, value& out);
  template <class T>
  bool floating(type_ref type, value& out);
  bool principal_value(type_ref type, value& out);
  bool func(type_ref type, value& out);
  bool blob(type_ref type, value& out);
  bool blob_object(type_ref type, value& out);
  bool vec(type_ref type, value& out);
  bool map(type_ref type, value& out);
  bool opt(type_ref type, value& out);
  bool wrapped(type_ref element, value& out);
  bool tuple(type_ref type, value& out);
  bool record(type_ref type, value& out);
  bool record_key(type_ref type, std::vector<bool>& seen, std::vector<value>& items);
  bool variant(type_ref type, value& out);
  bool tag_of(type_ref type, std::string_view tag, uint32_t& position);
  bool fill_missing(const field& f);

  const field* find(type_ref type, std::string_view key) const;
  bool unknown_key(type_ref type, std::string_view key, const char* what);
  bool begins_with_bracket(type_ref type) const;
  bool spend();

  bool refuse(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
    return false;
  }
  bool expected(type_ref type) {
    if (!in_.failure().empty()) return false;
    const auto form = types_.kind_of(type);
    const auto what = types_.is_blob(type) ? std::string{"blob"} : std::string{keyword(form)};
    return refuse(fmt::format("expected {}, got {}", what, in_.glimpse()));
  }
  bool under(bool ok, std::string segment) {
    if (!ok) path_.push_back(std::move(segment));
    return ok;
  }
  error failure(size_t argument) const;

  const type_table& types_;
  json_source in_;
  const json_options& options_;
  size_t steps_;
  std::string text_; ///< of the last string read
  std::vector<std::string> path_;
  std::string reason_;
};

error json_reader::failure(size_t argument) const {
  std::string path = fmt::format("args[{}]", argument);
  for (auto at = path_.rbegin(); at != path_.rend(); ++at) path += *at;
  if (!in_.failure().empty()) return fail(candid_errc::syntax, "{}: {}", path, in_.failure());
  return fail(candid_errc::mismatch, "{}: {}", path, reason_);
}

bool json_reader::spend() {
  if (steps_ == 0) return refuse("more values than a body of this size may have");
  --steps_;
  return true;
}

result<std::vector<value>> json_reader::arguments(std::span<const type_ref> items) {
  std::vector<value> values(items.size());
  size_t given = 0;
  if (in_.at_end()) {
    // an empty body: no arguments
  } else if (in_.peek() != '[') {
    if (items.size() != 1) {
      return fail(candid_errc::mismatch, "expected an array of {} arguments, got {}", items.size(),
                  in_.glimpse());
    }
    if (!read(items[0], values[0])) return failure(0);
    given = 1;
  } else {
    in_.accept('[');
    if (!in_.accept(']')) {
      do {
        if (given == items.size()) {
          return fail(candid_errc::mismatch, "at most {} arguments, got more", items.size());
        }
        if (!read(items[given], values[given])) return failure(given);
        ++given;
      } while (in_.accept(','));
      if (!in_.expect(']')) return fail(candid_errc::syntax, "{}", in_.failure());
    }
  }
  if (!in_.at_end()) {
    in_.fail(fmt::format("{} after the last argument", in_.glimpse()));
    return fail(candid_errc::syntax, "{}", in_.failure());
  }
  for (size_t i = given; i < items.size(); ++i) {
    if (types_.is_nullable(items[i])) continue;
    return fail(candid_errc::mismatch, "args[{}]: expected {}, got nothing ({} of {} arguments)", i,
                keyword(types_.kind_of(items[i])), given, items.size());
  }
  return values;
}

bool json_reader::read(type_ref type, value& out) {
  if (!spend()) return false;
  switch (types_.kind_of(type)) {
    case kind::null:
      return in_.accept_word("null") || expected(type);
    case kind::boolean:
      if (in_.accept_word("true")) {
        out = value::boolean(true);
      } else if (in_.accept_word("false")) {
        out = value::boolean(false);
      } else {
        return expected(type);
      }
      return true;
    case kind::float32:
      return floating<float>(type, out);
    case kind::float64:
      return floating<double>(type, out);
    case kind::text:
      if (in_.peek() != '"') return expected(type);
      if (!in_.string(text_)) return false;
      out = value::string(text_);
      return true;
    case kind::reserved:
      return in_.skip();
    case kind::empty:
    case kind::future:
      return expected(type);
    case kind::principal:
    case kind::service:
      return principal_value(type, out);
    case kind::func:
      return func(type, out);
    case kind::opt:
    case kind::vec:
    case kind::record:
    case kind::variant:
      return read_composite(type, out);
    default:
      return whole(type, out);
  }
}

bool json_reader::read_composite(type_ref type, value& out) {
  switch (types_.kind_of(type)) {
    case kind::opt:
      return opt(type, out);
    case kind::vec:
      if (types_.is_blob(type)) return blob(type, out);
      return in_.peek() == '{' ? map(type, out) : vec(type, out);
    case kind::record:
      return in_.peek() == '[' && types_.is_tuple(type) ? tuple(type, out) : record(type, out);
    default:
      return variant(type, out);
  }
}

// -- numbers ------------------------------------------------------------------

bool json_reader::whole(type_ref type, value& out) {
  const auto start = in_.position();
  std::string digits;
  if (in_.peek() == '"') {
    if (!in_.string(text_)) return false;
    digits = text_;
    std::erase(digits, '_');
  } else {
    const char c = in_.peek();
    if (c != '-' && (c < '0' || c > '9')) return expected(type);
    std::string_view raw;
    if (!in_.number(raw)) return false;
    digits = raw;
  }
  auto n = integer::from_text(digits);
  if (!n) {
    if (n.error().code == candid_errc::over_limit) return refuse(n.error().message);
    in_.rewind(start);
    return expected(type);
  }
  const auto form = types_.kind_of(type);
  if (form == kind::integer || (form == kind::nat && !n->is_negative())) {
    out = value::whole(std::move(*n));
    return true;
  }
  if (form != kind::nat && fixed(type, *n, out)) return true;
  in_.rewind(start);
  return refuse(fmt::format("{} is out of range for {}", in_.glimpse(), keyword(form)));
}

bool json_reader::fixed(type_ref type, integer n, value& out) {
  const auto nat = [&](uint64_t most) {
    const auto small = n.to_uint64();
    if (!small || *small > most) return false;
    out = value::fixed_nat(*small);
    return true;
  };
  const auto signed_one = [&](int64_t least, int64_t most) {
    const auto small = n.to_int64();
    if (!small || *small < least || *small > most) return false;
    out = value::fixed_int(*small);
    return true;
  };
  switch (types_.kind_of(type)) {
    case kind::nat8:
      return nat(UINT8_MAX);
    case kind::nat16:
      return nat(UINT16_MAX);
    case kind::nat32:
      return nat(UINT32_MAX);
    case kind::nat64:
      return nat(UINT64_MAX);
    case kind::int8:
      return signed_one(INT8_MIN, INT8_MAX);
    case kind::int16:
      return signed_one(INT16_MIN, INT16_MAX);
    case kind::int32:
      return signed_one(INT32_MIN, INT32_MAX);
    default:
      return signed_one(INT64_MIN, INT64_MAX);
  }
}

template <class T>
bool json_reader::floating(type_ref type, value& out) {
  const auto start = in_.position();
  T number{};
  if (in_.peek() == '"') {
    if (!in_.string(text_)) return false;
    constexpr auto infinity = std::numeric_limits<T>::infinity();
    if (text_ == "NaN") {
      number = std::numeric_limits<T>::quiet_NaN();
    } else if (text_ == "Infinity") {
      number = infinity;
    } else if (text_ == "-Infinity") {
      number = -infinity;
    } else {
      in_.rewind(start);
      return expected(type);
    }
  } else {
    const char c = in_.peek();
    if (c != '-' && (c < '0' || c > '9')) return expected(type);
    std::string_view raw;
    if (!in_.number(raw)) return false;
    if (!parse_float(raw, number)) return expected(type);
  }
  if constexpr (std::is_same_v<T, float>) {
    out = value::float32(number);
  } else {
    out = value::float64(number);
  }
  return true;
}

// -- references and blobs -----------------------------------------------------

bool json_reader::principal_value(type_ref type, value& out) {
  const bool boxed = in_.accept('{');
  if (boxed) {
    if (!in_.string(text_)) return false;
    if (text_ != "__principal__") return refuse("expected {\"__principal__\": \"…\"}");
    if (!in_.expect(':')) return false;
  }
  if (in_.peek() != '"') return expected(type);
  if (!in_.string(text_)) return false;
  auto who = principal::from_text(text_);
  if (!who) return refuse(who.error().message);
  out = value::principal(std::move(*who));
  return !boxed || in_.expect('}');
}

bool json_reader::func(type_ref type, value& out) {
  std::string service;
  std::string name;
  if (in_.accept('[')) {
    if (!in_.string(service) || !in_.expect(',') || !in_.string(name) || !in_.expect(']')) {
      return false;
    }
  } else if (in_.accept('{')) {
    bool has_service = false;
    bool has_name = false;
    do {
      if (!in_.string(text_) || !in_.expect(':')) return false;
      const bool is_service = text_ == "principal";
      if (!is_service && text_ != "method") return refuse("expected keys principal and method");
      if (is_service ? has_service : has_name) return refuse("a key twice");
      if (!in_.string(is_service ? service : name)) return false;
      (is_service ? has_service : has_name) = true;
    } while (in_.accept(','));
    if (!in_.expect('}')) return false;
    if (!has_service || !has_name) return refuse("expected keys principal and method");
  } else {
    return expected(type);
  }
  auto who = principal::from_text(service);
  if (!who) return refuse(who.error().message);
  out = value::func({std::move(*who), std::move(name)});
  return true;
}

bool json_reader::blob(type_ref type, value& out) {
  switch (in_.peek()) {
    case '"': {
      const auto start = in_.position();
      if (!in_.string(text_)) return false;
      if (!text_.starts_with("0x")) {
        in_.rewind(start);
        return expected(type);
      }
      auto bytes = from_hex(std::string_view{text_}.substr(2));
      if (!bytes) return refuse(bytes.error().message);
      out = value::string(std::move(*bytes));
      return true;
    }
    case '{':
      return blob_object(type, out);
    case '[': {
      value items;
      if (!vec(type, items)) return false;
      byte_string bytes;
      for (const auto& item : items.as_list()) bytes += static_cast<char>(item.as_fixed_nat());
      out = value::string(std::move(bytes));
      return true;
    }
    default:
      return expected(type);
  }
}

bool json_reader::blob_object(type_ref, value& out) {
  std::string key;
  if (!in_.expect('{') || !in_.string(key) || !in_.expect(':') || !in_.string(text_)
      || !in_.expect('}')) {
    return false;
  }
  if (key == "text") {
    out = value::string(text_);
    return true;
  }
  if (key != "base64") return refuse("expected {\"base64\": …} or {\"text\": …}");
  auto bytes = from_base64(text_);
  if (!bytes) return refuse(bytes.error().message);
  out = value::string(std::move(*bytes));
  return true;
}

// -- composites ---------------------------------------------------------------

bool json_reader::vec(type_ref type, value& out) {
  if (in_.peek() != '[') return expected(type);
  if (!in_.enter()) return false;
  in_.accept('[');
  const auto element = types_.element(type);
  std::vector<value> items;
  if (!in_.accept(']')) {
    do {
      items.emplace_back();
      if (!read(element, items.back())) return under(false, fmt::format("[{}]", items.size() - 1));
    } while (in_.accept(','));
    if (!in_.expect(']')) return false;
  }
  in_.leave();
  out = value::list(std::move(items));
  return true;
}

/// An object read as `vec record { text; t }`.
bool json_reader::map(type_ref type, value& out) {
  const auto element = types_.element(type);
  if (!types_.is_tuple(element) || types_.fields(element).size() != 2
      || types_.fields(element)[0].type != type_ref{kind::text}) {
    return expected(type);
  }
  if (!in_.enter()) return false;
  in_.accept('{');
  std::vector<value> items;
  std::set<std::string> keys;
  if (!in_.accept('}')) {
    do {
      std::string key;
      if (!in_.string(key) || !in_.expect(':')) return false;
      if (!keys.insert(key).second) return refuse(fmt::format("key \"{}\" twice", excerpt(key)));
      std::vector<value> pair(2);
      pair[0] = value::string(key);
      if (!read(types_.fields(element)[1].type, pair[1])) return under(false, "." + excerpt(key));
      items.push_back(value::list(std::move(pair)));
    } while (in_.accept(','));
    if (!in_.expect('}')) return false;
  }
  in_.leave();
  out = value::list(std::move(items));
  return true;
}

bool json_reader::begins_with_bracket(type_ref type) const {
  const auto form = types_.kind_of(type);
  return form == kind::vec || form == kind::func || types_.is_tuple(type);
}

bool json_reader::opt(type_ref type, value& out) {
  const auto element = types_.element(type);
  if (in_.accept_word("null")) return true;
  if (types_.is_nullable(element)) {
    return in_.peek() == '['
             ? wrapped(element, out)
             : refuse(fmt::format("expected null, [] or [value], got {}", in_.glimpse()));
  }
  if (in_.peek() == '[' && !begins_with_bracket(element)) return wrapped(element, out);
  value inner;
  if (!read(element, inner)) return false;
  out = value::some(std::move(inner));
  return true;
}

bool json_reader::wrapped(type_ref element, value& out) {
  if (!in_.enter()) return false;
  in_.accept('[');
  if (!in_.accept(']')) {
    value inner;
    if (!read(element, inner)) return under(false, "[0]");
    if (!in_.expect(']')) return false;
    out = value::some(std::move(inner));
  }
  in_.leave();
  return true;
}

bool json_reader::tuple(type_ref type, value& out) {
  const auto fields = types_.fields(type);
  if (!in_.enter()) return false;
  in_.accept('[');
  std::vector<value> items(fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0 && !in_.expect(',')) return false;
    if (!read(fields[i].type, items[i])) return under(false, fmt::format("[{}]", i));
  }
  if (!in_.expect(']')) return false;
  in_.leave();
  out = value::list(std::move(items));
  return true;
}

const field* json_reader::find(type_ref type, std::string_view key) const {
  const auto* f = types_.find(type, hash_name(key));
  if (f != nullptr && (f->name == field::no_name || types_.name_of(*f) == key)) return f;
  if (key.size() < 3 || key.size() > 12 || key.front() != '_' || key.back() != '_') return nullptr;
  auto id = integer::from_text(key.substr(1, key.size() - 2));
  if (!id || !id->to_uint64() || *id->to_uint64() > UINT32_MAX) return nullptr;
  return types_.find(type, static_cast<uint32_t>(*id->to_uint64()));
}

bool json_reader::unknown_key(type_ref type, std::string_view key, const char* what) {
  std::vector<std::string_view> known;
  for (const auto& f : types_.fields(type)) known.push_back(types_.name_of(f));
  return refuse(fmt::format("unknown {} '{}'{}", what, excerpt(key), did_you_mean(key, known)));
}

bool json_reader::record(type_ref type, value& out) {
  if (in_.peek() != '{') return expected(type);
  if (!in_.enter()) return false;
  in_.accept('{');
  const auto fields = types_.fields(type);
  std::vector<value> items(fields.size());
  std::vector<bool> seen(fields.size());
  if (!in_.accept('}')) {
    do {
      if (!record_key(type, seen, items)) return false;
    } while (in_.accept(','));
    if (!in_.expect('}')) return false;
  }
  in_.leave();
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!seen[i] && !fill_missing(fields[i])) return false;
  }
  out = value::list(std::move(items));
  return true;
}

bool json_reader::record_key(type_ref type, std::vector<bool>& seen, std::vector<value>& items) {
  std::string key;
  if (!in_.string(key) || !in_.expect(':')) return false;
  const auto* f = find(type, key);
  if (f == nullptr) {
    return options_.lenient ? in_.skip() : unknown_key(type, key, "field");
  }
  const auto index = static_cast<size_t>(f - types_.fields(type).data());
  if (seen[index]) return refuse(fmt::format("key \"{}\" twice", excerpt(key)));
  seen[index] = true;
  return read(f->type, items[index]) || under(false, "." + types_.label_of(*f));
}

bool json_reader::fill_missing(const field& f) {
  if (!spend()) return false;
  if (types_.is_nullable(f.type)) return true;
  refuse(fmt::format("expected {}, got nothing", keyword(types_.kind_of(f.type))));
  return under(false, "." + types_.label_of(f));
}

bool json_reader::tag_of(type_ref type, std::string_view tag, uint32_t& position) {
  const auto* f = find(type, tag);
  if (f == nullptr) return unknown_key(type, tag, "tag");
  position = static_cast<uint32_t>(f - types_.fields(type).data());
  return true;
}

bool json_reader::variant(type_ref type, value& out) {
  uint32_t position = 0;
  std::string tag;
  const auto tags = types_.fields(type);
  if (in_.peek() == '"') {
    if (!in_.string(tag) || !tag_of(type, tag, position)) return false;
    if (types_.kind_of(tags[position].type) != kind::null) {
      return refuse(fmt::format("tag '{}' has a payload: write {{\"{}\": …}}", tag, tag));
    }
    out = value::variant(position);
    return true;
  }
  if (in_.peek() != '{') return expected(type);
  if (!in_.enter()) return false;
  in_.accept('{');
  if (in_.peek() == '}') return refuse("expected one key, the tag, got none");
  if (!in_.string(tag) || !tag_of(type, tag, position) || !in_.expect(':')) return false;
  value payload;
  if (!read(tags[position].type, payload)) return under(false, "." + excerpt(tag));
  if (in_.peek() == ',') return refuse("expected one key, the tag, got several");
  if (!in_.expect('}')) return false;
  in_.leave();
  out = value::variant(position, std::move(payload));
  return true;
}

} // namespace

result<std::vector<value>> json_to_values(const tuple_type& types, std::string_view json,
                                          const json_options& options) {
  return json_reader{*types.types, json, options}.arguments(types.items);
}

result<byte_string> json_to_arguments(const method_type& method, std::string_view json,
                                      const json_options& options) {
  auto values = json_to_values(method.arguments, json, options);
  if (!values) return values.error();
  return encode(method.arguments, *values);
}

} // namespace moxzi::candid
