#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/definitions.hpp"
#include "device/device_core.hpp"
#include "device/plan_cache.hpp"
#include "device/space.hpp"

/// The part of the core that runs programs. Internal to `device_core`.
namespace moxzi::device {

/// All that `execute` needs, checked and found.
struct prepared_run::state {
  kept_plan_ptr kept;
  bool parallel = false; ///< it runs on several threads
  const run_request* request = nullptr;
  std::vector<void*> parameters; ///< addresses, as `plan::parameters`
  std::vector<optimizer_step> steps;
  std::vector<optimizer*> optimizers; ///< to count the step of, the train's own first
  std::vector<step_state*> stepped;   ///< those of all segments
  space* in = nullptr;
  draw_keys draws;
  std::vector<void*> writes;                 ///< addresses, as `plan::writes`
  std::map<std::string, stored_value> fresh; ///< values that appear when the run has succeeded
};

result<prepared_run::state> prepare_run(space& in, const run_request& request, backend& on,
                                        memory_account& memory, plan_cache& plans,
                                        uint64_t device_seed);

result<run_reply> execute_run(prepared_run::state& what, memory_account& memory);

/// Finds or makes the places of the plan's writes.
result<void> prepare_writes(prepared_run::state& what, memory_account& memory);
/// Puts what was written into the space.
void finish_writes(prepared_run::state& what, memory_account& memory);

} // namespace moxzi::device
