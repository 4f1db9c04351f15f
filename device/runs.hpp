#pragma once

#include <span>
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
  const run_request* request = nullptr;
  std::vector<void*> parameters; ///< addresses, as `plan::parameters`
  std::vector<optimizer_step> steps;
  std::vector<optimizer*> optimizers; ///< to count the step of, the train's own first
  std::vector<step_state*> stepped;   ///< those of all segments
};

result<prepared_run::state> prepare_run(space& in, const run_request& request, backend& on,
                                        memory_account& memory, plan_cache& plans);

result<run_reply> execute_run(prepared_run::state& what);

} // namespace moxzi::device
