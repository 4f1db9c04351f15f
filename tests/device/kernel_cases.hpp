#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "device/ops/table.hpp"
#include "tests/device/support.hpp"

/// Plans of one instruction with random contents, for every kernel of the table: what a backend
/// makes of them is compared with what the reference makes of them.
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
    const auto at = place(from.type, dims_of(from));
    made_.what.inputs.push_back({number, at, from.type, false});
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
    const auto at = place(type, dims);
    made_.what.results.push_back(at);
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

  uint32_t place(elem type, const shape& dims) {
    auto& plan = made_.what;
    plan.tensors.push_back(
      {memory::arena, 0, plan.arena_bytes, type, dims, row_major_strides(dims)});
    const auto bytes = static_cast<uint64_t>(dims.elements()) * size_of(type);
    plan.arena_bytes += (bytes + 63) / 64 * 64;
    return static_cast<uint32_t>(plan.tensors.size() - 1);
  }

  kernel_case made_;
};

/// Makes cases; the same ones for the same seed.
class case_maker {
public:
  explicit case_maker(uint32_t seed) : random_(seed) {
    // nop
  }

  /// A case of this row's kernel, in f32 or f64; nothing if there is none for this row.
  std::vector<kernel_case> make(op id, elem type) {
    const double tolerance = type == elem::f64 ? 1e-11 : 2e-5;
    const std::string name = std::string(find_row(id)->name) + " " + std::string(name_of(type));
    switch (id) {
      case op::linear:
        return linear(name, type, tolerance);
      case op::linear_input_backward:
      case op::linear_weight_backward:
      case op::linear_bias_backward:
        return linear_backward(name, id, type, tolerance);
      case op::embedding:
      case op::embedding_backward:
        return embedding(name, id, type, tolerance);
      case op::cross_entropy:
      case op::cross_entropy_train:
        return cross_entropy(name, id, type, tolerance);
      case op::contiguous:
        return contiguous(name, type);
      case op::narrow_backward:
        return narrow_backward(name, type);
      case op::accumulate:
      case op::scale_by:
      case op::ones_like:
        return pointwise(name, id, type, tolerance);
      default:
        return {};
    }
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

  uint32_t size() {
    static constexpr uint32_t sizes[] = {0, 1, 1, 2, 3, 7, 16, 17, 33, 64, 100};
    return sizes[below(std::size(sizes))];
  }

private:
  using cases = std::vector<kernel_case>;

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

  cases linear(const std::string& name, elem type, double tolerance) {
    const uint32_t a = size(), b = size(), in = size(), out = size();
    const bool bias = below(2) == 1;
    case_builder build(name);
    const auto x = build.input(floats(type, {a, b, in}));
    const auto w = build.input(floats(type, {out, in}));
    const auto added = bias ? build.input(floats(type, {out})) : no_tensor;
    const auto y = build.output(type, {a, b, out});
    return {build.run(op::linear, {x, w, added}, {y}, {}, tolerance * (1 + in))};
  }

  cases linear_backward(const std::string& name, op id, elem type, double tolerance) {
    const uint32_t a = size(), b = size(), in = size(), out = size();
    case_builder build(name);
    const auto g = build.input(floats(type, {a, b, out}));
    if (id == op::linear_bias_backward)
      return {build.run(id, {g}, {build.output(type, {out})}, {}, tolerance * (1 + a * b))};
    if (id == op::linear_weight_backward) {
      const auto x = build.input(floats(type, {a, b, in}));
      const auto to = build.output(type, {out, in});
      return {build.run(id, {g, x}, {to}, {}, tolerance * (1 + a * b))};
    }
    const auto w = build.input(floats(type, {out, in}));
    const auto to = build.output(type, {a, b, in});
    return {build.run(id, {g, w}, {to}, {}, tolerance * (1 + out))};
  }

  cases embedding(const std::string& name, op id, elem type, double tolerance) {
    const uint32_t rows = below(4) == 0 ? 300 : size(), columns = size(), b = size();
    const uint32_t a = rows == 0 ? 0 : size();
    case_builder build(name);
    if (id == op::embedding) {
      const auto table = build.input(floats(type, {rows, columns}));
      const auto at = build.input(ids({a, b}, rows));
      return {build.run(id, {table, at}, {build.output(type, {a, b, columns})}, {}, 0)};
    }
    const auto g = build.input(floats(type, {a, b, columns}));
    const auto at = build.input(ids({a, b}, rows));
    const auto to = build.output(type, {rows, columns});
    return {build.run(id, {g, at}, {to}, {int64_t{rows}}, tolerance * (1 + a * b))};
  }

  cases cross_entropy(const std::string& name, op id, elem type, double tolerance) {
    const uint32_t classes = below(4) == 0 ? 256 : size();
    const uint32_t rows = classes == 0 ? 0 : below(4) == 0 ? 150 : size();
    case_builder build(name);
    const auto logits = build.input(floats(type, {rows, classes}));
    const auto targets = build.input(ids({rows}, classes));
    std::vector<uint32_t> outputs{build.output(type, {})};
    if (id == op::cross_entropy_train) outputs.push_back(build.output(type, {rows, classes}));
    return {build.run(id, {logits, targets}, std::move(outputs), {}, tolerance)};
  }

  /// A narrowed part of a tensor, with its last two dimensions exchanged every other time.
  cases contiguous(const std::string& name, elem type) {
    const uint32_t a = 1 + size(), b = 1 + size(), c = 1 + size();
    const uint32_t start = below(b), len = below(b - start + 1);
    case_builder build(name);
    const auto x = build.input(floats(type, {a, b, c}));
    shape dims{a, len, c}, strides{b * c, c, 1};
    if (below(2) == 1) {
      dims = {a, c, len};
      strides = {b * c, 1, c};
    }
    const auto part = build.view(x, int64_t{start} * c, dims, strides);
    return {build.run(op::contiguous, {part}, {build.output(type, dims)}, {}, 0)};
  }

  cases narrow_backward(const std::string& name, elem type) {
    std::vector<uint32_t> dims{size(), size(), size()};
    const uint32_t dim = below(3), whole = dims[dim], start = below(whole + 1);
    const shape to{dims[0], dims[1], dims[2]};
    dims[dim] = below(whole - start + 1);
    case_builder build(name);
    const auto g = build.input(floats(type, dims));
    return {build.run(op::narrow_backward, {g}, {build.output(type, to)},
                      {int64_t{dim}, int64_t{start}, int64_t{whole}}, 0)};
  }

  cases pointwise(const std::string& name, op id, elem type, double tolerance) {
    const uint32_t a = size(), b = size();
    case_builder build(name);
    const auto x = build.input(floats(type, {a, b}));
    std::vector<uint32_t> inputs{x};
    if (id == op::accumulate) inputs.push_back(build.input(floats(type, {a, b})));
    if (id == op::scale_by) inputs.push_back(build.input(floats(type, {1})));
    return {build.run(id, std::move(inputs), {build.output(type, {a, b})}, {}, tolerance)};
  }

  std::mt19937 random_;
};

} // namespace moxzi::device::testing
