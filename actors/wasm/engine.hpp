#pragma once

#include <memory>
#include <string>

#include "actors/wasm/module_info.hpp"
#include "base/digest.hpp"
#include "base/result.hpp"

namespace moxzi::actors {

class page_scanner;
class wasm_instance;

/// A module's machine code. Immutable, used by any number of actors and threads at once.
class compiled_module {
public:
  struct internals;
  explicit compiled_module(std::unique_ptr<internals> parts);
  ~compiled_module();

  const module_info& info() const noexcept;
  /// SHA-256 of the module as it was given.
  const sha256_hash& hash() const noexcept;
  /// What `wasm_engine::load` takes: the machine code, bound to this module and engine.
  result<byte_string> artifact() const;

private:
  friend class wasm_instance;
  std::unique_ptr<internals> parts_;
};

/// The wasm engine, one a process: deterministic (fuel counted, NaNs canonical, no threads or
/// relaxed SIMD), with linear memories that can be committed and undone. Thread-safe.
class wasm_engine {
public:
  static result<std::shared_ptr<wasm_engine>> make();
  ~wasm_engine();

  /// Checks, prepares and compiles a module that may come from anyone. Takes about a second per
  /// megabyte, on all cores.
  result<std::shared_ptr<const compiled_module>> compile(byte_view wasm);

  /// As `compile`, with machine code from an earlier `artifact()` of the same module. The artifact
  /// must come from a place that only this program writes: it is run as it is. One of another
  /// module or engine version is refused.
  result<std::shared_ptr<const compiled_module>> load(byte_view wasm, byte_view artifact);

  /// Changes where instructions are counted or compiled differently; kept with stored state.
  static std::string version();

  struct internals;

private:
  wasm_engine();
  std::shared_ptr<internals> parts_;
};

/// Turns the text format into the binary one.
result<byte_string> wasm_from_text(std::string_view text);

} // namespace moxzi::actors
