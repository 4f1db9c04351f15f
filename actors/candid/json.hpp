#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/candid/decode.hpp"
#include "actors/candid/interface.hpp"
#include "actors/candid/value.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace moxzi::candid {

/// How `/call-json` reads and writes; see docs/candid.md for the forms.
struct json_options {
  /// Reading: keys that a record does not have are passed over.
  bool lenient = false;
  /// Writing: blobs as `{"base64":"…"}` in place of `"0x…"`.
  bool blob_base64 = false;
};

/// Reads one JSON array as the arguments of a method, each at its type. An empty body is `[]`; a
/// body that is no array is the argument of a one-argument method. Errors name the path:
/// `args[0].shape[2]: expected nat32, got "x"`.
result<byte_string> json_to_arguments(const method_type& method, std::string_view json,
                                      const json_options& options = {});

/// Writes the results of a method as one compact JSON array. Fails with `over_limit` if there are
/// more than `limits::json_values_max` values, or more levels than JSON is read with.
result<std::string> reply_to_json(const method_type& method, byte_view reply,
                                  const json_options& options = {});

/// The two halves, for any list of types.
result<std::vector<value>> json_to_values(const tuple_type& types, std::string_view json,
                                          const json_options& options = {});
result<std::string> values_to_json(const tuple_type& types, std::span<const value> values,
                                   const json_options& options = {});

} // namespace moxzi::candid
