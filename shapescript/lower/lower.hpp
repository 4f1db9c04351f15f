#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "device/check.hpp"
#include "shapescript/check/typed_tree.hpp"

namespace shapescript {

/// A host value that a function is lowered for.
using host_value = std::variant<int64_t, double, bool, std::string>;

/// What a device function is lowered for.
struct lowering_options {
  /// Sizes of its symbolic axes, by name.
  std::map<std::string, int64_t, std::less<>> sizes;
  /// Of axes that are not named there, if given.
  std::optional<int64_t> other_size;
  /// Its parameters that are host values, by name. Numbers that are not here become inputs, which
  /// cannot decide what the program is.
  std::map<std::string, host_value, std::less<>> values;
  /// The function itself runs as in training: what is dropped and normalised then.
  bool trains = false;
};

/// A tensor that the function is given; its place in the list is the input's number.
struct lowered_input {
  std::string name; ///< `batch.img`
  moxzi::device::input_type what;
  std::optional<uint32_t> batch; ///< the dimension of the examples, if it has one
  bool gradient = false;         ///< it is one of a parameter, and lies as that does
  std::vector<std::string> axes; ///< how its dimensions are called, empty for numbers
  bool examples = false;         ///< it is a field of a batch of records
};

/// A call of an `extern fn`: what it takes is known before what it gives is read as inputs.
struct lowered_python {
  uint32_t function = no_index;
  std::vector<moxzi::device::reg> arguments;
  std::vector<moxzi::device::reg> results; ///< the inputs that hold what it gives
  uint32_t origin = 0;
};

/// A parameter or buffer of a model: `m.blocks.0.w`.
struct lowered_tensor {
  std::string name;
  moxzi::device::register_type what;
  std::vector<std::string> axes; ///< how its dimensions are called, empty for numbers
};

/// A step of an optimizer: `update(mut m, mut opt, g)`.
struct lowered_update {
  std::string optimizer;                               ///< the parameter's name: `opt`
  std::string kind;                                    ///< `AdamW`
  uint32_t model = no_index;                           ///< whose state it keeps
  std::map<std::string, moxzi::device::reg> gradients; ///< by parameter
  std::optional<double> lr;
  moxzi::device::reg lr_input = moxzi::device::no_register; ///< where it is known only at the call
};

/// Where an operation comes from.
struct operation_origin {
  uint32_t module = 0;
  span where; ///< the expression
  span line;  ///< the statement of the lowered function that leads there
};

/// A register that the devices must agree on, and the place in the program that asks.
struct lowered_need {
  moxzi::device::reg at = 0;
  uint32_t origin = 0;
  std::string name; ///< of a gradient: `w1`, or what it is the gradient of
  std::string path; ///< of a parameter's gradient: the parameter, `m.w1`
};

/// A field of a record, or a model's gradient in one parameter.
struct lowered_part {
  std::string name; ///< `img`, `blocks.0.w`
  moxzi::device::reg at = 0;
  std::vector<std::string> axes; ///< how its dimensions are called, empty for numbers
};

/// A device function as a program for one set of sizes.
struct lowered {
  moxzi::device::typed_program code; ///< `origins` are places in `origins`
  std::vector<lowered_input> inputs;
  std::vector<lowered_tensor> parameters;
  std::vector<lowered_tensor> buffers;
  std::vector<moxzi::device::reg> results;
  std::vector<lowered_need> gradients;                ///< what `value_and_grad` and `grad` give
  std::vector<moxzi::device::reg> returned_gradients; ///< those of a model that are results
  std::vector<lowered_update> updates;
  std::vector<lowered_python> python; ///< in the order of their calls
  std::vector<operation_origin> origins;
  uint32_t result_origin = 0; ///< the `return`
  /// The dimension of a register that is called by a dim that the devices split.
  std::map<moxzi::device::reg, uint32_t> split_dims;
  /// The registers of the function's own expressions, with the value last given to each.
  std::map<expr_id, moxzi::device::reg> registers;
  /// The same of its records and gradients: all that they are made of.
  std::map<expr_id, std::vector<lowered_part>> groups;
  /// The registers that are the value of some expression.
  std::set<moxzi::device::reg> values;
  /// By register that leads back to gradients: of which one it is the gradient, or itself.
  std::map<moxzi::device::reg, moxzi::device::reg> gradient_of;
};

/// Why a function has no program.
struct lowering_fault {
  uint32_t module = 0;
  span where;
  std::string message;
};

/// A device function as a program: calls are inlined, loops unrolled, axes become positions, and
/// gradients are appended where they are asked for. The program has no errors (asserted by whoever
/// checked it). Gives the reason if the function depends on what is known only when it runs, or
/// does what no device operation does.
std::variant<lowered, lowering_fault> lower(const typed_tree& program, uint32_t function,
                                            const lowering_options& options);

} // namespace shapescript
