#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "actors/cycles.hpp"
#include "actors/principal.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

/// `actors.json`: which actors a moxzid hosts. Pure text functions;
/// `actors/build/manifest_file.hpp` reads and writes the file.
///
/// Three shapes are read:
///
///     {"letters": "letters.wasm"}
///     ["letters.wasm", {"name": "other", "wasm": "b/other.wasm"}]
///     {"version": 1, "actors": [{"name": "letters", "wasm": "letters.wasm"}], "device": {…}}
namespace moxzi::actors {

enum class manifest_errc : int {
  not_json = 1,     ///< the text is not JSON
  wrong_shape = 2,  ///< a value is not of the kind its place asks for
  unknown_key = 3,  ///< a key nobody reads; a typo must not be silent
  missing_key = 4,  ///< a key that must be there is not
  duplicate = 5,    ///< two actors of one name, or one key twice
  bad_value = 6,    ///< a name, principal or version that cannot be
  missing_file = 7, ///< a file that the manifest names is not there
};

const std::error_category& manifest_category() noexcept;

inline std::error_code make_error_code(manifest_errc code) noexcept {
  return {static_cast<int>(code), manifest_category()};
}

/// What becomes of a hosted actor when its module's file has changed.
enum class upgrade_policy : uint8_t { automatic, never, reinstall };

/// One hosted actor. Paths are as in the manifest: relative to its folder.
struct manifest_actor {
  std::string name;
  std::string wasm;
  std::optional<std::string> did;       ///< without it, the module's own section is used
  std::optional<principal> id;          ///< instead of the name's principal
  std::optional<byte_string> args;      ///< Candid for `init`, from `args_hex`
  std::optional<std::string> args_text; ///< the same as Candid text, at the types of `init`
  std::optional<std::string> args_json; ///< the same as a JSON array
  std::optional<cycles> balance;        ///< opening balance; none: the daemon's
  std::optional<std::vector<principal>> controllers; ///< none: the daemon's
  std::map<std::string, std::string> environment;
  upgrade_policy upgrade = upgrade_policy::automatic;
  bool starts = true;            ///< false: it stays stopped until it is started
  bool heartbeat = true;         ///< false: its heartbeat is never run
  bool timers = true;            ///< false: its timers never fire
  bool anonymous_queries = true; ///< false: queries only by callers with a name
  bool operator==(const manifest_actor&) const = default;
};

struct manifest {
  std::vector<manifest_actor> actors; ///< in the order of the text
  std::optional<std::string> device;  ///< `{"device": {"kind": "burn:cpu"}}`
};

/// True if `name` can be an actor's: 1 to 128 bytes of UTF-8 without `/`, `\` and control
/// characters, and neither `.` nor `..`. It is a file name and a part of a URL.
bool is_actor_name(std::string_view name) noexcept;

/// Reads a manifest. `path` is only for the messages, which name the file and the place in it
/// (`actors.json: actors[1].wsam: …`).
result<manifest> parse_manifest(std::string_view text, std::string_view path);

/// The text with `entry`'s wasm and did set under its name: replaced where the actor is listed,
/// else added at the end. Everything else keeps its bytes. An empty text gives a new manifest.
result<std::string> with_actor(std::string_view text, std::string_view path,
                               const manifest_actor& entry);

} // namespace moxzi::actors

template <>
struct std::is_error_code_enum<moxzi::actors::manifest_errc> : std::true_type {};
