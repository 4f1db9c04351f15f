#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "device/program.hpp"
#include "shapescript/check/builtins.hpp"
#include "shapescript/lower/lower.hpp"

namespace shapescript {

using moxzi::device::attribute;
using moxzi::device::no_register;
using moxzi::device::op;
using moxzi::device::operation;
using moxzi::device::reg;

/// More operations than this are not one program: loops are unrolled.
inline constexpr size_t lowered_operations_max = 20'000;
/// Nor are more expressions, rounds of loops and tensors of models together.
inline constexpr size_t lowered_steps_max = 500'000;
/// Expressions inside of one another, through calls.
inline constexpr size_t lowered_depth_max = 1'000;
inline constexpr size_t lowered_text_max = 1 << 16;

/// How a device holds elements of this type; small integers as i32.
moxzi::device::dtype lowered_dtype(dtype type) noexcept;

/// A value while a function is lowered: known (a host value), or a register, or made of such.
struct value {
  base_type base = base_type::none;
  int64_t integer = 0;
  double real = 0;
  bool flag = false;
  std::string text; ///< a host text; the path of a model, gradient or list of layers; a function's
                    ///< builtin name; an optimizer's name
  reg at = no_register; ///< of a tensor, or of a host number that is known only at the call
  uint32_t declaration = no_index;
  std::vector<int64_t> dims;            ///< of a model and what belongs to one
  std::vector<value> parts;             ///< of a tuple or record (its fields)
  int64_t count = 0;                    ///< of layers; a range's end
  std::map<std::string, reg> gradients; ///< of a gradient, by path below the model
  bool remade = false;                  ///< of a function: `checkpoint(f)`
  bool evaluated = false;               ///< of a function: `eval(f)`
};

/// An argument of a builtin: evaluated when it is asked for.
struct lowered_argument {
  expr_id id = expr_id::none;
  span name;
  bool ready = false;
  value what;
  const type* known = nullptr;
};

/// Arithmetic of ints that gives an int, if it fits.
std::optional<int64_t> whole_of(token_kind operation, int64_t x, int64_t y);

/// A function whose body is being lowered.
struct lowering_frame {
  uint32_t function = no_index;
  uint32_t module = 0;
  std::map<symbol, int64_t> sizes;
  std::map<std::string, int64_t, std::less<>> named_sizes; ///< given by the call's patterns
  std::map<std::string_view, value> locals;
  bool trains = false;
  std::optional<value> result;
  enum class leave_t : uint8_t { no, break_, continue_, return_ } leave = leave_t::no;
};

/// The state of a lowering; `lower` is its one user. Each file `lower_*.cpp` holds one concern.
class lowering {
public:
  lowering(const typed_tree& program, const lowering_options& options);

  std::variant<lowered, lowering_fault> run(uint32_t function);

private:
  // -- faults, text, sizes (lower.cpp) -----------------------------------------
  void fail(span where, std::string message);
  bool failed() const noexcept {
    return fault_.has_value();
  }
  /// False, after saying so, when a program takes more than anyone wants to wait for.
  bool take_step() {
    if (++steps_ > lowered_steps_max) fail(where_, "this takes too many steps to unroll");
    return !failed();
  }
  const tree& t() const {
    return program_.modules[frame_->module]->program.program;
  }
  std::string_view text(span where) const {
    return program_.modules[frame_->module]->text.text(where);
  }
  const type& type_of(expr_id id) const {
    return program_.type_of(frame_->module, id);
  }
  std::optional<int64_t> sum_of(const size_sum& sum) const;
  std::optional<int64_t> size_of(const size_form& size) const;
  std::string no_size(const size_form& size) const;
  int64_t number_of(const size_form& size, span where);
  std::optional<int64_t> size_named(std::string_view name) const;
  std::optional<size_t> axis_called(std::string_view word, const std::vector<axis>& axes,
                                    std::optional<size_form> size = {}) const;
  std::optional<std::vector<int64_t>> sizes_of(const std::vector<axis>& axes) const;
  std::vector<int64_t> sizes_of(const std::vector<axis>& axes, const std::string& name);
  void bind_sizes(const type& want, const value& have);
  void bind_size(const size_form& size, int64_t have);

