#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/wasm/engine.hpp"
#include "actors/wasm/execution_state.hpp"
#include "actors/wasm/wasmtime_handles.hpp"

namespace moxzi::actors {

/// A module brought to life: store, functions, globals and table of one actor. Calls are made in
/// slices. One thread at a time, which may be another for each slice.
class wasm_instance {
public:
  /// Instructions of one slice: about two milliseconds.
  static constexpr uint64_t slice_instructions = 2'000'000;
  /// Those of a brief one: about 50 microseconds.
  static constexpr uint64_t brief_slice_instructions = 50'000;

  /// Makes one whose memory is `state.heap`, at the size it has (or the module's minimum).
  /// Nothing of the module runs; data that it places in the memory by itself is there.
  static result<std::unique_ptr<wasm_instance>> make(std::shared_ptr<const compiled_module> module,
                                                     execution_state& state);

  /// Instructions that the calls from now on may take together; `execution_state` counts this
  /// instance's from now on.
  void set_fuel(uint64_t instructions);
  uint64_t fuel_left() const;

  /// True if there is an export of that name that can be called.
  bool has_function(const std::string& name);
  /// Begins a call of an exported function `() -> ()`; false if there is none.
  bool call(const std::string& name);
  /// Begins a call of a function of the table with one argument; false if there is none.
  bool call(const closure& target);
  /// Goes on with the call for one slice. True if it has ended.
  bool poll(bool is_brief);
  /// Why the call that ended did so, if it trapped.
  std::optional<trap> take_trap();
  /// True if a call of this instance used up its stack.
  bool stack_exhausted() const noexcept {
    return stack_exhausted_;
  }

  /// Values of all mutable globals, as bits.
  using global_values = std::vector<uint64_t>;
  void read_globals(global_values& values) const;
  void write_globals(const global_values& values);

private:
  wasm_instance(std::shared_ptr<const compiled_module> module, execution_state& state);
  result<void> instantiate();
  void set_slice(uint64_t instructions);
  void begin(const wasmtime_func_t& function, size_t argument_count);

  std::shared_ptr<const compiled_module> module_;
  execution_state& state_;
  store_ptr store_;
  wasmtime_context_t* context_ = nullptr;
  wasmtime_instance_t instance_{};
  std::vector<wasmtime_global_t> globals_;
  std::vector<wasmtime_valkind_t> global_kinds_;
  std::optional<wasmtime_table_t> table_;

  // Of the call in progress; the engine holds pointers to them until the future is deleted.
  wasmtime_func_t function_{};
  wasmtime_val_t argument_{};
  wasm_trap_t* trap_ = nullptr;
  wasmtime_error_t* error_ = nullptr;
  call_future_ptr future_;
  bool stack_exhausted_ = false;
  uint64_t slice_ = 0; ///< instructions, as the engine knows
};

} // namespace moxzi::actors
