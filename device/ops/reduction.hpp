#pragma once

#include "device/ops/pointwise_rows.hpp"

/// What rows that reduce dimensions have in common: x, `dims` (absent = all) and `keep`.
namespace moxzi::device {

/// Which dimensions of a tensor of this rank are reduced, one bit each. The entries were checked.
uint32_t reduced_dims(const attribute& dims, size_t rank) noexcept;
/// How many elements come together in one of the result's.
int64_t reduced_count(const shape& dims, uint32_t reduced) noexcept;
/// The shape with those dimensions of size 1.
shape kept_shape(const shape& dims, uint32_t reduced) noexcept;

/// The type with these dimensions reduced. `dims` and `keep` are the attributes of these numbers.
result<register_type> infer_reduced(const rule_context& c, const register_type& x, size_t dims,
                                    size_t keep);
/// Fails if a reduced dimension has no places, for what has no value then.
result<void> want_some(const rule_context& c, std::string_view name, size_t dims);

/// Along what stays; along what is reduced too, joined so, unless `none`.
std::vector<split_axis> reduced_axes(const typed_call& call, size_t dims, size_t keep, join how);
cost reduction_cost(const typed_call& call);

/// A reduction in gradients: x's shape with the reduced dimensions of size 1, and registers in it.
class reduction {
public:
  reduction(gradient_context& to, size_t dims) : to_(to), x_(to.type_of(to.operand(0))) {
    reduced_ = reduced_dims(to.attr(dims), x_.dims.rank());
  }
  /// The register, of the result's shape, so that it broadcasts to x.
  reg kept(reg from) {
    return to_.emit(op::reshape, {from}, {sizes_of(kept_shape(x_.dims, reduced_))});
  }
  /// Such a register in x's shape.
  reg spread(reg from) {
    return to_.emit(op::expand, {from}, {sizes_of(x_.dims)});
  }
  /// The sum over what is reduced, broadcasting to x.
  reg sum(reg from) {
    return to_.emit(op::sum, {from}, {list_of(), true});
  }
  reg mean(reg from) {
    return to_.emit(op::mean, {from}, {list_of(), true});
  }
  int64_t count() const noexcept {
    return reduced_count(x_.dims, reduced_);
  }
  uint32_t dims() const noexcept {
    return reduced_;
  }

private:
  std::vector<uint32_t> list_of() const {
    std::vector<uint32_t> out;
    for (uint32_t i = 0; i < x_.dims.rank(); ++i)
      if (reduced_ >> i & 1) out.push_back(i);
    return out;
  }

  gradient_context& to_;
  register_type x_;
  uint32_t reduced_ = 0;
};

// -- samples -------------------------------------------------------------------

/// Some of the dimensions, all of them, or none given; whether to keep them.
std::vector<attribute> sample_over(sampler& random, size_t rank);
/// x of `least` or more places in each dimension.
sample over_example(sampler& random, int64_t least, contents what);

} // namespace moxzi::device
