#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "device/ops/table.hpp"
#include "tests/device/support.hpp"

/// Plans of one instruction with contents of any size, put together by hand.
namespace moxzi::device::testing {

/// One instruction and what it is fed with.
struct kernel_case {
  std::string name;
  plan what;
  std::vector<tensor> inputs;
  double tolerance = 0; ///< of each element, absolute, and relative where it is above 1
};

/// Puts a plan together tensor by tensor; inputs are inputs of the run, outputs are its results.
class case_builder {
public:
  explicit case_builder(std::string name) {
    made_.name = std::move(name);
  }

  uint32_t input(tensor from) {
    const auto number = static_cast<uint32_t>(made_.inputs.size());
    auto& plan = made_.what;
    const auto at = place(memory::input, number, from.type, dims_of(from));
    plan.inputs.push_back({number, at, plan.input_bytes, from.type, false});
    plan.input_bytes += aligned(from.data.size());
    made_.inputs.push_back(std::move(from));
    return at;
  }

  /// Another look at the memory of an input.
  uint32_t view(uint32_t of, int64_t offset, shape dims, shape strides) {
    auto what = made_.what.tensors[of];
    what.offset += static_cast<uint64_t>(offset) * size_of(what.type);
    what.dims = dims;
    what.strides = strides;
    made_.what.tensors.push_back(what);
    return static_cast<uint32_t>(made_.what.tensors.size() - 1);
  }

  uint32_t output(elem type, const shape& dims) {
    auto& plan = made_.what;
    const auto at = place(memory::arena, 0, type, dims);
    plan.tensors[at].offset = plan.arena_bytes;
    plan.arena_bytes += aligned(static_cast<uint64_t>(dims.elements()) * size_of(type));
    plan.results.push_back(at);
    return at;
  }

  kernel_case run(op id, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs,
                  std::vector<attribute> attributes, double tolerance) {
    made_.what.instructions.push_back(
      {id, 0, std::move(inputs), std::move(outputs), std::move(attributes)});
    made_.tolerance = tolerance;
    return std::move(made_);
  }

private:
  static shape dims_of(const tensor& from) {
    shape dims;
    for (const auto size : from.dims) dims.push(size);
    return dims;
  }

  static uint64_t aligned(uint64_t bytes) {
    return (bytes + 63) / 64 * 64;
  }

  uint32_t place(memory where, uint32_t index, elem type, const shape& dims) {
    made_.what.tensors.push_back({where, index, 0, type, dims, row_major_strides(dims)});
    return static_cast<uint32_t>(made_.what.tensors.size() - 1);
  }

  kernel_case made_;
};

/// Makes contents; the same ones for the same seed.
class case_maker {
public:
  explicit case_maker(uint32_t seed) : random_(seed) {
    // nop
  }

  tensor floats(elem type, std::vector<uint32_t> dims) {
    std::normal_distribution<double> normal;
    size_t count = 1;
    for (const auto size : dims) count *= size;
    std::vector<double> wide(count);
    for (auto& value : wide) value = normal(random_);
    if (type == elem::f64) return tensor_of<double>(type, std::move(dims), wide);
    return tensor_of<float>(type, std::move(dims), {wide.begin(), wide.end()});
  }

  /// Indices below `limit`, stored in an integer type that holds them.
  tensor ids(std::vector<uint32_t> dims, uint32_t limit) {
    size_t count = 1;
    for (const auto size : dims) count *= size;
    std::vector<uint32_t> values(count);
    for (auto& value : values) value = below(limit);
    static constexpr elem types[] = {elem::u8,  elem::i8,  elem::u16, elem::i16,
                                     elem::u32, elem::i32, elem::i64};
    const elem type = types[limit > 127 ? 2 + below(5) : below(7)];
    return stored(type, std::move(dims), values);
  }

  uint32_t below(uint32_t limit) {
    return limit == 0 ? 0 : std::uniform_int_distribution<uint32_t>(0, limit - 1)(random_);
  }

private:
  static tensor stored(elem type, std::vector<uint32_t> dims, const std::vector<uint32_t>& from) {
    switch (size_of(type)) {
      case 1:
        return tensor_of<uint8_t>(type, std::move(dims), {from.begin(), from.end()});
      case 2:
        return tensor_of<uint16_t>(type, std::move(dims), {from.begin(), from.end()});
      case 4:
        return tensor_of<uint32_t>(type, std::move(dims), from);
      default:
        return tensor_of<uint64_t>(type, std::move(dims), {from.begin(), from.end()});
    }
  }

  std::mt19937 random_;
};

} // namespace moxzi::device::testing
