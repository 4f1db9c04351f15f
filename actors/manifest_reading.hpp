#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "actors/manifest.hpp"
#include "base/nearest.hpp"
#include "base/reject.hpp"

/// What reading a manifest needs in several places; nobody else includes this.
namespace moxzi::actors::manifest_reading {

/// `an object`, `a number`: for messages.
std::string_view kind_of(const boost::json::value& value);

/// Where a value stands, for messages: the file and the path inside it.
struct place {
  std::string_view file;
  std::string inside;

  place at(std::string_view key) const;
  place at(size_t index) const;
  std::string text() const;
};

result<std::string> text_at(const boost::json::value& value, const place& where);
result<std::string> path_at(const boost::json::value& value, const place& where);

/// Refuses keys that nobody reads.
template <size_t N>
result<void> check_keys(const boost::json::object& object, const std::string_view (&known)[N],
                        const place& where) {
  for (const auto& member : object) {
    std::string_view key{member.key().data(), member.key().size()};
    if (std::find(std::begin(known), std::end(known), key) == std::end(known))
      return fail(manifest_errc::unknown_key, "{}: unknown key {}{}", where.text(), json_quote(key),
                  did_you_mean(key, known));
  }
  return {};
}

/// `b/letters.wasm` is the actor `letters`, and so is `b/letters.wasm.gz`.
std::string stem_of(std::string_view path);
result<void> check_name(std::string_view name, const place& where);

/// One actor of the second or third shape.
result<manifest_actor> read_actor_object(const boost::json::object& object, const place& where);

} // namespace moxzi::actors::manifest_reading
