#include "device/simplify.hpp"

#include <unordered_map>

namespace moxzi::device {

std::vector<reg> common_registers(const typed_program& code) {
  std::vector<reg> same(code.code.size());
  std::unordered_map<byte_string, reg> known;
  for (size_t i = 0; i < same.size(); ++i) {
    same[i] = static_cast<reg>(i);
    auto what = code.code[i];
    for (auto& x : what.operands)
      if (x != no_register) x = same[x];
    if (!find_row(what.id)->pure) continue;
    writer key;
    encode(key, {what});
    same[i] = known.try_emplace(key.take(), static_cast<reg>(i)).first->second;
  }
  return same;
}

} // namespace moxzi::device
