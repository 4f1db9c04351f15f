#pragma once

#include <memory>

#include "base/clock.hpp"
#include "device/backend.hpp"
#include "device/device_core.hpp"
#include "device/device_thread.hpp"
#include "device/messages.hpp"

namespace moxzi::device {

/// What a worker is made of. The thread outlives the worker.
struct worker_setup {
  std::unique_ptr<backend> on;
  core_options options;
  std::shared_ptr<const clock> time;
  device_thread* thread = nullptr;
};

/// Work that is expected to take longer goes to the device's thread. Switching there costs about
/// 65 us, and whatever the choice, the digits are the same: how many threads a plan uses is decided
/// by its cost alone.
inline constexpr uint64_t inline_ns_max = 1'000'000;

/// Starts the worker of one device.
device_worker_actor spawn_device_worker(caf::actor_system& system, worker_setup setup);

} // namespace moxzi::device
