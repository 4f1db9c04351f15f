#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shapescript/check/dims.hpp"

namespace shapescript {

enum class dtype : uint8_t { f32, f64, f16, bf16, i8, i16, i32, i64, u8, boolean };

std::string_view name_of(dtype type) noexcept;
std::optional<dtype> dtype_named(std::string_view name) noexcept;
bool is_float(dtype type) noexcept;

/// What is known of a tensor's values. `pos` and `unit` are `nonneg`, `prob` is `unit`.
enum class refinement : uint8_t { none, nonneg, pos, unit, prob, index };

bool implies(refinement have, refinement want) noexcept;

/// An axis: the name that guides alignment and its size. An axis whose size is a number or
/// arithmetic, in a type or by a pattern, has no name.
struct axis {
  std::string name;
  size_form size;
  bool resized = false;     ///< its size is no longer what its name says
  std::string written = {}; ///< without a name: how the arithmetic was written, `3*D`

  /// Gives it another size under its name.
  void resize(size_form now);
  /// What people call it, empty for a number.
  const std::string& text() const noexcept {
    return name.empty() ? written : name;
  }
};

/// Where the numbers that were written for a value lie.
struct number_range {
  double low = 0;
  double high = 0;
};

/// An axis that people wrote so: a word is its name.
axis axis_written(std::string text, size_form size);

/// What a type is at its base. `poison` stands where a mistake was reported; it fits everything.
enum class base_type : uint8_t {
  poison,
  none, ///< no value: a function without a result
  integer,
  real,
  boolean,
  text,
  tensor,
  record,    ///< one record, or a batch of them: `axes`
  model,     ///< `declaration`, `dims`
  gradient,  ///< of a model, likewise
  optimizer, ///< of a model, likewise; `name` is its kind
  dataset,   ///< `declaration` is the record
  batches,
  generator,
  function, ///< `declaration`, or `parts` (parameters, then the result) for a parameter's type
  tuple,
  module,        ///< a Python module or another file
  python,        ///< a Python function, or its result without a type
  range,         ///< `lo..hi` of integers
  layers,        ///< a list of layers: `parts[0]` is the model
  declared_type, ///< the name of a record or model used as a value
  initializer,   ///< `normal(std=0.02)`: fills a param of any shape
};

/// A type. Values, so that a stage may keep and change its own copies.
struct type {
  base_type base = base_type::poison;
  dtype element = dtype::f32;
  refinement known = refinement::none;
  bool literal = false;   ///< written as a number: takes the dtype of what it meets
  bool evaluated = false; ///< of a function: `eval(f)` or `checkpoint(f)`
  uint32_t declaration = 0;
  std::vector<axis> axes;              ///< of a tensor, or the batch axes of records
  axis bound;                          ///< of `index`: its size; of `prob`: its axis
  std::vector<size_form> dims;         ///< of a model and what belongs to one
  std::vector<std::string> dim_names;  ///< how those were written, empty for numbers
  std::vector<type> parts;             ///< of a tuple, a function type, layers
  std::string name;                    ///< of an optimizer, module or Python function
  std::optional<size_form> value;      ///< of an integer known while checking
  std::optional<number_range> numbers; ///< of decimal literals
  std::vector<uint32_t> crossed;       ///< questions about examples that it was made by
};

inline bool is(const type& t, base_type base) noexcept {
  return t.base == base;
}
inline bool is_poison(const type& t) noexcept {
  return t.base == base_type::poison;
}
inline bool is_tensor(const type& t) noexcept {
  return t.base == base_type::tensor;
}
/// A host number or bool.
bool is_scalar(const type& t) noexcept;
/// A host int or float.
bool is_number(const type& t) noexcept;
bool is_float_tensor(const type& t) noexcept;
/// A model or what belongs to one: assigning it makes a second name for it and no copy.
bool is_reference(const type& t) noexcept;
/// What is known of a value's range: 0 or more, more than 0, 0 to 1. A literal may be all of them.
bool known_nonneg(const type& t) noexcept;
bool known_pos(const type& t) noexcept;
bool known_unit(const type& t) noexcept;
bool same_sizes(const std::vector<axis>& x, const std::vector<axis>& y) noexcept;
/// The place of the axis with this name; the last if several have it.
std::optional<size_t> find_axis(const std::vector<axis>& axes, std::string_view name) noexcept;
/// The place of the axis that a name of this size means: the one with the name; if none has it, the
/// only one of the size among those without names.
std::optional<size_t> find_axis(const std::vector<axis>& axes, const axis& meant) noexcept;
/// Whether two `Prob` are along the same axis.
bool same_bound(const type& x, const type& y) noexcept;
/// Whether what a value's `Prob` is along may be this axis.
bool bound_by(const type& prob, const axis& one) noexcept;
/// The type without what is known of its values.
type plain(type t);
/// What is known of values that are of one or the other type.
type join_known(type x, const type& y);

type tensor_of(std::vector<axis> axes, dtype element = dtype::f32,
               refinement known = refinement::none);
type scalar_of(base_type base);

} // namespace shapescript
