#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "device/errors.hpp"
#include "device/ops/sample.hpp"
#include "device/program.hpp"

/// A row of the table of operations: everything about an operation but its kernels.
namespace moxzi::device {

// -- fields: what the interface's record has -----------------------------------

/// The type of a field in the interface, and the alternative of `attribute` that carries it.
enum class field_kind : uint8_t {
  reg,     ///< `Reg`: an operand
  opt_reg, ///< `opt Reg`: an operand, `no_register` when absent
  regs,    ///< `vec Reg`: the rest of the operands; the last register field
  boolean, ///< `bool`: bool
  nat32,   ///< `nat32`: int64_t
  int32,   ///< `int32`: int64_t
  int64,   ///< `int64`: int64_t
  nat64,   ///< `nat64`: int64_t of the same bits
  float64, ///< `float64`: double
  text,    ///< `text`: std::string
  nat32s,  ///< `vec nat32`: std::vector<uint32_t>
  dtype,   ///< `Dtype`: int64_t, the position in `enum class dtype`
  choice,  ///< a variant of plain tags: int64_t, the tag's position in `choices`
  /// `variant { uniform; normal; bernoulli : float64 }`: int64_t 0 or 1, or a double
  distribution,
};

/// One field of an operation's record.
struct field {
  std::string_view name;
  field_kind kind{};
  bool optional = false; ///< `opt`: absent = `monostate` (register fields use `opt_reg`)
  std::vector<std::string_view> choices = {};
};

constexpr bool is_register(field_kind kind) noexcept {
  return kind == field_kind::reg || kind == field_kind::opt_reg || kind == field_kind::regs;
}

/// How the interface writes the operation: `#input 0` (`bare`: its one field's value alone) or
/// `#narrow { x = 0; … }` (`record`).
enum class field_form : uint8_t { bare, record };

// -- what a register is --------------------------------------------------------

/// A part of a dimension: an axis (an identity, not a size) and how many places of it are here.
/// A dimension made by merging others has several, outermost first; `(H E)` keeps H.
struct axis_factor {
  uint32_t axis = 0;
  int64_t size = 1;
  bool operator==(const axis_factor&) const = default;
};
using axis_factors = std::vector<axis_factor>;

/// All that is known of a register before the program runs.
struct register_type {
  dtype type = dtype::f32;
  elem storage = elem::f32;
  shape dims;
  std::vector<axis_factors> factors = {}; ///< one entry per dimension; a size-1 one may be empty

  /// `f32 [64, 256]`.
  std::string text() const;
};

// -- rules ---------------------------------------------------------------------

/// What a shape rule may ask for. The operands are registers that exist; attributes have the
/// alternatives that the row's fields say.
class rule_context {
public:
  virtual ~rule_context() = default;
  /// True if the optional operand was given.
  virtual bool has(size_t operand) const = 0;
  virtual const register_type& operand(size_t n) const = 0;
  virtual size_t operand_count() const = 0;
  virtual const attribute& attr(size_t n) const = 0;
  /// The type of what was sent as input `n`, or why there is none.
  virtual result<register_type> input(int64_t n) const = 0;
  /// The type of the named parameter, or why there is none.
  virtual result<register_type> parameter(const std::string& name) const = 0;
  /// The type of the stored value of this name, or why there is none.
  virtual result<register_type> value(const std::string& name) const = 0;
  /// The second result's type of the operation that made operand `n` (internal rows only).
  virtual result<register_type> second(size_t operand) const = 0;
  /// A factor of an axis never seen before.
  virtual axis_factors fresh_axis(int64_t size) const = 0;

