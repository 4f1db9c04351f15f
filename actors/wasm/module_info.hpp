#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "actors/module_parts.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace moxzi::actors {

/// What may be wrong with a module.
enum class wasm_errc : int {
  invalid_module = 1, ///< not a wasm module, or one that an actor may not be (MX505)
  over_limit = 2,     ///< more functions, globals, methods or bytes than are allowed
  unknown_import = 3, ///< asks for a system call that does not exist, or of another type
  engine = 4,         ///< the wasm engine refused; its text follows
  out_of_memory = 5,  ///< the operating system gave no memory
};

const std::error_category& wasm_category() noexcept;

inline std::error_code make_error_code(wasm_errc code) noexcept {
  return {static_cast<int>(code), wasm_category()};
}

/// What is known of a module without running it.
struct module_info {
  bool has_memory = false;
  /// Width of the memory's addresses, and so of every pointer in a system call.
  bool memory64 = false;
  uint64_t memory_pages_min = 0;
  /// Mutable globals, in order; `prepare_module` exports the n-th as `global_export_name(n)`.
  size_t mutable_globals = 0;
  bool has_table = false;
  /// Start function, detached by `prepare_module` and exported as `start_export_name`.
  bool has_start = false;
  std::map<std::string, method_mode> methods;
  /// `canister_init`, `canister_heartbeat` and the others without a method name.
  std::set<std::string> entry_points;
  std::map<std::string, module_metadata> metadata;
};

/// Names that no module may use itself.
inline constexpr char start_export_name[] = "\1start";
inline constexpr char table_export_name[] = "\1table";
std::string global_export_name(size_t number);

/// A module made ready for hosting, and what is known of it.
struct prepared_module {
  byte_string code;
  module_info info;
};

/// Checks the rules for an actor's module (Internet Computer interface specification, "Canister
/// module format", and our own limits) and rewrites it: every mutable global and the table are
/// exported, so that they can be saved and reached, and the start section is taken out and its
/// function exported instead, so that an instance can be made without running it.
///
/// `wasm` may come from anyone. Only what the rewriting needs is checked here; the engine validates
/// the rest when it compiles.
result<prepared_module> prepare_module(byte_view wasm);

/// True for the methods that the Motoko compiler adds for its own use: left out of listings and
/// not for callers from outside, but an actor may call them on itself.
bool is_internal_method(std::string_view name) noexcept;

} // namespace moxzi::actors

template <>
struct std::is_error_code_enum<moxzi::actors::wasm_errc> : std::true_type {};
