// JSON at a type: what is read is written and read to the same, and encoded and decoded to the
// same.

#include <cstdlib>

#include "actors/candid/decode.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/errc.hpp"
#include "actors/candid/json.hpp"
#include "tests/actors/candid/random_pair.hpp"
#include "tests/fuzz/candid_types.hpp"
#include "tests/fuzz/timing/timed_input.hpp"

using namespace moxzi;
using namespace moxzi::candid;

void moxzi::fuzz::check_input(const uint8_t* data, size_t size) {
  if (size == 0) return;
  const std::string_view json{reinterpret_cast<const char*>(data + 1), size - 1};
  const auto& types = fuzzed_types(data[0]);
  const json_options options{.lenient = (data[0] & 8) != 0, .blob_base64 = (data[0] & 16) != 0};
  const auto values = json_to_values(types, json, options);
  if (!values) return;
  const auto written = values_to_json(types, *values, options);
  // At the deepest level, what is read as null may be written as [].
  if (!written && written.error().code != candid_errc::over_limit) std::abort();
  if (!written) return;
  const auto again = json_to_values(types, *written, options);
  if (!again || !equal_but_nan(value::list(*again), value::list(*values))) std::abort();
  const auto bytes = encode(types, *values);
  if (!bytes) std::abort();
  if (const auto read = decode(*bytes, types); read && *read != *values) std::abort();
}