  // -- operations (lower.cpp) --------------------------------------------------
  reg emit(op id, std::vector<reg> operands, std::vector<attribute> attributes = {});
  uint32_t origin();
  const moxzi::device::shape& dims(reg x) const;
  moxzi::device::dtype kind(reg x) const;
  reg reshape(reg x, const std::vector<int64_t>& sizes);
  reg permute(reg x, const std::vector<uint32_t>& order);
  reg cast(reg x, moxzi::device::dtype to);
  reg constant(double number, moxzi::device::dtype type, const std::vector<int64_t>& sizes = {});
  /// The value as a register; of a number as a tensor without axes.
  reg tensor(const value& what, std::optional<moxzi::device::dtype> type = {});
  value as_value(reg at) const;
  void expect(expr_id id, const type& known, value& have);
  void note_value(expr_id id, const type& known, const value& what);
  void note_fields(const value& what, const std::string& path,
                   const std::vector<std::string>& around, std::vector<lowered_part>& out) const;

  // -- parameters of the function (lower_parameters.cpp) -----------------------
  value parameter(const parameter_info& p, uint32_t place);
  value input_of(const type& what, const std::string& name);
  value host_parameter(const parameter_info& p);
  value shaped_as_model(base_type base, const type& what, const std::string& path);
  value model_value(const type& what, const std::string& path);
  value gradient_value(const type& what, const std::string& path);
  using tensor_visitor = std::function<void(member_kind, lowered_tensor)>;
  void each_tensor(uint32_t model, const std::vector<int64_t>& dims, const std::string& path,
                   const tensor_visitor& use);
  reg add_input(lowered_input what);
  std::map<symbol, int64_t> model_sizes(uint32_t model, const std::vector<int64_t>& dims) const;
  void choose_sizes(const function_info& f);

  // -- statements (lower_statements.cpp) ---------------------------------------
  void run_block(const block& body);
  void run_statement(const stmt& node);
  void run_assign(const stmt& node);
  void assign(expr_id target, value what);
  void assign_member(const expr& target, const value& what);
  void run_for(const stmt& node);
  void run_while(const stmt& node);
  bool condition(expr_id id);
  value call_function(uint32_t index, std::vector<lowered_argument>& arguments, const value* self,
                      std::optional<bool> trains = {});

  // -- extern functions (lower_python.cpp) -------------------------------------
  value call_python(uint32_t index, const std::vector<value>& arguments, lowering_frame& sizes);
  value python_result(const type& what, const std::string& name, lowering_frame& sizes,
                      lowered_python& call);
  bool flows_through_python(reg loss, const std::vector<std::vector<reg>>& targets);
  void need_results(const value& what);

  // -- expressions (lower_expressions.cpp) -------------------------------------
  value expression(expr_id id);
  value evaluate(const expr& node, expr_id id);
  value name(const expr& node);
  value literal(const expr& node);
  value list(const expr& node, const type& known);
  value member(const expr& node);
  value member_of(const expr& node, const value& base);
  std::optional<uint32_t> split_dim_of(const type& what) const;
  value layer_of(const member_info& one, const value& base, const std::string& path);
  value unary(const expr& node);
  value cast_to(const expr& node, const type& known);
  value call(const expr& node, const type& known);
  value call_with(const expr& node, std::vector<lowered_argument> arguments, const type& known);
  value dispatch(const expr& callee, const expr* site, std::vector<lowered_argument>& arguments,
                 const type& known);
  value call_value(const value& callee, const expr* site, std::vector<lowered_argument>& arguments,
                   const type& known, span where);
  value pipe(const expr& node, const type& known);
  value binary(const expr& node, const type& known);
  value host_arithmetic(token_kind operation, const value& x, const value& y, span where);

  // -- operators (lower_operators.cpp) -----------------------------------------
  reg aligned(reg x, const std::vector<axis>& axes, const std::vector<axis>& to);
  value arithmetic(token_kind operation, const value& x, const type& x_type, const value& y,
                   const type& y_type, const type& known, span where);
  value matmul(const value& x, const type& x_type, const value& y, const type& y_type,
               const type& known);

  // -- indexing and construction (lower_index.cpp) -----------------------------
  value index(const expr& node, const type& known);
  value construct(const expr& node, std::vector<lowered_argument>& arguments, const type& known);
  bool index_name(const expr& base) const;
  reg pick(reg x, size_t axes, const std::function<reg(size_t, reg)>& one);
  reg pick_axis(reg x, size_t place, int how, int64_t from, int64_t count, reg ids);
  int64_t size_at(expr_id id);

