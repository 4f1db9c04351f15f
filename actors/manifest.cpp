#include "actors/manifest.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <boost/json.hpp>

#include "actors/json_spans.hpp"
#include "actors/manifest_reading.hpp"
#include "base/reject.hpp"

namespace json = boost::json;

namespace moxzi::actors {

using namespace manifest_reading;

namespace {

using std::string_view;

constexpr string_view top_keys[] = {"version", "actors", "device"};
constexpr string_view device_keys[] = {"kind"};

class category : public std::error_category {
public:
  const char* name() const noexcept override {
    return "manifest";
  }
  std::string message(int code) const override {
    static constexpr std::array sentences{
      "no error",
      "the text is not JSON",
      "a value is not of the kind its place asks for",
      "a key that nobody reads",
      "a key is missing",
      "a name is used twice",
      "a value that cannot be",
      "a file is not there",
    };
    auto i = static_cast<size_t>(code);
    return i < sentences.size() ? sentences[i] : "unknown error";
  }
};

result<manifest_actor> read_entry(const json::value& value, const place& where) {
  if (const auto* object = value.if_object()) return read_actor_object(*object, where);
  if (!value.is_string())
    return fail(manifest_errc::wrong_shape,
                "{}: an actor is a module's file name or an object, not {}", where.text(),
                kind_of(value));
  auto path = path_at(value, where);
  if (!path) return path.error();
  manifest_actor out;
  out.wasm = *path;
  out.name = stem_of(out.wasm);
  if (auto good = check_name(out.name, where); !good) return good.error();
  return out;
}

result<std::vector<manifest_actor>> read_list(const json::array& array, const place& where) {
  std::vector<manifest_actor> out;
  for (size_t i = 0; i < array.size(); ++i) {
    auto entry = read_entry(array[i], where.at(i));
    if (!entry) return entry.error();
    out.push_back(std::move(*entry));
  }
  return out;
}

result<std::vector<manifest_actor>> read_map(const json::object& object, const place& where) {
  std::vector<manifest_actor> out;
  for (const auto& member : object) {
    manifest_actor entry;
    entry.name = std::string{member.key().data(), member.key().size()};
    auto here = where.at(entry.name);
    if (!member.value().is_string())
      return fail(manifest_errc::wrong_shape,
                  "{}: the module's file belongs here, not {} (with \"actors\": […] beside it, an "
                  "actor can have more than a file)",
                  here.text(), kind_of(member.value()));
    auto path = path_at(member.value(), here);
    if (!path) return path.error();
    entry.wasm = *path;
    if (auto good = check_name(entry.name, here); !good) return good.error();
    out.push_back(std::move(entry));
  }
  return out;
}

// An object with a list, or with a version that is no file name, is the third shape.
bool is_full_shape(const json::object& object) {
  const auto* actors = object.if_contains("actors");
  const auto* version = object.if_contains("version");
  const auto* device = object.if_contains("device");
  return (actors != nullptr && !actors->is_string()) || (version != nullptr && version->is_number())
         || (device != nullptr && device->is_object());
}

result<manifest> read_full(const json::object& object, const place& where) {
  if (auto good = check_keys(object, top_keys, where); !good) return good.error();
  if (const auto* version = object.if_contains("version"))
    if (!version->is_int64() || version->get_int64() != 1)
      return fail(manifest_errc::bad_value, "{}: version {} is not one this program reads; it is 1",
                  where.at("version").text(), json::serialize(*version));
  manifest out;
  const auto* actors = object.if_contains("actors");
  if (actors == nullptr)
    return fail(manifest_errc::missing_key, "{}: \"actors\", the list, is missing", where.text());
  if (!actors->is_array())
    return fail(manifest_errc::wrong_shape, "{}: an array belongs here, not {}",
                where.at("actors").text(), kind_of(*actors));
  auto list = read_list(actors->get_array(), where.at("actors"));
  if (!list) return list.error();
  out.actors = std::move(*list);
  if (const auto* device = object.if_contains("device")) {
    auto here = where.at("device");
    if (!device->is_object())
      return fail(manifest_errc::wrong_shape, "{}: an object belongs here, not {}", here.text(),
                  kind_of(*device));
    if (auto good = check_keys(device->get_object(), device_keys, here); !good) return good.error();
    if (const auto* kind = device->get_object().if_contains("kind")) {
      auto text = text_at(*kind, here.at("kind"));
      if (!text) return text.error();
      out.device = *text;
    }
  }
  return out;
}

result<void> check_distinct(const std::vector<manifest_actor>& actors, string_view path) {
  std::set<string_view> names;
  std::set<std::string> ids;
  for (const auto& actor : actors) {
    if (!names.insert(actor.name).second)
      return fail(manifest_errc::duplicate, "{}: two actors are called {}", path,
                  json_quote(actor.name));
    auto id = actor.id.value_or(principal::of_actor(actor.name)).to_text();
    if (!ids.insert(id).second)
      return fail(manifest_errc::duplicate, "{}: two actors have the id {}", path, id);
  }
  for (const auto& actor : actors) {
    const auto id = actor.id.value_or(principal::of_actor(actor.name)).to_text();
    if (actor.name != id && ids.contains(actor.name))
      return fail(manifest_errc::duplicate, "{}: the name {} is another actor's principal", path,
                  json_quote(actor.name));
  }
  return {};
}

// A key twice in one object: JSON parsers keep the last one, silently.
result<void> check_repeated_keys(string_view text, size_t open, const place& where) {
  std::set<std::string> keys;
  size_t index = 0;
  for (const auto& part : json_parts(text, open)) {
    auto here = text[open] == '{' ? where.at(part.key) : where.at(index++);
    if (text[open] == '{' && !keys.insert(part.key).second)
      return fail(manifest_errc::duplicate, "{}: the key is here twice", here.text());
    if (text[part.value] == '{' || text[part.value] == '[')
      if (auto good = check_repeated_keys(text, part.value, here); !good) return good;
  }
  return {};
}

// Line and column of a byte, counted from 1.
std::string position_in(string_view text, size_t at) {
  auto before = text.substr(0, at);
  auto line = std::count(before.begin(), before.end(), '\n') + 1;
  auto column = at - (before.rfind('\n') + 1) + 1;
  return fmt::format("{}:{}", line, column);
}

// The arguments as they are written: the digits of a long number would not survive being read.
void keep_digits(string_view text, manifest& out) {
  auto list = skip_json_space(text, 0);
  if (text[list] == '{') {
    const auto parts = json_parts(text, list);
    const auto at = std::find_if(parts.begin(), parts.end(),
                                 [](const json_span& part) { return part.key == "actors"; });
    list = at->value;
  }
  const auto actors = json_parts(text, list);
  for (size_t i = 0; i < out.actors.size(); ++i) {
    if (!out.actors[i].args_json) continue;
    for (const auto& part : json_parts(text, actors[i].value))
      if (part.key == "args_json")
        out.actors[i].args_json = std::string{text.substr(part.value, part.end - part.value)};
  }
}

} // namespace

const std::error_category& manifest_category() noexcept {
  static const category instance;
  return instance;
}

bool is_actor_name(string_view name) noexcept {
  if (name.empty() || name.size() > 128 || name == "." || name == ".." || !is_utf8(name))
    return false;
  return std::none_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '/' || c == '\\';
  });
}

