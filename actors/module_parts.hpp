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

} // namespace moxzi::actors
