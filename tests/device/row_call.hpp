#pragma once

#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "device/gradient.hpp"
#include "device/half.hpp"
#include "device/ops/table.hpp"
#include "device/plan.hpp"
#include "tests/device/support.hpp"

/// One row, called on random operands by itself: what the tests that walk the table are made of.
namespace moxzi::device::testing {

/// An operand as it goes in, and the register that the row reads.
struct row_operand {
  tensor contents;       ///< f32, f64, i64 or bool
  dtype type{};          ///< what it is cast to
  std::string parameter; ///< floats come as a parameter of this name; "" = as an input
  reg at = no_register;
};

/// A program of one row. The last register is its result.
struct row_call {
  const row* how = nullptr;
  sample what;
  std::vector<row_operand> operands; ///< absent ones have no register
  typed_program code;
  reg result = no_register;
  reg second = no_register; ///< its second result, where it has one

  /// The call on operands as they are in a program that doesn't train.
  operation operation_on(const std::vector<row_operand>& from) const {
    operation out{how->id, {}, what.attributes};
    for (auto& operand : from) out.operands.push_back(operand.at);
    if (how->settle) how->settle(out, false);
    return out;
  }

  /// `linear f32 ([2, 3], [4, 3], -)`, for messages.
  std::string text() const {
    std::string out(how->name);
    for (auto& operand : what.operands)
      out +=
        operand ? fmt::format(" {}{}", name_of(operand->type), to_string(operand->dims)) : " -";
    return out;
  }
};

inline std::vector<uint32_t> sizes_of(const shape& dims) {
  return {dims.sizes().begin(), dims.sizes().end()};
}

/// Random elements of a sampled operand, as f32, f64, i64 or bool.
inline tensor contents_of(const sample_operand& what, std::mt19937& random) {
  auto n = static_cast<size_t>(what.dims.elements());
  std::vector<double> values(n);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<size_t> order(n);
  for (size_t i = 0; i < n; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  bool whole = !is_float(what.type);
  for (size_t i = 0; i < n; ++i) switch (what.what) {
      case contents::any:
        values[i] = whole ? std::floor(unit(random) * 9) - 4 : normal(random);
        break;
      case contents::positive:
        values[i] = whole ? 1 + std::floor(unit(random) * 8) : 0.2 + 2.8 * unit(random);
        break;
      case contents::unit:
        values[i] = whole ? std::floor(unit(random) * 2) : 0.05 + 0.9 * unit(random);
        break;
      case contents::distinct:
        values[i] = whole ? static_cast<double>(order[i])
                          : (static_cast<double>(order[i]) - static_cast<double>(n) / 2) / 16;
        break;
      case contents::indices:
        values[i] = std::floor(unit(random) * static_cast<double>(what.limit));
        break;
    }
  // Narrow floats hold what they can; unsigned and boolean elements what they have room for.
  for (auto& value : values) {
    if (what.type == dtype::boolean) value = value > 0;
    if (what.type == dtype::u8) value = std::abs(value);
    if (what.type == dtype::bf16) value = std::round(value * 16) / 16;
  }
  if (what.type == dtype::f64) return tensor_of<double>(elem::f64, sizes_of(what.dims), values);
  if (is_float(what.type))
    return tensor_of<float>(elem::f32, sizes_of(what.dims), {values.begin(), values.end()});
  if (what.type == dtype::boolean)
    return tensor_of<uint8_t>(elem::boolean, sizes_of(what.dims), {values.begin(), values.end()});
  // Indices come in any type that holds them.
  if (what.what == contents::indices && what.type == dtype::i64 && what.limit < 128)
    switch (random() % 4) {
      case 0:
        return tensor_of<uint8_t>(elem::u8, sizes_of(what.dims), {values.begin(), values.end()});
      case 1:
        return tensor_of<int16_t>(elem::i16, sizes_of(what.dims), {values.begin(), values.end()});
      case 2:
        return tensor_of<uint32_t>(elem::u32, sizes_of(what.dims), {values.begin(), values.end()});
      default:
        break;
    }
  return tensor_of<int64_t>(elem::i64, sizes_of(what.dims), {values.begin(), values.end()});
}

/// Puts operands into a program, each cast to its type.
inline result<typed_program> load(std::vector<row_operand>& operands) {
  program code;
  environment where;
  for (auto& operand : operands) {
    if (operand.contents.data.empty() && operand.parameter.empty()
        && operand.contents.dims == std::vector<uint32_t>{UINT32_MAX})
      continue; // absent
    shape dims;
    for (auto size : operand.contents.dims) dims.push(size);
    auto sent = operand.contents.type;
    if (operand.parameter.empty()) {
      where.inputs.push_back({sent, dims});
      code.push_back(input(static_cast<int64_t>(where.inputs.size()) - 1));
    } else {
      auto type = sent == elem::f64 ? dtype::f64 : dtype::f32;
      where.parameters.emplace(operand.parameter, register_type{type, sent, dims, {}});
      code.push_back(param(operand.parameter));
    }
    operand.at = static_cast<reg>(code.size() - 1);
    bool as_sent = operand.type == dtype::f32 || operand.type == dtype::f64
                   || operand.type == dtype::i64 || operand.type == dtype::boolean;
    if (!as_sent) {
      code.push_back({op::cast, {operand.at}, {static_cast<int64_t>(operand.type)}});
      operand.at = static_cast<reg>(code.size() - 1);
    }
  }
  return check(code, std::move(where));
}

/// The call's operands with random contents.
inline std::vector<row_operand> operands_of(const sample& what, std::mt19937& random) {
  std::vector<row_operand> out;
  for (auto& operand : what.operands) {
    row_operand one;
    if (!operand) {
      one.contents.dims = {UINT32_MAX};
    } else {
      one.contents = contents_of(*operand, random);
      one.type = operand->type;
      if (is_float(operand->type)) one.parameter = fmt::format("p{}", out.size());
    }
    out.push_back(std::move(one));
  }
  return out;
}

/// Makes the program of a call, or says why the row refuses it.
inline result<row_call> make_call(const row& how, sample what, std::vector<row_operand> operands) {
  row_call out{&how, std::move(what), std::move(operands)};
  auto loaded = load(out.operands);
  if (!loaded) return loaded.error();
  out.code = std::move(*loaded);
  auto call = out.operation_on(out.operands);
  auto made = append(out.code, std::move(call), 0);
  if (!made) return made.error();
  out.result = *made;
  if (how.infer_second) {
    auto second = append(out.code, {op::second_of, {out.result}, {}}, 0);
    if (!second) return second.error();
    out.second = *second;
  }
  return out;
}

/// Runs a program and gives the elements of some registers, by a backend.
inline std::vector<tensor> run_program(backend& on, const typed_program& code,
                                       const std::vector<reg>& wanted,
                                       const std::vector<row_operand>& operands,
                                       bool parallel = false) {
  auto full = differentiate(code, no_register, {});
  EXPECT_TRUE(full) << full.error().message;
  auto ready = make_plan(*full, {.scalars = {}, .results = wanted, .differentiate = {}});
  ready.parallel = parallel;
  fault why;
  auto runs = on.prepare(ready, why);
  EXPECT_TRUE(runs) << why.what;
  if (!runs) return {};
  std::vector<tensor> inputs;
  std::map<std::string, buffer_ptr> memory;
  for (auto& operand : operands) {
    if (operand.at == no_register) continue;
    if (operand.parameter.empty()) {
      inputs.push_back(operand.contents);
      continue;
    }
    auto& place = memory[operand.parameter] = on.allocate(operand.contents.data.size(), why);
    EXPECT_TRUE(place) << why.what;
    EXPECT_FALSE(on.write(*place, 0, operand.contents.data));
  }
  std::vector<void*> addresses;
  for (auto& parameter : ready.parameters) addresses.push_back(memory.at(parameter.name)->data);
  std::vector<void*> writes;
  std::vector<buffer_ptr> places;
  for (auto& write : ready.writes) {
    auto& what = ready.tensors[write.tensor];
    places.push_back(
      on.allocate(static_cast<uint64_t>(what.dims.elements()) * size_of(what.type), why));
    writes.push_back(places.back()->data);
  }
  run_results out;
  // Twice, since the second run finds what the first one left behind.
  for (int i = 0; i < 2; ++i) {
    auto failed = runs->run({inputs, addresses, {}, writes}, out);
    EXPECT_FALSE(failed) << (failed ? failed->what : "");
    if (failed) return {};
  }
  std::vector<tensor> results;
  for (size_t i = 0; i < wanted.size(); ++i) {
    auto& what = ready.tensors[ready.results[i]];
    results.push_back({std::move(out.tensors[i]), what.type, sizes_of(what.dims)});
  }
  return results;
}

/// The differentiated program whose loss is the sum of the call's result times `weights`, which
/// goes in as one more operand; gradients are those of the float operands that have one.
struct call_gradient {
  differentiated code;
  std::vector<row_operand> operands;
  reg loss = no_register;
  std::vector<std::string> names; ///< of the parameters
};

inline bool has_gradient(const row_call& call) {
  return call.how->gradient && is_float(call.code.types[call.result].type);
}

inline result<call_gradient> differentiate_call(const row_call& call, std::mt19937& random) {
  call_gradient out;
  out.operands = call.operands;
  auto& type = call.code.types[call.result];
  bool wide = type.type == dtype::f64;
  row_operand weights;
  weights.contents =
    contents_of({wide ? dtype::f64 : dtype::f32, type.dims, contents::any, 0}, random);
  weights.type = type.type;
  weights.parameter = "weights";
  out.operands.push_back(std::move(weights));
  auto loaded = load(out.operands);
  if (!loaded) return loaded.error();
  auto again = call.operation_on({out.operands.begin(), out.operands.end() - 1});
  auto made = append(*loaded, std::move(again), 0);
  if (!made) return made.error();
  auto weighted = append(*loaded, {op::mul, {*made, out.operands.back().at}, {}}, 0);
  if (!weighted) return weighted.error();
  auto loss = append(*loaded, {op::sum_to, {*weighted}, {std::vector<uint32_t>{}}}, 0);
  if (!loss) return loss.error();
  out.loss = *loss;
  for (size_t i = 0; i + 1 < out.operands.size(); ++i)
    if (!out.operands[i].parameter.empty()) out.names.push_back(out.operands[i].parameter);
  auto code = differentiate(std::move(*loaded), *loss, out.names);
  if (!code) return code.error();
  out.code = std::move(*code);
  return out;
}

/// What a result may be off, by its type.
inline double tolerance_of(elem type) {
  switch (type) {
    case elem::f64:
      return 1e-12;
    case elem::f32:
      return 2e-6;
    case elem::f16:
      return 2e-3;
    case elem::bf16:
      return 1.6e-2;
    default:
      return 0;
  }
}

/// What a result of a call may be off: the least exact type on the way decides.
inline double tolerance_of(const row_call& call, elem type) {
  auto out = tolerance_of(type);
  if (out > 0)
    for (auto& operand : call.operands)
      if (operand.at != no_register) out = std::max(out, tolerance_of(stored_as(operand.type)));
  return out * call.how->tolerance;
}

/// Elements as doubles, of any type.
inline std::vector<double> values_of(const tensor& from) {
  std::vector<double> out;
  auto bytes = size_of(from.type);
  for (size_t i = 0; i + bytes <= from.data.size(); i += bytes) {
    auto at = from.data.data() + i;
    auto as = [at]<class T>(T value) {
      std::memcpy(&value, at, sizeof(T));
      return value;
    };
    switch (from.type) {
      case elem::f64:
        out.push_back(as(0.0));
        break;
      case elem::f32:
        out.push_back(as(0.0f));
        break;
      case elem::f16:
        out.push_back(from_f16(as(uint16_t{})));
        break;
      case elem::bf16:
        out.push_back(from_bf16(as(uint16_t{})));
        break;
      case elem::i64:
        out.push_back(static_cast<double>(as(int64_t{})));
        break;
      case elem::i32:
        out.push_back(as(int32_t{}));
        break;
      default:
        out.push_back(as(uint8_t{}));
    }
  }
  return out;
}

} // namespace moxzi::device::testing