result<manifest> parse_manifest(string_view text, string_view path) {
  json::stream_parser parser;
  json::error_code ec;
  auto consumed = parser.write_some({text.data(), text.size()}, ec);
  if (!ec && consumed == text.size())
    parser.finish(ec);
  else if (!ec && skip_json_space(text, consumed) != text.size())
    ec = json::error::extra_data;
  if (ec)
    return fail(manifest_errc::not_json, "{}:{}: not JSON: {}", path, position_in(text, consumed),
                ec.message());
  auto value = parser.release();
  place top{path, ""};
  if (!value.is_array() && !value.is_object())
    return fail(manifest_errc::wrong_shape, "{}: an object or an array belongs here, not {}", path,
                kind_of(value));
  if (auto good = check_repeated_keys(text, skip_json_space(text, 0), top); !good)
    return good.error();
  result<manifest> out = manifest{};
  if (value.is_object() && is_full_shape(value.get_object())) {
    out = read_full(value.get_object(), top);
  } else {
    auto list =
      value.is_array() ? read_list(value.get_array(), top) : read_map(value.get_object(), top);
    if (!list) return list.error();
    out->actors = std::move(*list);
  }
  if (!out) return out;
  if (auto good = check_distinct(out->actors, path); !good) return good.error();
  const bool has_json = std::any_of(out->actors.begin(), out->actors.end(),
                                    [](const auto& actor) { return actor.args_json.has_value(); });
  if (has_json) keep_digits(text, *out);
  return out;
}

} // namespace moxzi::actors
