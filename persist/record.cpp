#include "persist/record.hpp"

#include "base/codec.hpp"

namespace moxzi::persist {

namespace {

constexpr size_t principal_bytes_max = 29;

bool known(uint8_t kind) {
  switch (static_cast<record_kind>(kind)) {
    case record_kind::install:
    case record_kind::create:
    case record_kind::change:
    case record_kind::request:
    case record_kind::reply:
    case record_kind::reject:
    case record_kind::timer:
    case record_kind::heartbeat:
    case record_kind::low_memory:
    case record_kind::device_params:
    case record_kind::device_optimizer:
    case record_kind::device_run:
    case record_kind::device_write:
    case record_kind::device_delete:
    case record_kind::device_rename:
      return true;
  }
  return false;
}

} // namespace

byte_string encode(const record& value) {
  writer out;
  out.u8(record_version);
  out.u8(static_cast<uint8_t>(value.kind));
  out.bytes(value.actor);
  out.u64(value.number);
  out.u64(value.sequence);
  out.u64(value.time_ns);
  out.u64(value.cycles.low);
  out.u64(value.cycles.high);
  out.bytes(value.payload);
  out.u64(value.digest.low);
  out.u64(value.digest.high);
  out.u64(value.instructions);
  out.u64(xxh3_128(out.data()).low);
  return out.take();
}

result<record> decode_record(byte_view input) {
  reader in{input};
  record value;
  const auto version = in.u8();
  if (in.ok() && version != record_version) {
    return fail(base_errc::malformed, "record of version {}, this build reads {}", version,
                record_version);
  }
  const auto kind = in.u8();
  if (in.ok() && !known(kind)) in.reject(fmt::format("record kind {} is not known", kind));
  value.kind = static_cast<record_kind>(kind);
  value.actor = in.bytes();
  if (value.actor.size() > principal_bytes_max) in.reject("principal is longer than 29 bytes");
  value.number = in.u64();
  value.sequence = in.u64();
  value.time_ns = in.u64();
  value.cycles.low = in.u64();
  value.cycles.high = in.u64();
  value.payload = in.bytes();
  value.digest.low = in.u64();
  value.digest.high = in.u64();
  value.instructions = in.u64();
  const auto covered = input.substr(0, in.position());
  if (in.u64() != xxh3_128(covered).low) in.reject("checksum does not match");
  if (auto done = in.finish(); !done) return done.error();
  return value;
}

} // namespace moxzi::persist
