#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/cycles.hpp"
#include "actors/lifecycle.hpp"
#include "actors/manifest.hpp"
#include "actors/messages.hpp"
#include "actors/principal.hpp"
#include "actors/wasm/wasm_factory.hpp"
#include "base/bytes.hpp"
#include "base/digest.hpp"
#include "base/result.hpp"

/// From an entry of the manifest to an actor that can be put in place.
namespace moxzi::actors {

/// An actor of the manifest, read and compiled.
struct loaded_actor {
  manifest_actor entry;
  std::string name;
  principal id;
  prepared_code code;
  sha256_hash file{};             ///< of the module's file
  std::optional<std::string> did; ///< the manifest's, in place of the module's own
  byte_string install_argument;   ///< Candid
  size_t methods = 0;             ///< those a caller sees
};

/// What an actor gets where its entry says nothing.
struct host_defaults {
  cycles balance;
  std::vector<principal> controllers;
  std::map<std::string, std::string> environment; ///< `PUBLIC_CANISTER_ID:<name>` of the manifest
};

/// `PUBLIC_CANISTER_ID:<name>` of every actor of the manifest, for the environment of each.
std::map<std::string, std::string> public_ids(const manifest& actors);

/// The module's file. Errors of all these functions name the actor and the file.
result<byte_string> read_module(const manifest_actor& entry);

/// The error for a module that cannot be used.
error refused_module(const manifest_actor& entry, const error& why);

/// Reads the rest of an entry, beside its module's code: the interface, and the arguments of its
/// start at the types that the module says its constructor has.
result<loaded_actor> finish_actor(const manifest_actor& entry, prepared_code code,
                                  const sha256_hash& file);

/// All of the above, compiling on this thread.
result<loaded_actor> load_actor(const manifest_actor& entry, wasm_factory& factory);

/// The settings that an entry asks for. Variables of its own go before those that all get; of
/// these, as many as an actor may have.
lifecycle::settings_change settings_of(const manifest_actor& entry, const host_defaults& defaults);

/// Can the actor be made with these settings?
result<void> check_settings(const manifest_actor& entry, const host_defaults& defaults);

/// The request that makes the actor, without token and whom to answer.
create_actor creation_of(const loaded_actor& actor, const host_defaults& defaults);

} // namespace moxzi::actors
