// Payloads of actors' records and of device calls: what decodes encodes to the same bytes. The
// first byte is the record's kind.

#include <cstdlib>

#include "actors/record_payload.hpp"

using namespace moxzi;
using namespace moxzi::actors;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  persist::record record;
  record.kind = static_cast<persist::record_kind>(data[0]);
  record.actor = "\x01\x02";
  record.payload.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (const auto input = decode_payload(record)) {
    if (kind_of(input->input) != record.kind) std::abort();
    if (encode_payload(input->input, input->instructions_max) != record.payload) std::abort();
  }
  if (const auto call = decode_device_payload(record)) {
    if (encode_payload(*call) != record.payload) std::abort();
  }
  return 0;
}
