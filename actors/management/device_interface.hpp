#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "device/contents.hpp"
#include "device/program.hpp"

/// The device's methods as Candid: `moxzi_device_*` of the management canister, whose types are in
/// `device/interface.did`. Pure: bytes to requests, answers to bytes.
namespace moxzi::actors::management {

using params_request = std::vector<device::param_spec>;   ///< `moxzi_device_params`
using optimizer_request = device::optimizer_spec;         ///< `moxzi_device_optimizer`
using write_request = std::vector<device::write_entry>;   ///< `moxzi_device_write`
using rename_request = std::vector<device::rename_entry>; ///< `moxzi_device_rename`
struct list_request {};                                   ///< `moxzi_device_list`
struct info_request {};                                   ///< `moxzi_device_info`

/// A decoded call of one of the device's methods.
using device_request =
  std::variant<params_request, optimizer_request, device::run_request, device::read_request,
               write_request, device::delete_request, rename_request, list_request, info_request>;

/// True if `method` is one of the device's methods that this build has.
bool is_device_method(std::string_view method) noexcept;

/// Decodes calls. Keeps the programs it has seen last (by their bytes, within a bound), so that a
/// training loop that sends one program again and again pays for its decoding once.
class device_interface {
public:
  device_interface();
  ~device_interface();
  device_interface(const device_interface&) = delete;
  device_interface& operator=(const device_interface&) = delete;

  /// Reads the Candid argument of `method`, which is a device method. Failures are a
  /// `device::device_errc` with the whole text (`MXD002: argument: …`).
  result<device_request> decode(std::string_view method, byte_view argument);

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// True if the call may change the device, and so is kept in the journal.
bool is_mutating(const device_request& request) noexcept;

/// The Candid argument of a request: what `decode` reads.
byte_string encode_argument(const device_request& request);

/// The Candid reply to a request that succeeded. `device_ns` is the time that it took; `facts` are
/// those that were asked for, and `cycles_per_ms` belongs to a description.
byte_string encode_reply(const device_request& request, const device::run_reply& reply,
                         uint64_t device_ns, const device::device_facts& facts = {},
                         uint64_t cycles_per_ms = 0);

} // namespace moxzi::actors::management
