#pragma once

#include <limits>
#include <string_view>
#include <type_traits>

#include "device/host_executable.hpp"

/// Indices in data, stored in any integer type.
namespace moxzi::device::torch {

/// Calls `work` with the tensor's elements as `const T*` of its integer type.
template <class Work>
auto with_integers(const tensor_view& ids, const Work& work) {
  switch (ids.type) {
    case elem::u8:
    case elem::boolean:
      return work(ids.as<const uint8_t>());
    case elem::i8:
      return work(ids.as<const int8_t>());
    case elem::u16:
      return work(ids.as<const uint16_t>());
    case elem::i16:
      return work(ids.as<const int16_t>());
    case elem::u32:
      return work(ids.as<const uint32_t>());
    case elem::i32:
      return work(ids.as<const int32_t>());
    default:
      return work(ids.as<const int64_t>());
  }
}

/// True if every index is in [0, limit); else the first that is not is named in `why`.
inline bool check_indices(const tensor_view& ids, std::string_view name, int64_t limit,
                          fault& why) {
  return with_integers(ids, [&ids, name, limit, &why](const auto* values) {
    using T = std::remove_cvref_t<decltype(*values)>;
    if constexpr (sizeof(T) < 8)
      if (std::is_unsigned_v<T> && limit > static_cast<int64_t>(std::numeric_limits<T>::max()))
        return true;
    for (int64_t i = 0; i < ids.elements; i++) {
      const auto value = static_cast<int64_t>(values[i]);
      if (value < 0 || value >= limit) return index_fault(why, name, value, limit);
    }
    return true;
  });
}

} // namespace moxzi::device::torch
