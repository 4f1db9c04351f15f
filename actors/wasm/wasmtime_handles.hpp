#pragma once

#include <memory>
#include <string>

#include <wasm.h>
#include <wasmtime.h>

/// Owning pointers to the engine's objects, and their texts. For the sources of this folder only.
namespace moxzi::actors {

template <auto Delete>
struct deleter {
  template <class T>
  void operator()(T* object) const noexcept {
    Delete(object);
  }
};

using engine_ptr = std::unique_ptr<wasm_engine_t, deleter<wasm_engine_delete>>;
using store_ptr = std::unique_ptr<wasmtime_store_t, deleter<wasmtime_store_delete>>;
using module_ptr = std::unique_ptr<wasmtime_module_t, deleter<wasmtime_module_delete>>;
using linker_ptr = std::unique_ptr<wasmtime_linker_t, deleter<wasmtime_linker_delete>>;
using instance_pre_ptr =
  std::unique_ptr<wasmtime_instance_pre_t, deleter<wasmtime_instance_pre_delete>>;
using call_future_ptr =
  std::unique_ptr<wasmtime_call_future_t, deleter<wasmtime_call_future_delete>>;
using error_ptr = std::unique_ptr<wasmtime_error_t, deleter<wasmtime_error_delete>>;
using trap_ptr = std::unique_ptr<wasm_trap_t, deleter<wasm_trap_delete>>;
using functype_ptr = std::unique_ptr<wasm_functype_t, deleter<wasm_functype_delete>>;

/// The text of an error or trap.
inline std::string text_of(const wasmtime_error_t* error) {
  wasm_byte_vec_t bytes;
  wasmtime_error_message(error, &bytes);
  std::string text{bytes.data, bytes.size};
  wasm_byte_vec_delete(&bytes);
  return text;
}

inline std::string text_of(const wasm_trap_t* trap) {
  wasm_byte_vec_t bytes;
  wasm_trap_message(trap, &bytes);
  std::string text{bytes.data, bytes.size};
  wasm_byte_vec_delete(&bytes);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

} // namespace moxzi::actors
