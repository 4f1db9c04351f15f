#pragma once

#include <string>
#include <string_view>

namespace moxzi::actors {

/// What keeps an actor with the stable types `before` from being upgraded to one with `after`, as
/// far as their texts tell (`motoko:stable-types`, what a `.most` has): `count was Nat and is Text;
/// name is gone`. A type that changed may still be a compatible one: the compiler knows
/// (`moxzi upgrade-check`). Empty if no difference is seen or the texts are of another form.
std::string stable_differences(std::string_view before, std::string_view after);

} // namespace moxzi::actors
