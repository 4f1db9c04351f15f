#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/candid/decode.hpp"
#include "actors/candid/interface.hpp"
#include "actors/candid/types.hpp"
#include "actors/candid/value.hpp"
#include "base/result.hpp"

namespace moxzi::candid {

/// How values are printed.
struct text_options {
  /// Numbers that do not read back at their type by themselves say it: `1 : nat`.
  bool annotate = false;
};

/// Reads `(42, "x", opt true)` at the types expected; superfluous values and fields are passed
/// over, missing optional ones are null. Errors begin with `line:column:`.
result<std::vector<value>> text_to_values(const tuple_type& types, std::string_view text);

/// Reads values without knowing their types: whole numbers are `int`, others `float64`, a vector
/// has the type of its elements (tags of variants are put together), annotations (`1 : nat8`) say
/// otherwise. Names in annotations mean what they mean in `names`, if given.
result<message> text_to_message(std::string_view text, const interface* names = nullptr);

/// Prints values on one line, in the grammar that `text_to_values` reads.
std::string values_to_text(const tuple_type& types, std::span<const value> values,
                           const text_options& options = {});
std::string message_to_text(const message& what, const text_options& options = {});

} // namespace moxzi::candid
