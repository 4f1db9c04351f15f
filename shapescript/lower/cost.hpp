#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/split.hpp"
#include "shapescript/check/typed_tree.hpp"
#include "shapescript/lower/lower.hpp"

namespace shapescript {

/// Collectives of one kind that one line asks for.
struct line_traffic {
  moxzi::device::collective_kind kind{};
  std::string what; ///< `the gradients of w1 and w2`
  std::string type; ///< `f32`
  int64_t elements = 0;
  int64_t bytes = 0;
  std::vector<std::string> names; ///< of all that is in it: `w1`, `w2`
};

/// What one statement of a device function makes the devices send each other.
struct line_cost {
  span line;
  std::vector<line_traffic> sent;
};

/// What a device function costs in one step, for one set of sizes.
struct function_cost {
  uint32_t function = no_index;
  std::vector<std::pair<std::string, int64_t>> sizes; ///< of its symbolic axes
  size_t devices = 1;
  std::vector<line_cost> lines;
  int64_t sent_bytes = 0;
  double flops = 0;        ///< of the whole step
  double device_flops = 0; ///< of the device with most
  // In the memory of the device with most:
  int64_t parameter_bytes = 0;  ///< of the models it is given
  int64_t buffer_bytes = 0;     ///< of theirs
  int64_t state_bytes = 0;      ///< of the optimizers that it steps
  int64_t momentum_bytes = 0;   ///< how much of that there is with momentum alone, if it is open
  int64_t input_bytes = 0;      ///< of the other values that it is given
  int64_t activation_bytes = 0; ///< the most that is held at once of values between
  std::optional<lowering_fault> fault; ///< why nothing but its name is known
  lowered code;
  moxzi::device::split_program split;

  /// All of it together.
  int64_t memory_bytes() const noexcept;
};

/// Sizes of symbolic axes by their names. An axis that is not named has the size that the program's
/// calls give it (the largest), else that of the program's batches if it is one number, else
/// `batch_default`; one that is divided has the least size from there on that leaves no rest.
struct cost_options {
  std::map<std::string, int64_t, std::less<>> sizes;
  std::map<std::string, host_value, std::less<>> values = {}; ///< of host parameters, by name
};
inline constexpr int64_t batch_default = 64;

/// The functions of a file that a device can run, in its order.
std::vector<uint32_t> device_functions(const typed_tree& program);

/// True of a function, of any file, that works on tensors or models on the devices.
bool runs_on_devices(const typed_tree& program, uint32_t function);

/// The symbolic axes of those functions, by name.
std::vector<std::string> axis_names(const typed_tree& program);

/// A program without errors.
function_cost cost_of(const typed_tree& program, uint32_t function, const cost_options& options);

/// How a value lies on the devices: `split along b`, `whole on every device`; its dimensions are
/// called `axes`.
std::string describe(const typed_tree& program, const moxzi::device::placement& where,
                     const std::vector<std::string>& axes);
/// `all-reduce of the gradients of w1 and w2: 203,264 f32 values, 813,056 bytes per step`
std::string describe(const line_traffic& what);
/// `a.ss:3:5: how often is known only when it runs`
std::string describe(const typed_tree& program, const lowering_fault& what);
/// The first line of a piece of a program, cut if it is long: `f(x...`.
std::string shortened(std::string_view text);
/// The line of a file in which something begins, without its indentation, cut if it is long.
std::string line_of(const source& text, span where);
/// `1,234,567`
std::string grouped(int64_t number);

/// The costs as people read them, and as one JSON object a function.
std::string render_text(const typed_tree& program, const function_cost& cost);
std::string render_json(const typed_tree& program, const function_cost& cost);
/// As JSON: an array of `{"kind","what","type","elements","bytes"}`.
std::string render_json(const std::vector<line_traffic>& sent);

} // namespace shapescript
