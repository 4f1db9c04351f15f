// Candid values as text: what is read is encoded and decoded to the same, and its print is read to
// the same.

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

void check(const tuple_type& types, const std::vector<value>& values) {
  const auto bytes = encode(types, values);
  if (!bytes) return; // nested too deeply for bytes
  if (const auto again = decode(*bytes, types)) require(*again == values);
  const auto text = values_to_text(types, values, {.annotate = true});
  const auto read = text_to_values(types, text);
  require(read && *read == values);
}

} // namespace

void moxzi::fuzz::check_input(const uint8_t* data, size_t size) {
  if (size == 0) return;
  const std::string_view text{reinterpret_cast<const char*>(data + 1), size - 1};
  const auto& types = fuzzed_types(data[0]);
  if (const auto values = text_to_values(types, text)) check(types, *values);
  if (const auto message = text_to_message(text)) {
    check(make_tuple_type(message->types, message->items), message->values);
  }
}
