#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "device/program.hpp"

/// Tensors from C++ values and back.
namespace moxzi::device {

/// How elements of a C++ type lie in a tensor.
template <class T>
constexpr elem elem_of() noexcept {
  using plain = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<plain, float>)
    return elem::f32;
  else if constexpr (std::is_same_v<plain, double>)
    return elem::f64;
  else if constexpr (std::is_same_v<plain, int64_t>)
    return elem::i64;
  else if constexpr (std::is_same_v<plain, int32_t>)
    return elem::i32;
  else if constexpr (std::is_same_v<plain, uint32_t>)
    return elem::u32;
  else if constexpr (std::is_same_v<plain, int16_t>)
    return elem::i16;
  else if constexpr (std::is_same_v<plain, uint16_t>)
    return elem::u16;
  else if constexpr (std::is_same_v<plain, int8_t>)
    return elem::i8;
  else {
    static_assert(std::is_same_v<plain, uint8_t>, "no element type of tensors");
    return elem::u8;
  }
}

/// Gives memory that lies as a device on the processor wants it.
template <class T>
struct device_allocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};

  device_allocator() = default;
  template <class U>
  device_allocator(const device_allocator<U>&) noexcept {
    // nop
  }
  T* allocate(size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), alignment));
  }
  void deallocate(T* at, size_t) noexcept {
    ::operator delete(at, alignment);
  }
  bool operator==(const device_allocator&) const noexcept = default;
};

/// Values that a run on the processor reads where they lie. It copies other ones first, as a GPU
/// does with all.
template <class T>
using device_vector = std::vector<T, device_allocator<T>>;

/// A tensor that takes the values over, without a copy. That there are as many as `dims` says is
/// checked when the tensor is used.
template <class T, class Allocator = std::allocator<T>>
tensor make_tensor(std::vector<T, Allocator> values, std::vector<uint32_t> dims) {
  auto kept = std::make_shared<const std::vector<T, Allocator>>(std::move(values));
  byte_view bytes(reinterpret_cast<const char*>(kept->data()), kept->size() * sizeof(T));
  return {shared_bytes(std::move(kept), bytes), elem_of<T>(), std::move(dims)};
}

/// A tensor over values that live as long as `owner` does, without a copy.
template <class T>
tensor make_tensor(std::shared_ptr<const void> owner, std::span<const T> values,
                   std::vector<uint32_t> dims) {
  byte_view bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return {shared_bytes(std::move(owner), bytes), elem_of<T>(), std::move(dims)};
}

/// The elements where they lie. `T` must be the C++ type of the tensor's elements.
template <class T>
std::span<const T> elements(const tensor& of) {
  moxzi_assert(of.type == elem_of<T>(), "a tensor of {}", name_of(of.type));
  return {reinterpret_cast<const T*>(of.data.data()), of.data.size() / sizeof(T)};
}

} // namespace moxzi::device
