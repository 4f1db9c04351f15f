#include "actors/candid/json.hpp"

#include <algorithm>
#include <set>

#include "actors/candid/encode.hpp"
#include "actors/candid/json_reader.hpp"
#include "base/nearest.hpp"

namespace moxzi::candid {

error json_reader::failure(size_t argument) const {
  const auto path = fmt::format("args[{}]", argument) + path_text(path_.size(), [this](size_t i) {
                      return path_[path_.size() - 1 - i];
                    });
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
      return fail(candid_errc::mismatch, "expected an array of {}, got {}",
                  counted(items.size(), "argument"), in_.glimpse());
    }
    if (!read(items[0], values[0])) return failure(0);
    given = 1;
  } else {
    in_.accept('[');
    if (!in_.accept(']')) {
      do {
        if (given == items.size()) {
          const bool is_more = in_.peek() != ']';
          if (is_more) {
            return fail(candid_errc::mismatch, "at most {}, got more",
                        counted(items.size(), "argument"));
          }
          return fail(candid_errc::syntax, "expected a value after ',', got {}", in_.glimpse());
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
    return fail(candid_errc::mismatch, "args[{}]: expected {}, got nothing ({} of {})", i,
                keyword(types_.kind_of(items[i])), given, counted(items.size(), "argument"));
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

// -- composites ---------------------------------------------------------------

bool json_reader::vec(type_ref type, value& out) {
  if (in_.peek() != '[') return expected(type);
  const auto element = types_.element(type);
  std::vector<value> items;
  const auto one = [&] {
    if (is_probe_) items.clear();
    return read(element, items.emplace_back());
  };
  if (!elements(one)) return false;
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
      if (!is_probe_) items.push_back(value::list(std::move(pair)));
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
  std::vector<value> items(is_probe_ ? 0 : fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0 && !in_.expect(',')) return false;
    value dropped;
    if (!read(fields[i].type, slot(items, i, dropped))) return under(false, fmt::format("[{}]", i));
  }
  if (!in_.expect(']')) return false;
  in_.leave();
  out = value::list(std::move(items));
  return true;
}

const field* json_reader::find(type_ref type, std::string_view key) const {
  if (const auto id = id_of_key(key)) {
    if (const auto* numbered = types_.find(type, *id)) return numbered;
  }
  const auto* f = types_.find(type, hash_name(key));
  return f != nullptr && (f->name == field::no_name || types_.name_of(*f) == key) ? f : nullptr;
}

bool json_reader::unknown_key(type_ref type, std::string_view key, const char* what) {
  constexpr size_t name_bytes_max = 64; // comparing longer ones would take long
  if (key.size() > name_bytes_max)
    return refuse(fmt::format("unknown {} '{}'", what, excerpt(key)));
  std::vector<std::string_view> known;
  for (const auto& f : types_.fields(type)) {
    if (f.name != field::no_name) known.push_back(types_.name_of(f));
  }
  const auto number = fmt::format("_{}_", key);
  if (id_of_key(number) && find(type, number) != nullptr) {
    return refuse(fmt::format("unknown {} '{}'; did you mean '{}'?", what, key, number));
  }
  return refuse(fmt::format("unknown {} '{}'{}", what, excerpt(key), did_you_mean(key, known)));
}

bool json_reader::record(type_ref type, value& out) {
  if (in_.peek() != '{') return expected(type);
  if (!in_.enter()) return false;
  in_.accept('{');
  const auto fields = types_.fields(type);
  std::vector<value> items(is_probe_ ? 0 : fields.size());
  std::vector<bool> seen(fields.size());
  std::set<std::string> passed_over;
  if (!in_.accept('}')) {
    do {
      if (!record_key(type, seen, items, passed_over)) return false;
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

bool json_reader::record_key(type_ref type, std::vector<bool>& seen, std::vector<value>& items,
                             std::set<std::string>& passed_over) {
  std::string key;
  if (!in_.string(key) || !in_.expect(':')) return false;
  const auto* f = find(type, key);
  if (f == nullptr) {
    if (!options_.lenient) return unknown_key(type, key, "field");
    if (passed_over.insert(key).second) return in_.skip();
    return refuse(fmt::format("key \"{}\" twice", excerpt(key)));
  }
  const auto index = static_cast<size_t>(f - types_.fields(type).data());
  if (seen[index]) return refuse(fmt::format("key \"{}\" twice", excerpt(key)));
  seen[index] = true;
  value dropped;
  return read(f->type, slot(items, index, dropped)) || under(false, "." + types_.label_of(*f));
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

namespace {

/// The most values that JSON of this size can have: `1,` is a number, or an `opt` as well. Missing
/// fields cost no text, so `{},` is an `opt`, a record and all that may be missing in it.
size_t values_max(const type_table& types, size_t bytes) {
  size_t missing = 0;
  size_t opts = 0;
  for (uint32_t i = 0; i < types.size(); ++i) {
    const auto type = type_ref::entry(i);
    if (types.kind_of(type) == kind::opt) opts = 1;
    if (types.kind_of(type) != kind::record) continue;
    const auto all = types.fields(type);
    const auto nullable = std::count_if(
      all.begin(), all.end(), [&types](const field& f) { return types.is_nullable(f.type); });
    missing = std::max(missing, static_cast<size_t>(nullable));
  }
  return std::max(bytes / 2 * (1 + opts), bytes / 3 * (1 + opts + missing));
}

} // namespace

result<std::vector<value>> json_to_values(const tuple_type& types, std::string_view json,
                                          const json_options& options) {
  // What may be refused for its many values is seen through before anything is built.
  if (values_max(*types.types, json.size()) > json_reader::steps_for(json.size())) {
    auto probed = json_reader{*types.types, json, options, true}.arguments(types.items);
    if (!probed) return probed.error();
  }
  return json_reader{*types.types, json, options}.arguments(types.items);
}

result<byte_string> json_to_arguments(const method_type& method, std::string_view json,
                                      const json_options& options) {
  auto values = json_to_values(method.arguments, json, options);
  if (!values) return values.error();
  return encode(method.arguments, *values);
}

} // namespace moxzi::candid
