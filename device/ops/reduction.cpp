#include "device/ops/reduction.hpp"

#include <algorithm>
#include <cmath>

namespace moxzi::device {

uint32_t reduced_dims(const attribute& dims, size_t rank) noexcept {
  auto given = std::get_if<std::vector<uint32_t>>(&dims);
  if (!given) return (uint32_t{1} << rank) - 1;
  uint32_t out = 0;
  for (auto dim : *given) out |= uint32_t{1} << dim;
  return out;
}

int64_t reduced_count(const shape& dims, uint32_t reduced) noexcept {
  int64_t count = 1;
  for (size_t i = 0; i < dims.rank(); ++i)
    if (reduced >> i & 1) count *= dims[i];
  return count;
}

shape kept_shape(const shape& dims, uint32_t reduced) noexcept {
  auto out = dims;
  for (size_t i = 0; i < dims.rank(); ++i)
    if (reduced >> i & 1) out[i] = 1;
  return out;
}

namespace {

bool keeps(const attribute& keep) {
  auto given = std::get_if<bool>(&keep);
  return given && *given;
}

} // namespace

result<register_type> infer_reduced(const rule_context& c, const register_type& x, size_t dims,
                                    size_t keep) {
  if (auto given = std::get_if<std::vector<uint32_t>>(&c.attr(dims))) {
    uint32_t seen = 0;
    for (auto dim : *given) {
      if (auto ok = want_dim(dim, "x", x); !ok) return ok.error();
      if (seen >> dim & 1)
        return complain(device_errc::dim_range, "dim {} is there twice in [{}]", dim,
                        fmt::join(*given, ", "));
      seen |= uint32_t{1} << dim;
    }
  }
  auto reduced = reduced_dims(c.attr(dims), x.dims.rank());
  register_type out{x.type, stored_as(x.type), {}, {}};
  for (size_t i = 0; i < x.dims.rank(); ++i) {
    bool gone = reduced >> i & 1;
    if (gone && !keeps(c.attr(keep))) continue;
    out.dims.push(gone ? 1 : x.dims[i]);
    out.factors.push_back(gone ? c.fresh_axis(1) : x.factors[i]);
  }
  return out;
}

result<void> want_some(const rule_context& c, std::string_view name, size_t dims) {
  auto& x = c.operand(0).dims;
  auto reduced = reduced_dims(c.attr(dims), x.rank());
  for (size_t i = 0; i < x.rank(); ++i)
    if ((reduced >> i & 1) && x[i] == 0)
      return complain(device_errc::shape_mismatch,
                      "dim {} of x {} has no places, and there is no {} of nothing", i,
                      to_string(x), name);
  return {};
}

std::vector<split_axis> reduced_axes(const typed_call& call, size_t dims, size_t keep, join how) {
  std::vector<split_axis> axes;
  auto& x = call.operands[0]->dims;
  auto reduced = reduced_dims(call.attributes[dims], x.rank());
  int place = 0;
  for (size_t i = 0; i < x.rank(); ++i) {
    bool gone = reduced >> i & 1;
    if (!gone)
      axes.push_back({{static_cast<int>(i)}, place, join::none});
    else if (how != join::none)
      axes.push_back({{static_cast<int>(i)}, -1, how});
    if (!gone || keeps(call.attributes[keep])) ++place;
  }
  return axes;
}

cost reduction_cost(const typed_call& call) {
  auto sum = traffic(call, 0);
  sum.flops = static_cast<double>(call.operands[0]->dims.elements());
  return sum;
}

std::vector<attribute> sample_over(sampler& random, size_t rank) {
  std::vector<attribute> out{{}, {}};
  if (random.below(4) > 0) {
    std::vector<uint32_t> dims;
    for (uint32_t i = 0; i < rank; ++i)
      if (random.coin()) dims.push_back(i);
    if (dims.empty() && rank > 0)
      dims.push_back(static_cast<uint32_t>(random.below(static_cast<int64_t>(rank))));
    if (!dims.empty()) out[0] = dims;
  }
  if (random.coin()) out[1] = random.coin();
  return out;
}

sample over_example(sampler& random, int64_t least, contents what) {
  auto dims = random.dims(0, 4);
  auto over = sample_over(random, dims.rank());
  auto reduced = reduced_dims(over[0], dims.rank());
  for (size_t i = 0; i < dims.rank(); ++i)
    if (reduced >> i & 1) dims[i] = std::max(dims[i], least);
  return {{random.tensor(dims, what)}, over};
}

} // namespace moxzi::device
