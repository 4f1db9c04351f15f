#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace moxzi::device {

/// The type a register computes in. The order is that of `Dtype` in the interface.
enum class dtype : uint8_t { f32, f16, bf16, f64, i64, i32, u8, boolean };

/// How elements lie in memory, little-endian. The order is that of `Elem` in the interface.
enum class elem : uint8_t { u8, i8, u16, i16, u32, i32, i64, f16, bf16, f32, f64, boolean };

/// Some of the types.
class dtype_set {
public:
  constexpr dtype_set() = default;
  constexpr dtype_set(std::initializer_list<dtype> types) {
    for (auto type : types) bits_ |= bit(type);
  }
  constexpr bool contains(dtype type) const noexcept {
    return (bits_ & bit(type)) != 0;
  }
  constexpr dtype_set operator|(dtype_set other) const noexcept {
    other.bits_ |= bits_;
    return other;
  }

private:
  static constexpr uint32_t bit(dtype type) noexcept {
    return uint32_t{1} << static_cast<uint32_t>(type);
  }
  uint32_t bits_ = 0;
};
inline constexpr dtype_set float_types{dtype::f32, dtype::f16, dtype::bf16, dtype::f64};
inline constexpr dtype_set integer_types{dtype::i64, dtype::i32, dtype::u8};
inline constexpr dtype_set number_types = float_types | integer_types;
inline constexpr dtype_set boolean_types{dtype::boolean};
inline constexpr dtype_set all_types = number_types | boolean_types;
inline constexpr size_t dtype_count = 8;

/// Bytes of one element.
uint32_t size_of(elem type) noexcept;
/// The name in the interface (`f32`, `bool`).
std::string_view name_of(elem type) noexcept;
std::string_view name_of(dtype type) noexcept;
/// The type named so, if there is one.
std::optional<elem> elem_named(std::string_view name) noexcept;
std::optional<dtype> dtype_named(std::string_view name) noexcept;
bool is_float(dtype type) noexcept;
bool is_integer(dtype type) noexcept;
bool is_float(elem type) noexcept;
/// What elements of this type compute in: integers in i64, all floats in f32.
dtype computed_in(elem type) noexcept;
/// How a register of this type is stored when it is computed and not sent.
elem stored_as(dtype type) noexcept;

inline constexpr size_t rank_max = 8;

/// Sizes of up to eight dimensions; no allocation. No dimensions = one element.
class shape {
public:
  shape() = default;
  shape(std::initializer_list<int64_t> sizes);
  /// At most `rank_max` sizes (asserted).
  explicit shape(std::span<const int64_t> sizes);

  size_t rank() const noexcept {
    return rank_;
  }
  int64_t operator[](size_t dim) const noexcept {
    return sizes_[dim];
  }
  int64_t& operator[](size_t dim) noexcept {
    return sizes_[dim];
  }
  /// The size of the last dimension but `back`.
  int64_t last(size_t back = 0) const noexcept {
    return sizes_[rank_ - 1 - back];
  }
  std::span<const int64_t> sizes() const noexcept {
    return {sizes_.data(), rank_};
  }
  /// Adds a dimension at the end; false if there are `rank_max` already.
  bool push(int64_t size) noexcept;
  /// Product of the sizes. Exact for every shape that `check_shape` let through.
  int64_t elements() const noexcept;
  bool operator==(const shape& other) const noexcept;

private:
  std::array<int64_t, rank_max> sizes_{};
  uint8_t rank_ = 0;
};

/// `[1, 64, 256]`.
std::string to_string(const shape& dims);
/// The strides, in elements, of a row-major tensor without gaps.
shape row_major_strides(const shape& dims) noexcept;
/// True if such strides are of a row-major tensor without gaps (the stride of a dimension of size 1
/// does not matter), or of one without elements.
bool is_row_major(const shape& dims, const shape& strides) noexcept;

} // namespace moxzi::device
