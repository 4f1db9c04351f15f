#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <caf/all.hpp>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "device/contents.hpp"
#include "device/program.hpp"

/// Everything that is said to and by a device worker. Owners are opaque bytes (an actor's
/// principal). Requests and answers are immutable and shared, never serialized: a worker in another
/// process will get a codec of its own.
namespace moxzi::device {

/// Makes parameters in the owner's space: all of them, or none.
struct define_params {
  byte_string owner;
  std::vector<param_spec> params;
};

/// Makes or replaces an optimizer in the owner's space.
struct define_optimizer {
  byte_string owner;
  optimizer_spec optimizer;
};

struct runnable;

/// Runs a program in the owner's space.
struct run_program {
  byte_string owner;
  run_request request;
  /// What it was compiled from, if that declares types of inputs: others are refused.
  std::shared_ptr<const runnable> compiled = nullptr;
};

/// Checks a program and makes its plan ready, so that the first run is as quick as the others: a
/// `plan_description`. Of the inputs only types and shapes matter.
struct prepare_program {
  byte_string owner;
  run_request request;
};

/// Reads parameters of the owner: the reply's tensors, in the order of the names.
struct read_params {
  byte_string owner;
  read_request what;
};

/// Writes parameters of the owner: all entries, or none.
struct write_params {
  byte_string owner;
  std::vector<write_entry> entries;
};

/// Forgets names of the owner's: all of them, or none.
struct delete_entries {
  byte_string owner;
  delete_request what;
};

/// Renames parameters of the owner: all of them, or none.
struct rename_params {
  byte_string owner;
  std::vector<rename_entry> entries;
};

/// Lists what the owner has: a `space_listing`.
struct list_space {
  byte_string owner;
};

/// Describes the device: a `device_description`.
struct describe_device {
  byte_string owner;
};

/// Forgets the owner's space and all that is in it.
struct drop_space {
  byte_string owner;
};

/// The answer to each of them. A failure is a `device_errc` with the whole text
/// (`MXD011: program[7] linear: …`); nothing has changed then. The reply is empty except for
/// `run_program` and `read_params`.
struct device_answer {
  result<run_reply> outcome;
  uint64_t device_ns = 0;  ///< time the device spent on it, waiting not counted
  device_facts facts = {}; ///< of `list_space`, `describe_device` and `prepare_program`
};

using define_params_ptr = std::shared_ptr<const define_params>;
using define_optimizer_ptr = std::shared_ptr<const define_optimizer>;
using run_program_ptr = std::shared_ptr<const run_program>;
using prepare_program_ptr = std::shared_ptr<const prepare_program>;
using read_params_ptr = std::shared_ptr<const read_params>;
using write_params_ptr = std::shared_ptr<const write_params>;
using delete_entries_ptr = std::shared_ptr<const delete_entries>;
using rename_params_ptr = std::shared_ptr<const rename_params>;
using list_space_ptr = std::shared_ptr<const list_space>;
using describe_device_ptr = std::shared_ptr<const describe_device>;
using drop_space_ptr = std::shared_ptr<const drop_space>;
using device_answer_ptr = std::shared_ptr<const device_answer>;

/// DEVICE WORKER: owns one device and all tensors on it; does one request after the other in the
/// order of arrival. A wrong request is an answer with a failure; a CAF error means that the worker
/// itself is gone.
using device_worker_actor = caf::typed_actor<
  // Makes parameters.
  caf::replies_to<define_params_ptr>::with<device_answer_ptr>,
  // Makes an optimizer.
  caf::replies_to<define_optimizer_ptr>::with<device_answer_ptr>,
  // Runs a program; small ones at once, long ones on the device's own thread.
  caf::replies_to<run_program_ptr>::with<device_answer_ptr>,
  // Plans a program ahead.
  caf::replies_to<prepare_program_ptr>::with<device_answer_ptr>,
  // Reads parameters.
  caf::replies_to<read_params_ptr>::with<device_answer_ptr>,
  // Writes them; much at a time on the device's own thread.
  caf::replies_to<write_params_ptr>::with<device_answer_ptr>,
  // Forgets parameters and optimizers.
  caf::replies_to<delete_entries_ptr>::with<device_answer_ptr>,
  // Renames parameters.
  caf::replies_to<rename_params_ptr>::with<device_answer_ptr>,
  // Lists a space.
  caf::replies_to<list_space_ptr>::with<device_answer_ptr>,
  // Describes the device; never fails.
  caf::replies_to<describe_device_ptr>::with<device_answer_ptr>,
  // Forgets a space; never fails.
  caf::replies_to<drop_space_ptr>::with<device_answer_ptr>>;

} // namespace moxzi::device

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::device::define_params_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::device::define_optimizer_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::device::run_program_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::device::prepare_program_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::device::read_params_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::device::write_params_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::device::delete_entries_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::device::rename_params_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::device::list_space_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::device::describe_device_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::device::drop_space_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(moxzi::device::device_answer_ptr)
