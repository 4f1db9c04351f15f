#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "actors/body.hpp"
#include "actors/wasm/engine.hpp"
#include "actors/wasm/wasm_code.hpp"
#include "actors/wasm/wasm_pool.hpp"
#include "base/limits.hpp"

namespace moxzi::actors {

/// What a wasm factory makes its actors of.
struct wasm_factory_options {
  pool_handle pool; ///< runs them
  /// Compiles a module, or finds it in a cache. Used on the factory's thread only.
  std::function<result<std::shared_ptr<const compiled_module>>(byte_view)> compile;
  uint64_t heap_bytes_max = limits::heap_bytes_max;
  uint64_t stable_bytes_max = limits::stable_bytes_max;
};

/// Makes code of wasm modules on a thread of its own. A module that some actor still has, or had
/// in a snapshot, is not compiled again.
class wasm_factory final : public code_factory {
public:
  explicit wasm_factory(wasm_factory_options options);
  /// Modules that still wait are given up: their `done` is not called.
  ~wasm_factory() override;
  wasm_factory(const wasm_factory&) = delete;
  wasm_factory& operator=(const wasm_factory&) = delete;

  std::unique_ptr<actor_body> make_body(const principal& self) override;
  void prepare(byte_string module, std::function<void(result<prepared_code>)> done) override;

  /// The same at once, on the caller's thread.
  result<prepared_code> prepare_now(byte_view module);

private:
  struct job {
    byte_string module;
    std::function<void(result<prepared_code>)> done;
  };
  void work();

  wasm_factory_options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<job> jobs_;
  std::mutex compiling_;
  std::map<sha256_hash, std::weak_ptr<const wasm_code>> known_;
  std::thread thread_;
};

} // namespace moxzi::actors
