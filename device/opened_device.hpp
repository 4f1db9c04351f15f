#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <caf/all.hpp>

#include "base/result.hpp"
#include "device/backend.hpp"
#include "device/device_core.hpp"
#include "device/device_handle.hpp"

namespace moxzi::device {

/// Which device to open, and how.
struct device_options {
  std::string kind = "cpu"; ///< `cpu`, `cuda:0`, `reference`
  /// Threads for plans that are large enough for several; 0 = all cores.
  uint32_t threads = 1;
  core_options core = {.reply_bytes_max = UINT64_MAX};
  /// The folder of the devices' libraries.
#ifdef MOXZI_PLUGINS // set by CMake's target moxzi::device
  std::filesystem::path plugins = MOXZI_PLUGINS;
#else
  std::filesystem::path plugins = {};
#endif
};

/// A device that is open in this process: the actor that owns it and the thread of its long work.
/// Made before the actors that use it and destroyed after them, before the actor system, and not on
/// one of the system's own threads, since its end is waited for.
class opened_device {
public:
  /// Opens a device of a kind that is built in, or says which ones are (MXD001).
  static result<opened_device> open(caf::actor_system& system, const device_options& options);
  /// Opens one that was made elsewhere.
  opened_device(caf::actor_system& system, std::unique_ptr<backend> on, core_options options);
  opened_device(opened_device&&) noexcept;
  ~opened_device();

  /// The space of that name. It is empty until something is made in it.
  device_handle space(byte_string name) const;
  const backend_info& info() const noexcept;

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace moxzi::device
