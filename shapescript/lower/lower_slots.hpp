#pragma once

#include <vector>

#include "shapescript/lower/lowering.hpp"

namespace shapescript {

/// The arguments of a builtin, by its parameters. Those that no parameter takes are in `rest`.
struct lowering::call_slots {
  std::vector<lowered_argument*> all;
  std::vector<lowered_argument*> rest;
  span where;
};

} // namespace shapescript
