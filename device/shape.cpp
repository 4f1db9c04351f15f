#include "device/shape.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/assert.hpp"

namespace moxzi::device {

namespace {

struct elem_facts {
  std::string_view name;
  uint32_t bytes;
};

constexpr elem_facts elems[] = {{"u8", 1},   {"i8", 1},  {"u16", 2}, {"i16", 2},
                                {"u32", 4},  {"i32", 4}, {"i64", 8}, {"f16", 2},
                                {"bf16", 2}, {"f32", 4}, {"f64", 8}, {"bool", 1}};
constexpr std::string_view dtypes[] = {"f32", "f16", "bf16", "f64", "i64", "i32", "u8", "bool"};

} // namespace

uint32_t size_of(elem type) noexcept {
  return elems[static_cast<size_t>(type)].bytes;
}

std::string_view name_of(elem type) noexcept {
  return elems[static_cast<size_t>(type)].name;
}

std::string_view name_of(dtype type) noexcept {
  return dtypes[static_cast<size_t>(type)];
}

std::optional<elem> elem_named(std::string_view name) noexcept {
  for (size_t i = 0; i < std::size(elems); ++i)
    if (elems[i].name == name) return static_cast<elem>(i);
  return std::nullopt;
}

std::optional<dtype> dtype_named(std::string_view name) noexcept {
  for (size_t i = 0; i < std::size(dtypes); ++i)
    if (dtypes[i] == name) return static_cast<dtype>(i);
  return std::nullopt;
}

bool is_float(dtype type) noexcept {
  return type == dtype::f32 || type == dtype::f16 || type == dtype::bf16 || type == dtype::f64;
}

bool is_integer(dtype type) noexcept {
  return type == dtype::i64 || type == dtype::i32 || type == dtype::u8;
}

bool is_float(elem type) noexcept {
  return type == elem::f16 || type == elem::bf16 || type == elem::f32 || type == elem::f64;
}

dtype computed_in(elem type) noexcept {
  if (is_float(type)) return dtype::f32;
  return type == elem::boolean ? dtype::boolean : dtype::i64;
}

elem stored_as(dtype type) noexcept {
  switch (type) {
    case dtype::f32:
      return elem::f32;
    case dtype::f16:
      return elem::f16;
    case dtype::bf16:
      return elem::bf16;
    case dtype::f64:
      return elem::f64;
    case dtype::i64:
      return elem::i64;
    case dtype::i32:
      return elem::i32;
    case dtype::u8:
      return elem::u8;
    case dtype::boolean:
      return elem::boolean;
  }
  return elem::f32;
}

shape::shape(std::initializer_list<int64_t> sizes)
    : shape(std::span<const int64_t>(sizes.begin(), sizes.size())) {
  // nop
}

shape::shape(std::span<const int64_t> sizes) {
  moxzi_assert(sizes.size() <= rank_max, "rank={}", sizes.size());
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  rank_ = static_cast<uint8_t>(sizes.size());
}

bool shape::push(int64_t size) noexcept {
  if (rank_ == rank_max) return false;
  sizes_[rank_++] = size;
  return true;
}

int64_t shape::elements() const noexcept {
  int64_t n = 1;
  for (auto size : sizes()) n *= size;
  return n;
}

bool shape::operator==(const shape& other) const noexcept {
  return std::ranges::equal(sizes(), other.sizes());
}

std::string to_string(const shape& dims) {
  return fmt::format("[{}]", fmt::join(dims.sizes(), ", "));
}

shape row_major_strides(const shape& dims) noexcept {
  shape strides = dims;
  int64_t step = 1;
  for (size_t i = dims.rank(); i-- > 0;) {
    strides[i] = step;
    step *= dims[i];
  }
  return strides;
}

bool is_row_major(const shape& dims, const shape& strides) noexcept {
  int64_t step = 1;
  for (size_t i = dims.rank(); i-- > 0;) {
    if (dims[i] != 1 && strides[i] != step) return dims.elements() == 0;
    step *= dims[i];
  }
  return true;
}

} // namespace moxzi::device
