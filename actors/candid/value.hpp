#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "actors/candid/integer.hpp"
#include "actors/principal.hpp"
#include "base/assert.hpp"
#include "base/bytes.hpp"

namespace moxzi::candid {

/// A value of some type. It has the shape of its type and is read together with it: a record is the
/// list of its fields in the type's order (ascending ids), a variant holds the position of its tag
/// in the type's list. What each type is held as:
///
/// | type | held as |
/// | --- | --- |
/// | null, reserved, a null `opt` | nothing |
/// | nat, int | `integer` |
/// | nat8 … nat64 | `uint64_t` |
/// | int8 … int64 | `int64_t` |
/// | text, `vec nat8` | `std::string` |
/// | principal, service | `principal` |
/// | opt with a value | `some` |
/// | vec, record | list of values |
///
/// Equality is that of the bits: NaN equals itself, 0.0 and -0.0 differ.
class value {
public:
  /// A public method of a service.
  struct func_ref {
    moxzi::principal service;
    std::string method;
    bool operator==(const func_ref&) const = default;
  };

  /// Null.
  value() = default;
  value(const value& other);
  value(value&& other) noexcept = default;
  value& operator=(const value& other);
  value& operator=(value&& other) noexcept = default;
  ~value() = default;

  // -- making -------------------------------------------------------------------

  static value null() {
    return value{};
  }
  static value boolean(bool v) {
    return value{data{v}};
  }
  static value fixed_nat(uint64_t v) {
    return value{data{v}};
  }
  static value fixed_int(int64_t v) {
    return value{data{v}};
  }
  static value whole(integer v) {
    return value{data{std::move(v)}};
  }
  static value float32(float v) {
    return value{data{v}};
  }
  static value float64(double v) {
    return value{data{v}};
  }
  /// Text, which must be UTF-8, or a blob.
  static value string(std::string v) {
    return value{data{std::move(v)}};
  }
  static value principal(moxzi::principal v) {
    return value{data{std::move(v)}};
  }
  static value func(func_ref v) {
    return value{data{std::make_unique<func_ref>(std::move(v))}};
  }
  /// An `opt` that is not null.
  static value some(value v) {
    return value{data{std::make_unique<value>(std::move(v))}};
  }
  /// The elements of a vector, or the fields of a record in the type's order.
  static value list(std::vector<value> items) {
    return value{data{std::move(items)}};
  }
  static value variant(uint32_t position, value payload = {});

  /// Becomes `held`, one of the forms in the table; quicker than an assignment.
  template <class T>
  void set(T held) {
    data_.template emplace<T>(std::move(held));
  }

  // -- reading (of a form that the value does not have: a fault of the program) ---

  bool is_null() const noexcept {
    return data_.index() == 0;
  }
  bool as_boolean() const {
    return get<bool>();
  }
  uint64_t as_fixed_nat() const {
    return get<uint64_t>();
  }
  int64_t as_fixed_int() const {
    return get<int64_t>();
  }
  const integer& as_whole() const {
    return get<integer>();
  }
  float as_float32() const {
    return get<float>();
  }
  double as_float64() const {
    return get<double>();
  }
  const std::string& as_string() const {
    return get<std::string>();
  }
  std::string& as_string() {
    return const_cast<std::string&>(std::as_const(*this).as_string());
  }
  const moxzi::principal& as_principal() const {
    return get<moxzi::principal>();
  }
  const func_ref& as_func() const {
    return *get<std::unique_ptr<func_ref>>();
  }
  /// What an `opt` holds.
  const value& as_some() const {
    return *get<std::unique_ptr<value>>();
  }
  value& as_some() {
    return const_cast<value&>(std::as_const(*this).as_some());
  }
  const std::vector<value>& as_list() const {
    return get<std::vector<value>>();
  }
  std::vector<value>& as_list() {
    return const_cast<std::vector<value>&>(std::as_const(*this).as_list());
  }
  /// The position of a variant's tag in its type.
  uint32_t as_position() const {
    return get<tagged>().position;
  }
  const value& as_payload() const;
  /// The payload, moved out.
  value take_payload();

  /// True if the value is held as `T` (see the table above).
  template <class T>
  bool holds() const noexcept {
    return std::holds_alternative<T>(data_);
  }
  bool holds_some() const noexcept {
    return holds<std::unique_ptr<value>>();
  }
  bool holds_func() const noexcept {
    return holds<std::unique_ptr<func_ref>>();
  }
  bool holds_list() const noexcept {
    return holds<std::vector<value>>();
  }
  bool holds_variant() const noexcept {
    return holds<tagged>();
  }

  friend bool operator==(const value& x, const value& y);

private:
  struct tagged {
    uint32_t position = 0;
    std::unique_ptr<value> payload; ///< empty for null
  };
  using data = std::variant<std::monostate, bool, uint64_t, int64_t, integer, float, double,
                            std::string, moxzi::principal, std::unique_ptr<func_ref>,
                            std::unique_ptr<value>, std::vector<value>, tagged>;

  explicit value(data d) : data_(std::move(d)) {
    // nop
  }
  template <class T>
  const T& get() const {
    const auto* held = std::get_if<T>(&data_);
    moxzi_assert(held != nullptr, "value holds alternative {}", data_.index());
    return *held;
  }

  data data_;
};

} // namespace moxzi::candid
