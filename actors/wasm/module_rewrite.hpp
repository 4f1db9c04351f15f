#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"

namespace moxzi::actors {

/// Numbers of a module's sections.
namespace sections {
enum : uint8_t {
  custom = 0,
  type = 1,
  import = 2,
  function = 3,
  table = 4,
  memory = 5,
  global = 6,
  exports = 7,
  start = 8,
  code = 10,
  tag = 13, // stands before the globals
};
} // namespace sections

/// What a module is to export besides what it does.
struct module_additions {
  std::vector<uint64_t> mutable_globals;
  bool table = false;
  std::optional<uint64_t> start;
};

/// Exports what is asked for, under the host's names, and takes the start section out. The list of
/// sections must have been read before and be well-formed.
byte_string rewrite_module(byte_view wasm, const module_additions& additions);

} // namespace moxzi::actors
