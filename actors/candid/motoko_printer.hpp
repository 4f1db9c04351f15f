#pragma once

#include <string>
#include <string_view>

#include "actors/candid/interface.hpp"
#include "base/result.hpp"

namespace moxzi::candid {

/// A name as Motoko's compiler would translate it: a keyword and what ends in `_` gets a `_`
/// behind, what is no identifier becomes `_<hash>_` (Motoko's mapping of Candid).
std::string motoko_label(std::string_view name);

/// An interface as a Motoko module: its named types, and `Self`, the type of its actor (with a
/// constructor's arguments, `Init`). Fails for what Motoko cannot say: a method whose name is no
/// identifier, a type that is recursive without a name.
result<std::string> motoko_text(const interface& what);

} // namespace moxzi::candid
