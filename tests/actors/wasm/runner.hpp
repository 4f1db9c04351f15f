#pragma once

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "actors/wasm/engine.hpp"
#include "actors/wasm/wasm_body.hpp"
#include "actors/wasm/wasm_code.hpp"
#include "actors/wasm/wasm_pool.hpp"

namespace moxzi::actors {

/// Long enough for a slow machine under a sanitizer; only reached when something hangs.
inline constexpr std::chrono::seconds liveness{60};

inline std::shared_ptr<wasm_engine> test_engine() {
  static auto engine = *wasm_engine::make();
  return engine;
}

inline wasm_pool& test_pool() {
  static wasm_pool pool{2};
  return pool;
}

inline std::shared_ptr<const compiled_module> compile_text(const std::string& text) {
  auto wasm = wasm_from_text(text);
  EXPECT_TRUE(wasm) << (wasm ? "" : wasm.error().message);
  auto module = test_engine()->compile(*wasm);
  EXPECT_TRUE(module) << (module ? "" : module.error().message);
  return *module;
}

inline code_ptr code_of(std::shared_ptr<const compiled_module> module) {
  return std::make_shared<const wasm_code>(std::move(module));
}

/// An execution in progress.
class pending {
public:
  pending(actor_body& body, execution_input input, may_call_function may_call = {}) {
    body.execute(std::move(input), std::move(may_call), [shared = shared_](execution_output out) {
      std::lock_guard held{shared->mutex};
      shared->output = std::move(out);
      shared->ended.notify_all();
    });
  }
  bool has_ended() const {
    std::lock_guard held{shared_->mutex};
    return shared_->output.has_value();
  }
  execution_output wait() const {
    std::unique_lock held{shared_->mutex};
    if (!shared_->ended.wait_for(held, liveness, [this] { return shared_->output.has_value(); })) {
      ADD_FAILURE() << "the execution does not end";
      std::abort();
    }
    return *shared_->output;
  }

private:
  struct shared {
    std::mutex mutex;
    std::condition_variable ended;
    std::optional<execution_output> output;
  };
  std::shared_ptr<shared> shared_ = std::make_shared<shared>();
};

inline execution_input input_of(entry_kind kind, std::string method = {},
                                byte_string argument = {}) {
  execution_input input;
  input.kind = kind;
  input.method = std::move(method);
  input.argument = std::move(argument);
  input.caller = principal::anonymous();
  input.instructions_max = 1'000'000'000;
  input.balance.value = 1'000'000;
  input.can_answer = true;
  input.is_replicated = kind != entry_kind::query && !is_composite(kind);
  input.time_ns = 1'700'000'000'000'000'000;
  return input;
}

/// An installation of `module` where there was no code.
inline execution_input install_of(std::shared_ptr<const compiled_module> module,
                                  byte_string argument = {}) {
  auto input = input_of(entry_kind::init, {}, std::move(argument));
  input.code = code_of(std::move(module));
  return input;
}

inline principal self_id() {
  return principal::of_actor("fixture");
}

/// An actor under test; checks that its installation succeeds.
class subject {
public:
  explicit subject(std::shared_ptr<const compiled_module> module,
                   uint64_t heap_bytes_max = limits::heap_bytes_max, byte_string argument = {}) {
    body = make_wasm_body(test_pool().handle(), {self_id(), heap_bytes_max, 1ull << 30});
    code = code_of(std::move(module));
    installed = install(entry_kind::init, code, std::move(argument));
    EXPECT_FALSE(installed.trapped) << installed.trapped->message;
  }

  execution_output run(execution_input input, may_call_function may_call = {}) {
    return pending{*body, std::move(input), std::move(may_call)}.wait();
  }
  execution_output update(std::string method, byte_string argument = {}) {
    return run(input_of(entry_kind::update, std::move(method), std::move(argument)));
  }
  execution_output query(std::string method, byte_string argument = {}) {
    return run(input_of(entry_kind::query, std::move(method), std::move(argument)));
  }

  /// Puts code in place: `init` or `upgrade`.
  execution_output install(entry_kind kind, code_ptr what, byte_string argument = {},
                           bool keeps_heap = false) {
    auto input = input_of(kind, {}, std::move(argument));
    input.code = std::move(what);
    input.keeps_heap = keeps_heap;
    input.can_answer = false;
    return run(std::move(input));
  }

  std::unique_ptr<actor_body> body;
  code_ptr code;
  execution_output installed;
};

/// Memory of the process that is in use, in bytes; 0 under the thread sanitizer, whose own records
/// of every page touched stay.
inline size_t resident_bytes() {
#if defined(__SANITIZE_THREAD__)
  return 0;
#else
  std::ifstream statm{"/proc/self/statm"};
  size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
#endif
}

/// The reply's bytes; fails the test if there is no reply.
inline byte_string reply_of(const execution_output& output) {
  EXPECT_FALSE(output.trapped) << output.trapped->error_code << " " << output.trapped->message;
  if (!output.answer || !std::holds_alternative<reply_value>(*output.answer)) {
    ADD_FAILURE() << "no reply";
    return {};
  }
  return std::get<reply_value>(*output.answer).argument;
}

/// The reply as a little-endian number of 8 bytes.
inline uint64_t number_of(const execution_output& output) {
  auto bytes = reply_of(output);
  EXPECT_EQ(bytes.size(), 8u);
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min<size_t>(bytes.size(), 8));
  return value;
}

inline std::string trap_code(const execution_output& output) {
  return output.trapped ? output.trapped->error_code : "no trap";
}

} // namespace moxzi::actors
