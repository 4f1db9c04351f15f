#pragma once

#include <string>

#include "actors/candid/interface.hpp"
#include "actors/candid/types.hpp"

namespace moxzi::candid {

/// One type as text; named ones by their name.
std::string type_text(const type_table& types, type_ref type);

/// A list of types: `(nat, opt text)`.
std::string tuple_text(const tuple_type& types);

/// A whole `.did` file: the definitions in their order, then the service with its methods by name.
/// Reads back as the same interface.
std::string did_text(const interface& what);

} // namespace moxzi::candid