  int64_t integer(size_t n) const {
    return std::get<int64_t>(attr(n));
  }
  const std::string& text(size_t n) const {
    return std::get<std::string>(attr(n));
  }
  const std::vector<uint32_t>& list(size_t n) const {
    return std::get<std::vector<uint32_t>>(attr(n));
  }
};

/// A rule's complaint: the code and a sentence; the check adds where.
template <class... Args>
error complain(device_errc code, fmt::format_string<Args...> format, Args&&... args) {
  return error{make_error_code(code), fmt::format(format, std::forward<Args>(args)...)};
}

/// What a gradient rule may do: look at the types of the operation it differentiates, emit
/// operations, and say which register is the gradient of an operand.
class gradient_context {
public:
  virtual ~gradient_context() = default;
  virtual bool has(size_t operand) const = 0;
  /// True if somebody needs the gradient of this operand.
  virtual bool wants(size_t operand) const = 0;
  virtual reg operand(size_t n) const = 0;
  virtual reg self() const = 0;
  virtual const register_type& type_of(reg x) const = 0;
  virtual const attribute& attr(size_t n) const = 0;
  /// The gradient of the loss with respect to this operation's result.
  virtual reg upstream() = 0;
  /// True if that gradient is the number one that everything starts from.
  virtual bool upstream_is_one() const = 0;
  virtual reg emit(op id, std::vector<reg> operands, std::vector<attribute> attributes = {}) = 0;
  /// Adds `gradient` to the gradient of operand `n`. Summed to the operand's shape where the
  /// operand was broadcast, cast to its type where that was promoted.
  virtual void give(size_t n, reg gradient) = 0;
};

/// Which collective joins the parts when an operation's axis is split over devices.
enum class join : uint8_t {
  none, ///< the result is split along `result_dim`
  sum,  ///< each device has a term of the whole result
  mean, ///< as `sum`, weighted by each device's share of the axis
};

/// One axis of an operation along which it may be split: where each operand has it, where the
/// result has it, and how the parts are joined. -1 = that tensor is whole on every device. A second
/// result is joined like the first, but for `second_dim`.
struct split_axis {
  std::vector<int> operand_dims;
  int result_dim = -1;
  device::join how = join::none;
  int attribute = -1;  ///< which attribute holds the axis' size, and so that of a part; -1 = none
  int entry = -1;      ///< which entry of that attribute, where it is a list
  int second_dim = -1; ///< where the second result has it; -1 = each device has a term of that
};

/// Arithmetic and traffic of one execution.
struct cost {
  double flops = 0;
  double bytes = 0;
};

/// What cost and split rules see.
struct typed_call {
  std::span<const register_type* const> operands; ///< null where an optional one is absent
  const register_type* result = nullptr;
  std::span<const attribute> attributes;
};

/// How a row runs.
enum class row_runs : uint8_t {
  bound,     ///< the plan binds it (inputs, parameters, second results): no kernel
  view,      ///< another way to look at its first operand's memory: no kernel
  pointwise, ///< element by element, by the formula of its name; operands broadcast like NumPy's
  kernel,    ///< by a kernel in each backend
};

/// What a row writes when its run succeeds; names are attributes.
enum class row_writes : uint8_t {
  nothing,
  value,      ///< its result, as the stored value named by the first attribute
  parameter,  ///< its result, into the parameter named by the first attribute
  statistics, ///< the first two rows of its second result, as the values named by the first two
};

/// How a view looks at its operand's memory, both counted in elements.
struct look {
  int64_t offset = 0; ///< added to the operand's
  shape strides;      ///< as many as the result has dimensions
};

/// A row. Plain data and functions; the table is built once and never changes.
struct row {
  op id{};
  std::string_view name;
  std::string_view sentence;  ///< one sentence for documentation and hover text
  std::string_view reference; ///< what it follows
  std::vector<field> fields;
  field_form form = field_form::record;
  row_runs runs = row_runs::kernel;
  /// The types that its main operands may have.
  dtype_set takes = float_types;
  /// True if kernels take operands with gaps; else they are copied together first.
  bool strided = false;
  /// True if equal calls give equal results, so that one may serve for all.
  bool pure = true;

  row_writes writes = row_writes::nothing;
  /// How many of the first attributes name stored values that its kernel reads, as inputs after its
  /// operands; one that isn't there is absent.
  size_t reads_values = 0;
  /// Makes of the operation what it is in a run that trains, or in one that doesn't: another row of
  /// the same operands, or other attributes.
  void (*settle)(operation& what, bool trains) = nullptr;

  /// Shape and dtype rule.
  result<register_type> (*infer)(const rule_context&) = nullptr;
  /// Type of the second result, for rows that have one.
  register_type (*infer_second)(const rule_context&) = nullptr;
  /// The gradient as operations; null = `no_gradient` says why there is none.
  void (*gradient)(gradient_context&) = nullptr;
  std::string_view no_gradient = {};
  /// The row that takes this one's place where its gradient is wanted (same operands, attributes
  /// and result, plus a second result that the gradient rule reads); its own id if none.
  op training_form{};
  /// Split rule; null = only whole.
  std::vector<split_axis> (*split)(const typed_call&) = nullptr;
  device::cost (*costs)(const typed_call&) = nullptr;
  /// For views: how to look at an operand of these strides, or nothing if it must be without gaps.
  std::optional<device::look> (*look)(const typed_call&, const shape& strides) = nullptr;

  // -- what tests try it on
  /// The same by PyTorch: an expression over the names of the fields. `F` is functional, `like(c,
  /// x)` a number of x's kind; a name that Python has for itself gets a `_`.
  std::string_view pytorch = {};
  /// A right call with main operands of the sampler's type.
  sample (*example)(sampler&) = nullptr;
  /// A wrong call, and the error that it gives.
  wrong_sample (*wrong)(sampler&) = nullptr;
  /// How much less exact than one rounding a result may be, as a factor.
  double tolerance = 1;

  bool internal() const noexcept {
    return static_cast<uint16_t>(id) >= internal_ops_from;
  }
  size_t register_fields() const noexcept;
};

} // namespace moxzi::device
