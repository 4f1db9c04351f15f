// Candid messages: `decode` and `validate` agree; what decodes, at our types or its own, is encoded
// and decoded to the same, and printed and read to the same; and what it prints is read by itself.

#include <cstdlib>

#include "actors/candid/decode.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/text.hpp"
#include "tests/fuzz/candid_types.hpp"
#include "tests/fuzz/timing/timed_input.hpp"

using namespace moxzi;
using namespace moxzi::candid;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// What a message prints is read without its types, unless that costs too much.
void require_readable(const std::string& text) {
  constexpr size_t text_bytes_max = 4096;
  if (text.size() > text_bytes_max) return;
  const auto read = text_to_message(text);
  require(read || read.error().message.find("different types") == std::string::npos);
}

} // namespace

void moxzi::fuzz::check_input(const uint8_t* data, size_t size) {
  if (size == 0) return;
  const auto& types = fuzzed_types(data[0]);
  const byte_string bytes = "DIDL" + byte_string{reinterpret_cast<const char*>(data + 1), size - 1};
  const auto values = decode(bytes, types);
  require(values.has_value() == validate(bytes, types).has_value());
  if (values) {
    require(decode(encode(types, *values).value(), types).value() == *values);
    require(text_to_values(types, values_to_text(types, *values)).value() == *values);
  }
  const auto any = decode_any(bytes);
  require(any.has_value() == validate_any(bytes).has_value());
  if (any) {
    const auto own = make_tuple_type(any->types, any->items);
    if (const auto again = encode(own, any->values)) {
      require(decode(*again, own).value() == any->values);
    }
    require_readable(message_to_text(*any, {.annotate = true}));
  }
}
