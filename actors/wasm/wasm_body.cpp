#include "actors/wasm/wasm_body.hpp"

#include <deque>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "actors/wasm/execution_state.hpp"
#include "actors/wasm/instance.hpp"
#include "actors/wasm/memory_image.hpp"
#include "actors/wasm/stable_memory.hpp"
#include "base/assert.hpp"
#include "base/nearest.hpp"

namespace moxzi::actors {

namespace {

std::shared_ptr<const page_scanner> shared_scanner() {
  static const auto scanner = std::make_shared<const page_scanner>();
  return scanner;
}

class wasm_body final : public actor_body, private pool_task {
public:
  wasm_body(std::shared_ptr<const compiled_module> module, pool_handle pool,
            std::unique_ptr<memory_image> heap, const wasm_body_options& options)
      : module_(std::move(module)), pool_(std::move(pool)), heap_(std::move(heap)),
        stable_(options.stable_bytes_max),
        state_(options.self, module_->info().memory64, *heap_, stable_) {
    // nop
  }
  ~wasm_body() override {
    pool_.cancel(*this);
  }

  /// Makes the first instance; what it finds in its memory is the state before `init`.
  result<void> start();

  bool has_update(const std::string& method) const override {
    return has_method(method, method_mode::update);
  }
  bool has_query(const std::string& method) const override {
    return has_method(method, method_mode::query);
  }
  bool has_entry(entry_kind kind) const override;
  void execute(execution_input input, may_call_function may_call,
               std::function<void(execution_output)> done) override;

private:
  bool has_method(const std::string& method, method_mode mode) const;
  outcome run_slice() override;
  bool begin();
  bool begin_entry();
  bool refuse(std::string_view code, std::string message);
  result<void> renew_instance();
  void conclude(std::optional<trap> why);
  void commit();
  void undo();

  std::shared_ptr<const compiled_module> module_;
  pool_handle pool_;
  std::unique_ptr<memory_image> heap_;
  stable_memory stable_;
  execution_state state_;
  std::unique_ptr<wasm_instance> instance_; // none after a failure to make one anew
  wasm_instance::global_values globals_;    // as committed
  digest_stream digest_;

