#pragma once

#include <memory>

#include "actors/wasm/instance.hpp"
#include "actors/wasm/memory_image.hpp"
#include "actors/wasm/stable_memory.hpp"
#include "actors/wasm/wasm_code.hpp"

namespace moxzi::actors {

/// What changes about a wasm actor, put aside: all of it in a snapshot, or what a composite query
/// has changed since the last commit.
struct wasm_contents {
  memory_image::difference heap;
  stable_memory::contents stable;
  wasm_instance::global_values globals;
};

/// A snapshot of a wasm actor.
class wasm_snapshot final : public body_state {
public:
  wasm_snapshot(std::shared_ptr<const wasm_code> code, wasm_contents contents)
      : code_(std::move(code)), contents_(std::move(contents)) {
    // nop
  }

  uint64_t bytes() const override {
    return contents_.heap.size + contents_.stable.size + 8 * contents_.globals.size();
  }
  code_ptr code() const override {
    return code_;
  }
  const wasm_contents& contents() const noexcept {
    return contents_;
  }

private:
  std::shared_ptr<const wasm_code> code_;
  wasm_contents contents_;
};

} // namespace moxzi::actors
