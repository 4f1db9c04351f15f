#include "device/opened_device.hpp"

#include <utility>

#include "device/device_worker.hpp"
#include "device/open.hpp"

namespace moxzi::device {

struct opened_device::state {
  state(caf::actor_system& in, std::unique_ptr<backend> on, core_options options)
      : system(in), info(on->info()),
        worker(spawn_device_worker(in, {std::move(on), options, make_system_clock(), &thread})) {
    // nop
  }
  ~state() {
    caf::scoped_actor self(system);
    self->send_exit(worker, caf::exit_reason::user_shutdown);
    self->wait_for(worker);
  }

  caf::actor_system& system;
  backend_info info;
  device_thread thread; // before the worker, which it outlives
  device_worker_actor worker;
};

result<opened_device> opened_device::open(caf::actor_system& system,
                                          const device_options& options) {
  auto on = open_backend(options.kind, options.threads, options.plugins);
  if (!on) {
    // It speaks of the flag of moxzid; here there is none.
    const auto said = on.error().message;
    std::string_view why = said;
    constexpr std::string_view flag = "--";
    if (why.starts_with(flag)) why.remove_prefix(flag.size());
    return fail(device_errc::no_device, "{}: {}", code_text(device_errc::no_device), why);
  }
  return opened_device(system, std::move(*on), options.core);
}

opened_device::opened_device(caf::actor_system& system, std::unique_ptr<backend> on,
                             core_options options)
    : state_(std::make_unique<state>(system, std::move(on), options)) {
  // nop
}

opened_device::opened_device(opened_device&&) noexcept = default;
opened_device::~opened_device() = default;

device_handle opened_device::space(byte_string name) const {
  return {state_->worker, std::move(name)};
}

const backend_info& opened_device::info() const noexcept {
  return state_->info;
}

} // namespace moxzi::device