  // The execution in progress.
  enum class step : uint8_t { waiting, start_function, entry };
  step step_ = step::waiting;
  std::optional<trap> refusal_; // why the entry did not even begin
  std::function<void(execution_output)> done_;
};

std::string_view export_of(entry_kind kind) {
  switch (kind) {
    case entry_kind::init:
      return "canister_init";
    case entry_kind::pre_upgrade:
      return "canister_pre_upgrade";
    case entry_kind::post_upgrade:
      return "canister_post_upgrade";
    case entry_kind::update:
      return "canister_update ";
    case entry_kind::query:
      return "canister_query ";
    case entry_kind::inspect:
      return "canister_inspect_message";
    case entry_kind::heartbeat:
      return "canister_heartbeat";
    case entry_kind::timer:
      return "canister_global_timer";
    default:
      return {};
  }
}

result<void> wasm_body::start() {
  auto made = wasm_instance::make(module_, state_);
  if (!made) return made.error();
  instance_ = std::move(*made);
  instance_->read_globals(globals_);
  digest_.reset();
  heap_->commit(digest_);
  return {};
}

bool wasm_body::has_method(const std::string& method, method_mode mode) const {
  const auto& methods = module_->info().methods;
  auto found = methods.find(method);
  return found != methods.end() && found->second == mode;
}

bool wasm_body::has_entry(entry_kind kind) const {
  return module_->info().entry_points.contains(std::string{export_of(kind)});
}

void wasm_body::execute(execution_input input, may_call_function may_call,
                        std::function<void(execution_output)> done) {
  moxzi_assert(!done_, "one execution at a time");
  state_.begin(std::move(input), std::move(may_call));
  done_ = std::move(done);
  step_ = step::waiting;
  refusal_.reset();
  pool_.submit(*this);
}

bool wasm_body::refuse(std::string_view code, std::string message) {
  refusal_ = trap{std::string{code}, std::move(message)};
  return false;
}

// False if there is nothing to run: no such entry, which is fine for some kinds.
bool wasm_body::begin_entry() {
  const auto& input = state_.input;
  state_.now = execution_state::context_of(input.kind);
  step_ = step::entry;
  switch (input.kind) {
    case entry_kind::update:
    case entry_kind::query: {
      if (instance_->call(std::string{export_of(input.kind)} + input.method)) return true;
      std::vector<std::string_view> known;
      for (const auto& [name, mode] : module_->info().methods) known.push_back(name);
      return refuse("MX536", fmt::format("there is no {} method '{}'{}",
                                         input.kind == entry_kind::update ? "update" : "query",
                                         input.method, did_you_mean(input.method, known)));
    }
    case entry_kind::reply_callback:
    case entry_kind::reject_callback:
    case entry_kind::cleanup_callback:
      if (instance_->call(input.callback)) return true;
      return refuse(
        "MX513", fmt::format("function {} of the table is no callback", input.callback.function));
    case entry_kind::inspect:
      if (instance_->call(std::string{export_of(input.kind)})) return true;
      state_.output.accepted = true;
      return false;
    default:
      return instance_->call(std::string{export_of(input.kind)});
  }
}

bool wasm_body::begin() {
  if (!instance_)
    if (auto made = renew_instance(); !made) return refuse("MX507", made.error().message);
  instance_->set_fuel(state_.input.instructions_max);
  bool is_new_code =
    state_.input.kind == entry_kind::init || state_.input.kind == entry_kind::post_upgrade;
  if (is_new_code && instance_->call(start_export_name)) {
    state_.now = context::start;
    step_ = step::start_function;
    return true;
  }
  return begin_entry();
}

pool_task::outcome wasm_body::run_slice() {
  bool running = step_ == step::waiting ? begin() : true;
  while (running) {
    if (!instance_->poll()) return {};
    auto why = instance_->take_trap();
    if (why || step_ == step::entry) {
      conclude(std::move(why));
      break;
    }
    running = begin_entry();
  }
  if (!running) conclude(std::move(refusal_));
  auto done = std::exchange(done_, nullptr);
  auto completion = [done = std::move(done), output = state_.end()]() mutable {
    done(std::move(output));
  };
  return {true, std::move(completion)};
}

void wasm_body::conclude(std::optional<trap> why) {
  auto& output = state_.output;
  if (instance_) output.instructions = state_.instructions();
  if (!why && output.instructions > state_.input.instructions_max)
    why = trap{"MX522", state_.limit_text()};
  if (why) {
    execution_output failed;
    failed.trapped = std::move(why);
    failed.instructions = output.instructions;
    failed.debug_lines = std::move(output.debug_lines);
    output = std::move(failed);
    undo();
  } else if (is_discarded(state_.input.kind)) {
    undo();
  } else {
    commit();
  }
  output.heap_bytes = heap_->committed_size();
}

void wasm_body::commit() {
  digest_.reset();
  heap_->commit(digest_);
  uint64_t size = heap_->size();
  digest_.update({reinterpret_cast<const char*>(&size), sizeof size});
  instance_->read_globals(globals_);
  digest_.update(
    {reinterpret_cast<const char*>(globals_.data()), globals_.size() * sizeof(globals_[0])});
  stable_.commit(digest_);
  state_.output.state_digest = digest_.value();
}

void wasm_body::undo() {
  // The engine cannot shrink a memory, and keeps a stack once it has one.
  bool is_spent =
    instance_ && (heap_->size() > heap_->committed_size() || instance_->stack_exhausted());
  heap_->rollback();
  stable_.rollback();
  if (is_spent)
    // If that fails now, the next execution tries again and says why.
    static_cast<void>(renew_instance());
  else if (instance_)
    instance_->write_globals(globals_);
}

result<void> wasm_body::renew_instance() {
  instance_.reset();
  auto made = wasm_instance::make(module_, state_);
  if (!made) return made.error();
  instance_ = std::move(*made);
  // The module may have placed its data over the actor's.
  heap_->rollback();
  instance_->write_globals(globals_);
  return {};
}

} // namespace

result<std::unique_ptr<actor_body>> make_wasm_body(std::shared_ptr<const compiled_module> module,
                                                   const wasm_pool& pool,
                                                   wasm_body_options options) {
  auto heap = memory_image::make(shared_scanner(), options.heap_bytes_max);
  if (!heap) return heap.error();
  auto body =
    std::make_unique<wasm_body>(std::move(module), pool.handle(), std::move(*heap), options);
  if (auto started = body->start(); !started) return started.error();
  return body;
}

} // namespace moxzi::actors
