#include "actors/wasm/wasm_factory.hpp"

#include "actors/wasm/gunzip.hpp"
#include "actors/wasm/wasm_body.hpp"

namespace moxzi::actors {

wasm_factory::wasm_factory(wasm_factory_options options) : options_(std::move(options)) {
  thread_ = std::thread{[this] { work(); }};
}

wasm_factory::~wasm_factory() {
  {
    const std::lock_guard held{mutex_};
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::unique_ptr<actor_body> wasm_factory::make_body(const principal& self) {
  return make_wasm_body(options_.pool, {self, options_.heap_bytes_max, options_.stable_bytes_max});
}

void wasm_factory::prepare(byte_string module, std::function<void(result<prepared_code>)> done) {
  {
    const std::lock_guard held{mutex_};
    if (stopping_) return;
    jobs_.push_back({std::move(module), std::move(done)});
  }
  changed_.notify_one();
}

void wasm_factory::work() {
  std::unique_lock held{mutex_};
  for (;;) {
    changed_.wait(held, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    auto next = std::move(jobs_.front());
    jobs_.pop_front();
    held.unlock();
    next.done(prepare_now(next.module));
    next = {};
    held.lock();
  }
}

result<prepared_code> wasm_factory::prepare_now(byte_view module) {
  const std::lock_guard held{compiling_};
  // The hash is that of what was given: compressed modules have a hash of their own.
  const auto hash = sha256(module);
  if (const auto at = known_.find(hash); at != known_.end()) {
    if (auto code = at->second.lock()) return prepared_code{std::move(code)};
  }
  byte_string unpacked;
  byte_view wasm = module;
  if (is_gzip(module)) {
    auto got = gunzip(module, limits::module_bytes_max);
    if (!got) return got.error();
    unpacked = *std::move(got);
    wasm = unpacked;
  }
  auto compiled = options_.compile(wasm);
  if (!compiled) return compiled.error();
  auto code = std::make_shared<const wasm_code>(*std::move(compiled), hash, module.size());
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  known_.insert_or_assign(hash, code);
  return prepared_code{std::move(code)};
}

} // namespace moxzi::actors
