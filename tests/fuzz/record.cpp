// Journal records: what decodes encodes to the same bytes. The checksum is put right first, so that
// damage reaches the fields behind it.

#include <cstdlib>
#include <cstring>

#include "base/digest.hpp"
#include "persist/record.hpp"

using namespace moxzi;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  byte_string input{reinterpret_cast<const char*>(data), size};
  if (size > 8) {
    const auto sum = xxh3_128(byte_view{input}.substr(0, size - 8)).low;
    std::memcpy(input.data() + size - 8, &sum, 8);
  }
  const auto decoded = persist::decode_record(input);
  if (decoded && persist::encode(*decoded) != input) std::abort();
  return 0;
}
