#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/result.hpp"

namespace moxzi::device {

/// What may go wrong with a device call. The number is the one of the message (`MXD011`), so it
/// never changes; every ten numbers are one kind of cause.
enum class device_errc : int {
  no_device = 1,            ///< moxzid was started without a device
  undecodable = 2,          ///< the argument is not of the method's type
  register_order = 10,      ///< an operation uses a register that is not made before it
  shape_mismatch = 11,      ///< ranks or shapes do not fit together
  dtype_mismatch = 12,      ///< types do not fit together
  dim_range = 13,           ///< a dimension or a range in it is outside the tensor
  reshape_count = 14,       ///< a reshape would change the number of elements
  index_range = 15,         ///< an index in the data is outside the tensor it points into
  op_unsupported = 16,      ///< this device lacks the operation or the type
  unknown_parameter = 20,   ///< no parameter of that name
  unknown_optimizer = 21,   ///< no optimizer of that name
  unknown_value = 22,       ///< no stored value of that name
  exists = 23,              ///< the name is taken, or listed twice
  frozen = 24,              ///< the parameter is frozen
  input_bytes = 30,         ///< the data is not as long as its shape says
  input_number = 31,        ///< the program asks for an input that was not sent
  invalid_value = 32,       ///< a number or a name is outside what is permitted
  loss_not_scalar = 40,     ///< the loss is not a single floating-point number
  two_optimizers = 41,      ///< one parameter would be stepped twice
  nonfinite_gradient = 42,  ///< a gradient is NaN or infinite
  publication_unknown = 50, ///< no such publication, or none that the caller may read
  export_unserved = 51,     ///< this moxzid serves no exports
  bad_url = 52,             ///< the URL cannot be fetched
  fetch_failed = 53,        ///< the other side answered something else
  digest_mismatch = 54,     ///< the bytes are not the promised ones
  out_of_memory = 60,       ///< the device has less memory than asked for
  quota = 61,               ///< the owner's share of the device is used up
  reply_too_large = 62,     ///< the answer would be larger than a reply may be
  program_too_long = 63,    ///< more operations than a program may have
  out_of_cycles = 70,       ///< the caller cannot pay
  device_failed = 80,       ///< the device itself failed
};

const std::error_category& device_category() noexcept;

inline std::error_code make_error_code(device_errc code) noexcept {
  return {static_cast<int>(code), device_category()};
}

/// `MXD011` for `shape_mismatch`.
std::string code_text(device_errc code);

/// True for what may pass when tried again (memory, a failed device or fetch): such a call is
/// rejected with `sys_transient`, every other one with `canister_reject`.
bool is_transient(device_errc code) noexcept;

/// `MXD011: program[7] linear: <what>`; `where` names the part of the request.
error at(device_errc code, std::string_view where, std::string_view what);

/// As above, with a formatted `what`.
template <class... Args>
error fail_at(device_errc code, std::string_view where, fmt::format_string<Args...> format,
              Args&&... args) {
  return at(code, where, fmt::format(format, std::forward<Args>(args)...));
}

} // namespace moxzi::device

template <>
struct std::is_error_code_enum<moxzi::device::device_errc> : std::true_type {};
