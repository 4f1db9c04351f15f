#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/backend.hpp"

namespace moxzi::device {

/// The kinds this build can open, as `--device` spells them: `cpu`, `cuda:N`, `reference`, `null`.
std::vector<std::string> built_in_kinds(const std::filesystem::path& plugins);

/// Opens a device by its kind: `[burn:]cpu`, `[burn:]cuda[:N]`, `reference`, `null`. Known kinds
/// that are not built in and unknown ones fail with the list of those that are; a device that is
/// not there fails with the driver's reason. `plugins` is the folder of the plugins' libraries.
result<std::unique_ptr<backend>> open_backend(std::string_view kind, uint32_t threads,
                                              const std::filesystem::path& plugins);

/// The plain-loop backend, f64 accumulation: what the others are compared with.
std::unique_ptr<backend> make_reference_backend();

/// A backend that computes nothing: every number is zero.
std::unique_ptr<backend> make_null_backend();

} // namespace moxzi::device
