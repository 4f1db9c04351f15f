#pragma once

#include <span>
#include <vector>

#include "actors/candid/types.hpp"
#include "actors/candid/value.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace moxzi::candid {

/// The part of a message before its values: `DIDL`, the composite types that `items` reach, each
/// once and in the order met, and the argument types.
byte_string encode_header(const type_table& types, std::span<const type_ref> items);

/// A message of these types. Fails, naming the path, if a value does not have the shape of its
/// type (what `decode` returned at these types always has), and with `over_limit` if nobody could
/// read the message within the usual quota.
result<byte_string> encode(const tuple_type& types, std::span<const value> values);

} // namespace moxzi::candid
