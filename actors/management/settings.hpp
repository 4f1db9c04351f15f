#pragma once

#include "actors/lifecycle.hpp"
#include "actors/management/replies.hpp"
#include "base/result.hpp"

/// The settings of an actor, as the management canister speaks of them. Pure.
namespace moxzi::actors::management {

/// What is asked for. Fails, naming the field, where a number is larger than any that could be
/// meant. Bounds of what can be set are the actor's to check.
result<lifecycle::settings_change> to_change(const canister_settings& asked);

/// All settings, for `canister_status`.
definite_canister_settings to_reply(const lifecycle::settings& current);

} // namespace moxzi::actors::management
