#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace moxzi {

/// Who someone is: at most 29 bytes. The management canister `aaaaa-aa` is the empty one.
class principal {
public:
  static constexpr size_t bytes_max = 29;

  /// The management canister.
  principal() = default;
  /// Fails if `bytes` is longer than 29.
  static result<principal> from_bytes(byte_view bytes);
  /// Reads the exact canonical text: base32 of CRC-32 (big-endian) and the bytes, lower case, a
  /// dash after every five characters (Internet Computer interface specification, "Textual
  /// representation of principals").
  static result<principal> from_text(std::string_view text);
  /// The principal of the actor called `name`, the same on every node: the first 8 bytes of
  /// SHA-256("moxzi-actor" ‖ 0x00 ‖ name), then 01 01.
  static principal of_actor(std::string_view name);
  /// The principal of the `counter`-th actor that node `node` made at run time: the node's number
  /// (2 bytes), the counter (6 bytes), both big-endian, then 02 01.
  static principal of_made_actor(uint16_t node, uint64_t counter);
  /// Nobody in particular: the single byte 04.
  static principal anonymous();

  byte_view bytes() const noexcept {
    return bytes_;
  }
  std::string to_text() const;
  bool is_management() const noexcept {
    return bytes_.empty();
  }

  auto operator<=>(const principal&) const = default;

private:
  byte_string bytes_;
};

} // namespace moxzi
