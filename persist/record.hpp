#pragma once

#include <cstdint>

#include "base/bytes.hpp"
#include "base/digest.hpp"
#include "base/result.hpp"

namespace moxzi::persist {

/// What a record is about. The numbers are stored: append only, never reuse.
enum class record_kind : uint8_t {
  // an actor's life
  install = 1, ///< new code: install, reinstall, upgrade
  create = 2,
  change = 3, ///< settings, start, stop, snapshots, cycles and what else is asked of it
  // an actor's inputs
  request = 10,
  reply = 11,
  reject = 12,
  timer = 13,
  heartbeat = 14,
  low_memory = 15,
  // the device's calls that change something
  device_params = 40,
  device_optimizer = 41,
  device_run = 42,
  device_write = 43,
  device_delete = 44,
  device_rename = 45,
};

/// Cycles as 128 bits, like the Internet Computer's.
struct cycles_amount {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const cycles_amount&) const = default;
};

/// One thing that happened to one actor or to one owner's space on the device.
struct record {
  record_kind kind = record_kind::request;
  byte_string actor;         ///< principal, at most 29 bytes
  uint64_t number = 0;       ///< this actor's n-th record, from 1
  uint64_t sequence = 0;     ///< place in the node's one order, given by the journal
  uint64_t time_ns = 0;      ///< the time that the execution saw
  cycles_amount cycles;      ///< cycles taken in or charged
  byte_string payload;       ///< the input whole (codec of the folder that wrote it)
  digest128 digest;          ///< of reply, outgoing calls, globals, changed pages
  uint64_t instructions = 0; ///< beside the digest, not part of it
  bool operator==(const record&) const = default;
};

/// Format version written by `encode`; `decode` refuses others by number.
inline constexpr uint8_t record_version = 1;

/// Version, fields, then XXH3-64 of all before it.
byte_string encode(const record& value);

/// Refuses a cut, damaged, over-long or unknown record; never allocates above the input's size.
result<record> decode_record(byte_view input);

} // namespace moxzi::persist
