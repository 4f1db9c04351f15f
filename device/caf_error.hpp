#pragma once

#include <string>

#include <caf/all.hpp>

#include "device/errors.hpp"

namespace moxzi::device {

/// A device's failure as CAF carries it: its number, and the text for a person
/// (`MXD011: program[7] linear: …`). Compare with `why == device_errc::shape_mismatch`.
caf::error make_error(device_errc code, std::string text = {});

/// The same of the core's own error.
caf::error caf_error(const error& what);

/// The text for a person: of a device's failure as it was said, of any other one as CAF says it.
std::string text_of(const caf::error& what);

} // namespace moxzi::device
