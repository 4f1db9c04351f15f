#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace moxzi {

/// The Internet Computer's reject codes, plus 0 for faults of the request itself (bad JSON, an
/// unknown route), which no actor saw.
enum class reject_code : uint8_t {
  none = 0,
  sys_fatal = 1,
  sys_transient = 2,
  destination_invalid = 3,
  canister_reject = 4,
  canister_error = 5,
  sys_unknown = 6,
};

/// `canister_error` and so on; `bad_request` for none.
std::string_view name_of(reject_code code) noexcept;

/// Why a call was refused: the code, a sentence, and a stable textual code (`MX502`, `MXD011`).
struct rejection {
  reject_code code = reject_code::none;
  std::string message;
  std::string error_code;
  bool operator==(const rejection&) const = default;
};

/// `rejection` from its parts.
inline rejection rejected(reject_code code, std::string error_code, std::string message) {
  return {code, std::move(message), std::move(error_code)};
}

/// The error object of the HTTP interface:
/// `{"error":{"code":5,"name":"canister_error","message":"…","error_code":"MX502"}}`.
std::string to_json(const rejection& why);

/// `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string json_quote(std::string_view text);

} // namespace moxzi