  // -- patterns (lower_patterns.cpp) -------------------------------------------
  struct atom;
  value call_pattern(std::string_view name, const expr& site,
                     std::vector<lowered_argument>& arguments);
  std::vector<atom> read_pattern(const pattern& written, reg x, const std::vector<atom>& before);
  std::optional<int64_t> atom_size(std::string_view name, const std::vector<atom>& before) const;
  value rearrange(std::string_view name, const pattern_call& call, reg x, std::string_view by);
  value arranged(std::string_view name, reg x, const std::vector<atom>& atoms,
                 const std::vector<bool>& used, const std::vector<uint32_t>& order,
                 const std::vector<std::vector<size_t>>& made,
                 const std::vector<std::pair<size_t, int64_t>>& fresh, std::string_view by);
  value einsum(const pattern_call& call, const std::vector<reg>& operands);

  // -- builtins (lower_builtins.cpp and the files after it) --------------------
  struct call_slots;
  value call_builtin(const builtin& what, const expr* site,
                     std::vector<lowered_argument>& arguments, const type& known, span where);
  value tensor_builtin(const builtin& what, call_slots& m, const type& known);
  value shape_builtin(const builtin& what, call_slots& m, const type& known);
  value training_builtin(const builtin& what, call_slots& m, const type& known);
  value& argument(lowered_argument& one);
  const type& type_of(lowered_argument& one);
  reg register_of(lowered_argument& one, std::optional<moxzi::device::dtype> type = {});
  double number(lowered_argument* one, double otherwise);
  attribute optional_number(lowered_argument* one);
  int64_t whole(lowered_argument* one, int64_t otherwise);
  int64_t truncated(double number);
  bool flag(lowered_argument* one, bool otherwise);
  std::vector<uint32_t> places(lowered_argument& over, const type& of);
  value host_function(const builtin& what, call_slots& m);
  value binary_builtin(const builtin& what, call_slots& m, const type& known);
  value unary_builtin(const builtin& what, call_slots& m);
  value reduction(const builtin& what, call_slots& m);
  value masked(const builtin& what, call_slots& m, const type& known);
  value normalised(const builtin& what, call_slots& m);
  value affine(const builtin& what, call_slots& m, reg x, std::vector<uint32_t> over);
  value grouped(call_slots& m, reg x, const std::vector<int64_t>& moved, size_t over,
                const std::vector<uint32_t>& back);
  value batch_norm(call_slots& m);
  value loss(const builtin& what, call_slots& m, const type& known);
  value cross_entropy(const builtin& what, call_slots& m, const type& known);
  value attention(call_slots& m, const type& known);
  reg mean_of(reg x, bool per_example);
  reg last(reg x, uint32_t place);

  value join(const builtin& what, call_slots& m, const type& known);
  value padded(const builtin& what, call_slots& m);
  value picked(const builtin& what, call_slots& m, const type& known);
  value diagonal(const builtin& what, call_slots& m);
  /// A tensor as [batch, channels, spatial..], and the way back.
  struct planes {
    reg x = no_register;
    std::vector<uint32_t> order;
    std::vector<int64_t> lead;
  };
  planes as_planes(reg x, const std::vector<uint32_t>& spatial, bool channels);
  reg from_planes(const planes& how, reg x, bool channels);
  std::vector<uint32_t> spatial(lowered_argument* over, const type& of, size_t count);
  value convolution(const builtin& what, call_slots& m);
  value pooling(const builtin& what, call_slots& m);

  value gradient(const builtin& what, call_slots& m);
  value differentiated(const builtin& what, reg loss, const value& x,
                       const std::vector<std::string>& paths,
                       const std::vector<std::vector<reg>>& targets, std::string_view of);
  void expand_gradients();
  void fail_gradient(const std::string& message);
  static base_type target_base(const value& x);
  value update(call_slots& m);
  value clip(call_slots& m);
  value accumulate(call_slots& m, const type& known);
  value schedule(const builtin& what, call_slots& m);
  value repeated(const builtin& what, call_slots& m, const type& known);
  value dropout(call_slots& m);

  const typed_tree& program_;
  const lowering_options& options_;
  lowered out_;
  std::optional<lowering_fault> fault_;
  size_t steps_ = 0;
  size_t depth_ = 0;
  std::optional<std::pair<expr_id, value>> done_; // evaluated for what it is the left part of
  lowering_frame* frame_ = nullptr;
  lowering_frame* outer_ = nullptr;                 // the lowered function's own
  span line_;                                       // the statement of it
  span where_;                                      // the expression at hand
  std::vector<uint32_t> open_;                      // functions being called
  std::map<std::string, std::vector<reg>> readers_; // where each parameter is read
  std::set<std::string> stepped_;                   // parameters that an optimizer steps
  std::map<std::string, reg> written_;              // what a tensor of a model is from here on
};

} // namespace shapescript
