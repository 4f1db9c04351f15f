#pragma once

#include <memory>

#include "actors/body.hpp"
#include "actors/wasm/engine.hpp"

namespace moxzi::actors {

/// A compiled module as the code of actors.
class wasm_code final : public actor_code {
public:
  /// `hash` and `bytes` are those of the module as it was given, which may have been compressed.
  wasm_code(std::shared_ptr<const compiled_module> module, const sha256_hash& hash, uint64_t bytes)
      : module_(std::move(module)), hash_(hash), bytes_(bytes) {
    // nop
  }
  /// A module whose size is of no interest.
  explicit wasm_code(std::shared_ptr<const compiled_module> module)
      : module_(std::move(module)), hash_(module_->hash()) {
    // nop
  }

  const std::shared_ptr<const compiled_module>& module() const noexcept {
    return module_;
  }
  const module_info& info() const noexcept {
    return module_->info();
  }

  std::optional<method_mode> find_method(const std::string& method) const override;
  bool has_entry(entry_kind kind) const override;
  std::map<std::string, method_mode> methods() const override;
  const module_metadata* find_metadata(const std::string& name) const override;
  bool keeps_heap() const override;
  sha256_hash hash() const override {
    return hash_;
  }
  code_sizes sizes() const override;

private:
  std::shared_ptr<const compiled_module> module_;
  sha256_hash hash_;
  uint64_t bytes_ = 0;
};

/// The name under which a module exports an entry; those of methods end with a space.
std::string_view export_of(entry_kind kind) noexcept;

} // namespace moxzi::actors
