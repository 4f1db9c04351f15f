#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/program.hpp"

namespace moxzi::device {

/// The code that a `program_builder` has collected so far. Internal to it.
struct program_under_way;

/// A value in a program that is being built: the result of one of its operations. Light, copied
/// freely, and no longer of use when its `program_builder` is gone. A default-made one is no value.
class var {
public:
  var() = default;
  var(program_under_way* in, reg number) noexcept : in_(in), number_(number) {
    // nop
  }

  /// The register: the position of the operation that makes it.
  reg number() const noexcept {
    return number_;
  }
  /// The program that it belongs to; null for no value.
  program_under_way* program() const noexcept {
    return in_;
  }

private:
  program_under_way* in_ = nullptr;
  reg number_ = no_register;
};

/// In a list of sizes for `reshape`: this one follows from the others.
inline constexpr uint32_t open_size = UINT32_MAX;

/// How random numbers are spread.
class distribution {
public:
  /// From 0 to below 1.
  static distribution uniform() noexcept {
    return distribution(int64_t{0});
  }
  /// Mean 0, deviation 1.
  static distribution normal() noexcept {
    return distribution(int64_t{1});
  }
  /// 1 with this probability, else 0.
  static distribution bernoulli(double probability) noexcept {
    return distribution(probability);
  }
  const attribute& value() const noexcept {
    return value_;
  }

private:
  explicit distribution(attribute value) noexcept : value_(std::move(value)) {
    // nop
  }
  attribute value_;
};

/// Collects the operands and attributes of one operation, each in the order of the row's fields,
/// and puts it into the program of its operands. What the generated calls are made of.
class operation_call {
public:
  /// `in` is null unless the operation takes no registers.
  explicit operation_call(op id, program_under_way* in = nullptr) : in_(in) {
    what_.id = id;
  }

  /// The next operand.
  operation_call& on(var x);
  /// The next one, which may be absent.
  operation_call& on(const std::optional<var>& x);
  /// The rest of them.
  operation_call& on(const std::vector<var>& xs);
  /// The next attribute.
  template <class T>
  operation_call& with(const T& value) {
    return add(attribute_of(value));
  }
  /// The next one, which may be absent.
  template <class T>
  operation_call& with(const std::optional<T>& value) {
    return add(value ? attribute_of(*value) : attribute{});
  }

  /// Appends it. A fault (an operand that is no value, or one of another program) is kept in the
  /// program and reported by the builder.
  var made();

private:
  template <class T>
  static attribute attribute_of(const T& value) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, double>)
      return value;
    else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
      return static_cast<int64_t>(value); // integers of all widths, element types, choices
    else if constexpr (std::is_same_v<T, distribution>)
      return value.value();
    else
      return attribute{value};
  }
  operation_call& add(attribute value);

  program_under_way* in_;
  operation what_;
  bool has_wrong_operand_ = false;
};

} // namespace moxzi::device
