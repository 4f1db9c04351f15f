#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shapescript/lower/cost.hpp"

namespace shapescript {

/// How the devices hold what an expression of a device function stands for, a name that is assigned
/// too; empty if that is nothing that they hold.
std::string placement_of(const typed_tree& program, const function_cost& cost, expr_id id,
                         const type& known);

/// How the devices hold what is of this type where no function computes it: a model, the state of
/// an optimizer, the batch of a controller's loop; empty of anything else.
std::string placement_of(const typed_tree& program, const type& known);

/// What the device functions that a controller calls in a statement send for it.
struct called_costs {
  std::vector<line_traffic> sent;
  std::vector<std::pair<std::string, int64_t>> sizes; ///< that the numbers are for
  std::optional<lowering_fault> fault;                ///< why they are not known
};
called_costs costs_of_calls(const typed_tree& program, uint32_t controller, span statement,
                            const cost_options& options);

} // namespace shapescript
