#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "actors/body.hpp"
#include "actors/call.hpp"
#include "actors/lifecycle.hpp"
#include "base/codec.hpp"
#include "base/digest.hpp"
#include "base/result.hpp"
#include "persist/record.hpp"

/// How an actor's inputs are kept in its records, and a device call in the device's. Formats are
/// fixed by golden bytes in the tests; a change means a new record kind.
namespace moxzi::actors {

/// The first input of an actor's life: it is there, without code.
struct create_input {
  lifecycle::settings settings;
  cycles balance;
  bool charging = false; ///< off: the balance reads as a large constant and never moves
  price_table prices;
  principal origin;                       ///< who asked; anonymous for the host
  std::optional<uint64_t> origin_version; ///< of an actor that said it
  bool operator==(const create_input&) const = default;
};

/// Something asked of the actor that changes it.
struct change_input {
  std::optional<principal> sender;        ///< none: the host
  lifecycle::request what;                ///< of `install_code` without the module's bytes
  sha256_hash module{};                   ///< install_code
  code_ptr code;                          ///< install_code; not kept in the record
  uint64_t token = 0;                     ///< comes back with the answer; not kept in the record
  std::optional<uint64_t> sender_version; ///< of an actor that said it
};

/// The global timer came due.
struct fire_timer {
  bool operator==(const fire_timer&) const = default;
};

/// About once a second, for code that has a heartbeat.
struct beat {
  bool operator==(const beat&) const = default;
};

/// The heap has come close to its limit, for code that wants to know.
struct memory_low {
  bool operator==(const memory_low&) const = default;
};

/// An input that is recorded.
using actor_input = std::variant<create_input, change_input, call_request, call_response,
                                 fire_timer, beat, memory_low>;

/// An input with the limit that its execution had.
struct recorded_input {
  actor_input input;
  uint64_t instructions_max = 0;
};

/// A call that changed the device, with its reply.
struct recorded_device_call {
  byte_string argument; ///< Candid
  byte_string reply;    ///< Candid
  bool operator==(const recorded_device_call&) const = default;
};

persist::record_kind kind_of(const actor_input& input) noexcept;

byte_string encode_payload(const actor_input& input, uint64_t instructions_max);
/// Reads the payload of an actor's record (any kind below those of the device). Code is named by
/// `change_input::module` only.
result<recorded_input> decode_payload(const persist::record& from);

byte_string encode_payload(const recorded_device_call& call);
/// Reads the payload of a record of a device kind.
result<recorded_device_call> decode_device_payload(const persist::record& from);

/// Cycles as two halves, low and high.
persist::cycles_amount to_amount(cycles value) noexcept;
cycles to_cycles(persist::cycles_amount value) noexcept;

/// What one execution did, for its digest.
class outcome_digest {
public:
  void add(const call_response& answer);
  void add(const principal& callee, const call_request& call);
  void add(const digest128& state);
  void add_timer(uint64_t at_ns);
  void add_trap(std::string_view error_code);
  /// What a change came to: empty, or the error code of its refusal.
  void add_change(std::string_view error_code);
  void add_certified(byte_view data);
  digest128 value() const noexcept {
    return xxh3_128(out_.data());
  }

private:
  writer out_;
};

} // namespace moxzi::actors
