#include "actors/manifest_reading.hpp"

#include <array>
#include <charconv>

namespace json = boost::json;

namespace moxzi::actors::manifest_reading {

using std::string_view;

string_view kind_of(const json::value& value) {
  switch (value.kind()) {
    case json::kind::object:
      return "an object";
    case json::kind::array:
      return "an array";
    case json::kind::string:
      return "a string";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::null:
      return "null";
    default:
      return "a number";
  }
}

place place::at(string_view key) const {
  return {file, inside.empty() ? std::string{key} : fmt::format("{}.{}", inside, key)};
}

place place::at(size_t index) const {
  return {file, fmt::format("{}[{}]", inside, index)};
}

std::string place::text() const {
  return inside.empty() ? std::string{file} : fmt::format("{}: {}", file, inside);
}

result<std::string> text_at(const json::value& value, const place& where) {
  if (!value.is_string())
    return fail(manifest_errc::wrong_shape, "{}: a string belongs here, not {}", where.text(),
                kind_of(value));
  return std::string{value.get_string().c_str(), value.get_string().size()};
}

result<std::string> path_at(const json::value& value, const place& where) {
  auto text = text_at(value, where);
  if (text && (text->empty() || text->find('\0') != std::string::npos))
    return fail(manifest_errc::bad_value, "{}: a file's path belongs here", where.text());
  return text;
}

std::string stem_of(string_view path) {
  auto file = path.substr(path.rfind('/') + 1);
  if (file.size() > 3 && file.ends_with(".gz")) file.remove_suffix(3);
  return std::string{file.substr(0, file.rfind('.'))};
}

result<void> check_name(string_view name, const place& where) {
  if (is_actor_name(name)) return {};
  return fail(manifest_errc::bad_value,
              "{}: {} cannot be an actor's name: 1 to 128 bytes without '/', '\\' and control "
              "characters",
              where.text(), json_quote(name));
}

namespace {

constexpr string_view actor_keys[] = {"name",      "wasm",     "did",     "id",          "args",
                                      "args_json", "args_hex", "cycles",  "controllers", "env",
                                      "upgrade",   "start",    "queries", "heartbeat",   "timers"};
constexpr string_view upgrade_words[] = {"auto", "never", "reinstall"};
constexpr string_view query_keys[] = {"anonymous"};
constexpr size_t cycles_digits_max = 38; // below 2^128

// The text under `key`, or nothing where the key is absent.
result<std::optional<std::string>> optional_text(const json::object& object, string_view key,
                                                 const place& where) {
  const auto* value = object.if_contains({key.data(), key.size()});
  if (value == nullptr) return std::optional<std::string>{};
  auto text = text_at(*value, where.at(key));
  if (!text) return text.error();
  return std::optional{std::move(*text)};
}

result<void> read_id(const json::object& object, const place& where, manifest_actor& out) {
  auto text = optional_text(object, "id", where);
  if (!text) return text.error();
  if (!*text) return {};
  auto id = principal::from_text(**text);
  if (!id)
    return fail(manifest_errc::bad_value, "{}: {}", where.at("id").text(), id.error().message);
  if (id->is_management())
    return fail(manifest_errc::bad_value, "{}: aaaaa-aa is the management canister's",
                where.at("id").text());
  if (*id == principal::anonymous())
    return fail(manifest_errc::bad_value, "{}: 2vxsx-fae is who calls without a name",
                where.at("id").text());
  out.id = *id;
  return {};
}

// At most one of the three ways to write the arguments of the start.
result<void> read_args(const json::object& object, const place& where, manifest_actor& out) {
  size_t given = 0;
  for (auto key : {"args", "args_json", "args_hex"})
    if (object.contains(key)) ++given;
  if (given > 1)
    return fail(manifest_errc::duplicate,
                "{}: only one of \"args\", \"args_json\" and \"args_hex\" can say what the start "
                "is given",
                where.text());
  auto text = optional_text(object, "args", where);
  if (!text) return text.error();
  out.args_text = std::move(*text);
  if (const auto* array = object.if_contains("args_json")) {
    auto here = where.at("args_json");
    if (!array->is_array())
      return fail(manifest_errc::wrong_shape, "{}: an array belongs here, not {}", here.text(),
                  kind_of(*array));
    out.args_json = json::serialize(*array);
  }
  auto hex = optional_text(object, "args_hex", where);
  if (!hex) return hex.error();
  if (!*hex) return {};
  auto bytes = from_hex(**hex);
  if (!bytes)
    return fail(manifest_errc::bad_value, "{}: {}", where.at("args_hex").text(),
                bytes.error().message);
  out.args = *bytes;
  return {};
}

// A number, or digits in a string where a number of JSON's would lose some.
result<void> read_cycles(const json::object& object, const place& where, manifest_actor& out) {
  const auto* value = object.if_contains("cycles");
  if (value == nullptr) return {};
  const auto digits =
    value->is_string() ? std::string{value->get_string().c_str()} : json::serialize(*value);
  const bool is_plain = !digits.empty() && digits.size() <= cycles_digits_max
                        && digits.find_first_not_of("0123456789") == std::string::npos;
  if (!is_plain || (!value->is_string() && !value->is_number()))
    return fail(manifest_errc::bad_value,
                "{}: cycles are a whole number, in a string if it is above 2^64",
                where.at("cycles").text());
  out.balance.emplace();
  for (const char digit : digits)
    out.balance->value = out.balance->value * 10 + static_cast<unsigned>(digit - '0');
  return {};
}

result<void> read_controllers(const json::object& object, const place& where, manifest_actor& out) {
  const auto* value = object.if_contains("controllers");
  if (value == nullptr) return {};
  auto here = where.at("controllers");
  if (!value->is_array())
    return fail(manifest_errc::wrong_shape, "{}: an array of principals belongs here, not {}",
                here.text(), kind_of(*value));
  const auto& array = value->get_array();
  out.controllers.emplace();
  for (size_t i = 0; i < array.size(); ++i) {
    auto text = text_at(array[i], here.at(i));
    if (!text) return text.error();
    auto id = principal::from_text(*text);
    if (!id) return fail(manifest_errc::bad_value, "{}: {}", here.at(i).text(), id.error().message);
    out.controllers->push_back(*std::move(id));
  }
  return {};
}

result<void> read_environment(const json::object& object, const place& where, manifest_actor& out) {
  const auto* value = object.if_contains("env");
  if (value == nullptr) return {};
  auto here = where.at("env");
  if (!value->is_object())
    return fail(manifest_errc::wrong_shape, "{}: an object belongs here, not {}", here.text(),
                kind_of(*value));
  for (const auto& member : value->get_object()) {
    const std::string key{member.key().data(), member.key().size()};
    auto text = text_at(member.value(), here.at(key));
    if (!text) return text.error();
    out.environment.emplace(key, *std::move(text));
  }
  return {};
}

result<void> read_upgrade(const json::object& object, const place& where, manifest_actor& out) {
  auto word = optional_text(object, "upgrade", where);
  if (!word) return word.error();
  if (!*word) return {};
  const auto at = std::find(std::begin(upgrade_words), std::end(upgrade_words), **word);
  if (at == std::end(upgrade_words))
    return fail(
      manifest_errc::bad_value, "{}: {} is none of \"auto\", \"never\" and \"reinstall\"{}",
      where.at("upgrade").text(), json_quote(**word), did_you_mean(**word, upgrade_words));
  out.upgrade = static_cast<upgrade_policy>(at - std::begin(upgrade_words));
  return {};
}

result<bool> read_flag(const json::object& object, string_view key, bool otherwise,
                       const place& where) {
  const auto* value = object.if_contains({key.data(), key.size()});
  if (value == nullptr) return otherwise;
  if (!value->is_bool())
    return fail(manifest_errc::wrong_shape, "{}: true or false belongs here, not {}",
                where.at(key).text(), kind_of(*value));
  return value->get_bool();
}

result<void> read_queries(const json::object& object, const place& where, manifest_actor& out) {
  const auto* value = object.if_contains("queries");
  if (value == nullptr) return {};
  auto here = where.at("queries");
  if (!value->is_object())
    return fail(manifest_errc::wrong_shape, "{}: an object belongs here, not {}", here.text(),
                kind_of(*value));
  if (auto good = check_keys(value->get_object(), query_keys, here); !good) return good;
  auto flag = read_flag(value->get_object(), "anonymous", true, here);
  if (!flag) return flag.error();
  out.anonymous_queries = *flag;
  return {};
}

result<void> read_names(const json::object& object, const place& where, manifest_actor& out) {
  if (!object.contains("wasm"))
    return fail(manifest_errc::missing_key, "{}: \"wasm\", the module's file, is missing",
                where.text());
  auto wasm = path_at(object.at("wasm"), where.at("wasm"));
  if (!wasm) return wasm.error();
  out.wasm = *wasm;
  auto name = optional_text(object, "name", where);
  if (!name) return name.error();
  out.name = name->value_or(stem_of(out.wasm));
  if (auto good = check_name(out.name, where.at("name")); !good) return good;
  const auto* did = object.if_contains("did");
  if (did == nullptr) return {};
  auto path = path_at(*did, where.at("did"));
  if (!path) return path.error();
  out.did = *path;
  return {};
}

} // namespace

result<manifest_actor> read_actor_object(const json::object& object, const place& where) {
  if (auto good = check_keys(object, actor_keys, where); !good) return good.error();
  manifest_actor out;
  for (auto read : {read_names, read_id, read_args, read_cycles, read_controllers, read_environment,
                    read_upgrade, read_queries})
    if (auto good = read(object, where, out); !good) return good.error();
  auto starts = read_flag(object, "start", true, where);
  if (!starts) return starts.error();
  out.starts = *starts;
  auto heartbeat = read_flag(object, "heartbeat", true, where);
  if (!heartbeat) return heartbeat.error();
  out.heartbeat = *heartbeat;
  auto timers = read_flag(object, "timers", true, where);
  if (!timers) return timers.error();
  out.timers = *timers;
  return out;
}

} // namespace moxzi::actors::manifest_reading
