#pragma once

#include <memory>

#include "actors/wasm/dirty_pages.hpp"
#include "actors/wasm/engine.hpp"
#include "actors/wasm/memory_image.hpp"
#include "actors/wasm/wasmtime_handles.hpp"

namespace moxzi::actors {

/// The engine with the system calls defined, once for each width of addresses.
struct wasm_engine::internals {
  engine_ptr engine;
  linker_ptr linker32;
  linker_ptr linker64;
};

/// A compiled module, its imports resolved. Members are destroyed in reverse: the engine last.
struct compiled_module::internals {
  std::shared_ptr<wasm_engine::internals> engine;
  module_info info;
  sha256_hash hash{};
  module_ptr module;
  instance_pre_ptr ready;
};

/// While one lives, memories made on this thread work on `image`. The engine's memory creator has
/// no other way to learn for whom it makes a memory.
class image_attachment {
public:
  explicit image_attachment(memory_image& image) noexcept;
  ~image_attachment();
  image_attachment(const image_attachment&) = delete;
  image_attachment& operator=(const image_attachment&) = delete;
};

} // namespace moxzi::actors
