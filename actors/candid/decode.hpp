#pragma once

#include <memory>
#include <vector>

#include "actors/candid/types.hpp"
#include "actors/candid/value.hpp"
#include "base/bytes.hpp"
#include "base/limits.hpp"
#include "base/result.hpp"

namespace moxzi::candid {

/// What reading one message may cost. A message is cheap to write and may be dear to read (a vector
/// of a billion nulls is twelve bytes), so cost is counted, not read from lengths.
struct quota {
  size_t steps_per_byte = limits::candid_steps_per_byte;
  size_t steps_free = limits::candid_steps_free;
  size_t steps_max = SIZE_MAX; ///< however long the message
  size_t empty_values_max = limits::candid_empty_values_max;
};

/// A message with the types that it says it has.
struct message {
  std::shared_ptr<const type_table> types;
  std::vector<type_ref> items;
  std::vector<value> values;
};

/// Reads a message at the types expected: values are coerced by the rules of subtyping, missing
/// optional ones are null, superfluous ones are skipped. One value for each item of `expected`.
/// Errors: `mismatch` with a path if the message is sound but does not fit; else byte and reason.
result<std::vector<value>> decode(byte_view bytes, const tuple_type& expected,
                                  const quota& allowed = {});

/// Does `decode` succeed? As strict, without building anything.
result<void> validate(byte_view bytes, const tuple_type& expected, const quota& allowed = {});

/// Reads a message at the types that it declares itself.
result<message> decode_any(byte_view bytes, const quota& allowed = {});

/// Does `decode_any` succeed? For actors whose interface is not known.
result<void> validate_any(byte_view bytes, const quota& allowed = {});

} // namespace moxzi::candid
