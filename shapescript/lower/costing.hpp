#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shapescript/lower/cost.hpp"

namespace shapescript {

/// The sizes that symbolic axes have: those that are asked for, else those that the program's calls
/// give, else the default.
class size_choice {
public:
  size_choice(const typed_tree& program, const cost_options& options);

  /// Has the axes in these fit them.
  void fit(const std::vector<size_need>& needs);
  int64_t size_of(symbol one);

private:
  struct choice {
    int64_t size = 0;
    bool known = false; ///< asked for, or given by the program
  };

  choice choose(symbol one);
  choice of_calls(symbol one);
  choice evaluate(const size_form& size);
  std::optional<int64_t> batches_in(uint32_t module, span where) const;
  std::optional<int64_t> batches_of_name(uint32_t module, std::string_view name) const;
  std::optional<int64_t> batches_of_program() const;

  const typed_tree& program_;
  const cost_options& options_;
  int64_t otherwise_;
  std::map<symbol, choice> chosen_;
  std::set<symbol> open_;
};

/// How a parameter with these axes lies on the program's devices.
moxzi::device::placement place_of_parameter(const device_info& devices,
                                            const std::vector<std::string>& axes);

/// What is asked of the devices for a lowered function.
moxzi::device::split_request split_request_of(const typed_tree& program, const lowered& code);

/// The lines of a function whose values travel.
std::vector<line_cost> lines_of(const typed_tree& program, const lowered& code,
                                const moxzi::device::split_program& split);

/// Fills in the memory that a function needs of a device.
void count_memory(const typed_tree& program, const moxzi::device::split_request& how,
                  function_cost& cost);

} // namespace shapescript
