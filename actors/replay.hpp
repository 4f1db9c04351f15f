#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "actors/body.hpp"
#include "actors/canister_core.hpp"
#include "base/result.hpp"
#include "persist/record.hpp"

namespace moxzi::actors {

/// What a replay went through.
struct replay_summary {
  uint64_t records = 0;
  uint64_t instructions = 0;
};

/// Where the code of an installation comes from: records name modules by their hash.
using code_source = std::function<result<code_ptr>(const sha256_hash& module)>;

/// Runs one actor's records, from its creation on and in order, on a fresh body. Nothing leaves:
/// calls are not delivered, their answers come from the records. After each execution its digest is
/// compared; the first difference ends the replay with `host_errc::diverged` and the record's
/// number. `settings` are those the actor had. Records of other actors are skipped. Blocks until
/// done.
result<replay_summary> replay(const std::vector<persist::record>& records, core_settings settings,
                              actor_body& body, const code_source& modules);

} // namespace moxzi::actors
