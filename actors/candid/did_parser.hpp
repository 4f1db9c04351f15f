#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "actors/candid/interface.hpp"
#include "base/result.hpp"

namespace moxzi::candid {

/// Gives the text of an imported file. The path is that from the main file, shortened: what a file
/// imports is looked for beside that file, and `./a.did` is `a.did`.
using did_loader = std::function<result<std::string>(const std::string& path)>;

/// Reads a `.did` file. Errors begin with `line:column:` (of an imported file: its path before).
/// Without a loader, imports are refused. A file sees its own types and those of the files that it
/// imports, directly or not, and no others; `name` is that under which it would import itself.
result<interface> parse_did(std::string_view text, const did_loader& load = {},
                            const std::string& name = {});

/// Reads a list of types, `(nat, opt text)`; names mean what they mean in `names`, if given.
result<tuple_type> parse_types(std::string_view text, const interface* names = nullptr);

} // namespace moxzi::candid
