// Modules that come from anyone: preparing one ends, stays inside its input, and what it gives is
// prepared again only as far as its own additions allow.

#include <cstdlib>

#include "actors/wasm/module_info.hpp"

using namespace moxzi;
using namespace moxzi::actors;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto prepared = prepare_module({reinterpret_cast<const char*>(data), size});
  if (!prepared) {
    if (prepared.error().message.empty()) std::abort();
    return 0;
  }
  const auto& info = prepared->info;
  bool has_additions = info.mutable_globals > 0 || info.has_table || info.has_start;
  // The host's own names are refused in a module that is given.
  if (has_additions == prepare_module(prepared->code).has_value()) std::abort();
  return 0;
}
