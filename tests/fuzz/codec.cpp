// The bounded codec: reads values as the input's own script says, writes back what was read, and
// demands the very same bytes.

#include <cstdlib>

#include "base/codec.hpp"

using namespace moxzi;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 8) return 0;
  const byte_view script{reinterpret_cast<const char*>(data), 8};
  const byte_view input{reinterpret_cast<const char*>(data) + 8, size - 8};
  reader in{input};
  writer out;
  for (size_t i = 0; in.ok() && in.left() > 0; ++i) {
    const auto kind = static_cast<uint8_t>(script[i % script.size()]);
    switch (kind % 8) {
      case 0:
        out.u8(in.u8());
        break;
      case 1:
        out.u16(in.u16());
        break;
      case 2:
        out.u32(in.u32());
        break;
      case 3:
        out.u64(in.u64());
        break;
      case 4:
        out.count(in.count());
        break;
      case 5:
        out.f64(in.f64());
        break;
      case 6:
        out.boolean(in.boolean());
        break;
      default:
        out.bytes(in.bytes());
    }
  }
  if (in.finish() && out.data() != input) std::abort();
  if (in.position() > input.size()) std::abort();
  return 0;
}
