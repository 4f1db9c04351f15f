#pragma once

#include <cstdint>

#include "base/bytes.hpp"

namespace moxzi::actors {

/// How a method is exported, and so how it can be called.
enum class method_mode : uint8_t { update, query, composite_query };

/// A custom section `icp:public NAME` or `icp:private NAME`.
struct module_metadata {
  bool is_public = false;
  byte_string contents;
};

/// What a module takes up, in bytes.
struct code_sizes {
  uint64_t module_bytes = 0;  ///< as it was given: compressed, if it was
  uint64_t section_bytes = 0; ///< of the custom sections that can be asked for
  uint64_t global_bytes = 0;  ///< of its global variables
};

} // namespace moxzi::actors
