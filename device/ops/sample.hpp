#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/errors.hpp"
#include "device/program.hpp"
#include "device/shape.hpp"

/// Random calls of a row, right and wrong, for the tests that walk the table.
namespace moxzi::device {

/// What the elements of a sampled operand are.
enum class contents : uint8_t {
  any,      ///< normal; integers from -4 to 4
  positive, ///< from 0.2 to 3; integers from 1 to 8
  unit,     ///< from 0.05 to 0.95
  distinct, ///< no two within 0.01 of each other, in random order
  indices,  ///< from 0 to `limit`, which is excluded
};

/// One operand of a sampled call.
struct sample_operand {
  dtype type = dtype::f32;
  shape dims;
  contents what = contents::any;
  int64_t limit = 0; ///< of `indices`
};

/// A call of a row. An absent optional operand is empty.
struct sample {
  std::vector<std::optional<sample_operand>> operands;
  std::vector<attribute> attributes;
};

/// A call that is refused, and why.
struct wrong_sample {
  sample call;
  device_errc why{};
};

/// Where random calls come from; the same ones for the same seed.
class sampler {
public:
  /// `type` is that of the main operands.
  sampler(uint64_t seed, dtype type) : state_(seed), type_(type) {
    // nop
  }
  dtype type() const noexcept {
    return type_;
  }
  /// From 0 to `limit`, which is excluded; 0 if that is 0.
  int64_t below(int64_t limit) noexcept;
  bool coin() noexcept {
    return below(2) == 1;
  }
  /// A size for a dimension: 0 and 1 among them, seldom above 7.
  int64_t size() noexcept;
  /// As `size`, but never 0.
  int64_t some() noexcept;
  /// Sizes of `least` to `most` dimensions.
  shape dims(size_t least, size_t most) noexcept;
  /// As `dims`, but none is 0.
  shape some_dims(size_t least, size_t most) noexcept;
  /// A shape that broadcasts to `dims`: some sizes are 1, some leading dimensions are not there.
  shape broadcast_to(const shape& dims) noexcept;

  /// A main operand.
  sample_operand tensor(const shape& dims, contents what = contents::any) const {
    return {type_, dims, what};
  }
  sample_operand indices(const shape& dims, int64_t limit) const {
    return {dtype::i64, dims, contents::indices, limit};
  }
  sample_operand mask(const shape& dims) const {
    return {dtype::boolean, dims, contents::indices, 2};
  }

private:
  uint64_t state_;
  dtype type_;
};

} // namespace moxzi::device
