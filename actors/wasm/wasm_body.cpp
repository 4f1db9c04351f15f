#include "actors/wasm/wasm_body.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "actors/wasm/execution_state.hpp"
#include "actors/wasm/wasm_state.hpp"
#include "actors/wasm/write_signal.hpp"
#include "base/assert.hpp"
#include "base/nearest.hpp"

namespace moxzi::actors {

namespace {

constexpr char pre_upgrade_export[] = "canister_pre_upgrade";
// What Motoko's compiler names as the callbacks of one-way calls.
constexpr uint64_t no_callback = 0xffff'ffff;

std::shared_ptr<const page_scanner> shared_scanner() {
  static const auto scanner = std::make_shared<const page_scanner>();
  return scanner;
}

/// Code at work: a module, its heap and the instance that joins them.
struct wasm_plant {
  std::shared_ptr<const wasm_code> code; ///< none: the actor has no code
  std::unique_ptr<memory_image> heap;
  std::unique_ptr<wasm_instance> instance; ///< none after a failure to make one anew
  wasm_instance::global_values globals;    ///< as committed
};

class wasm_body final : public actor_body, private pool_task {
public:
  wasm_body(pool_handle pool, wasm_body_options options)
      : pool_(std::move(pool)), options_(std::move(options)), state_(options_.self),
        stable_(std::make_unique<stable_memory>(options_.stable_bytes_max)) {
    // nop
  }
  ~wasm_body() override {
    pool_.cancel(*this);
  }

  void execute(execution_input input, may_call_function may_call,
               std::function<void(execution_output)> done) override;
  void end_query(uint64_t query) override {
    queries_.erase(query);
  }
  void clear() override;

private:
  outcome run_slice(bool is_brief) override;
  // -- beginning; false if nothing is to run: `refusal_` says why, or it is fine
  bool begin();
  bool begin_message();
  bool begin_upgrade();
  bool begin_new_code();
  bool begin_entry();
  bool begin_callback();
  bool resume_query();
  bool go_on();
  bool refuse(std::string_view code, std::string message);
  bool refuse(const error& why);

  // -- code and memory
  result<void> set_up(const std::shared_ptr<const wasm_code>& code);
  result<void> replace_code();
  result<void> load(const wasm_snapshot& from);
  result<void> renew_instance();
  void give_fuel();
  void use(wasm_plant& plant);

  // -- ending
  void conclude(std::optional<trap> why);
  void put_query_aside();
  void commit();
  void undo();
  void undo_messages();
  void restore_old();

  pool_handle pool_;
  wasm_body_options options_;
  execution_state state_;
  wasm_plant now_;
  std::unique_ptr<stable_memory> stable_;
  std::map<uint64_t, wasm_contents> queries_; ///< what open composite queries have changed
  digest_stream digest_;

  // The execution in progress.
  enum class step : uint8_t { waiting, pre_upgrade, start_function, entry };
  step step_ = step::waiting;
  std::optional<wasm_plant> old_; ///< while other code is put in its place
  std::unique_ptr<stable_memory> old_stable_;
  std::optional<trap> refusal_; ///< why the entry did not even begin
  std::function<void(execution_output)> done_;
};

void wasm_body::execute(execution_input input, may_call_function may_call,
                        std::function<void(execution_output)> done) {
  moxzi_assert(!done_, "one execution at a time");
  state_.begin(std::move(input), std::move(may_call));
  done_ = std::move(done);
  step_ = step::waiting;
  refusal_.reset();
  pool_.submit(*this);
}

void wasm_body::clear() {
  now_ = {};
  stable_ = std::make_unique<stable_memory>(options_.stable_bytes_max);
  queries_.clear();
}

// -- beginning -----------------------------------------------------------------

bool wasm_body::refuse(std::string_view code, std::string message) {
  refusal_ = trap{std::string{code}, std::move(message)};
  return false;
}

bool wasm_body::refuse(const error& why) {
  const bool is_memory = why.code == make_error_code(wasm_errc::out_of_memory);
  return refuse(is_memory ? "MX507" : "MX505", why.message);
}

bool wasm_body::begin() {
  const auto& input = state_.input;
  use(now_);
  // An upgrade's limit is for the new code.
  const bool is_upgrade = input.kind == entry_kind::upgrade;
  if (now_.heap) {
    now_.heap->set_limit(is_upgrade ? options_.heap_bytes_max : input.heap_bytes_max);
  }
  switch (input.kind) {
    case entry_kind::init:
      return begin_new_code();
    case entry_kind::upgrade:
      return begin_upgrade();
    case entry_kind::load_snapshot:
      if (auto loaded = load(dynamic_cast<const wasm_snapshot&>(*input.snapshot)); !loaded)
        refuse(loaded.error());
      return false;
    case entry_kind::take_snapshot:
      return false;
    default:
      return begin_message();
  }
}

bool wasm_body::begin_message() {
  if (!now_.code) return refuse("MX537", "there is no code");
  if (!now_.instance)
    if (auto made = renew_instance(); !made) return refuse(made.error());
  if (is_composite(state_.input.kind) && queries_.contains(state_.input.query)) {
    if (!resume_query()) return false;
  }
  give_fuel();
  return begin_entry();
}

// A composite query goes on with what it has changed so far.
bool wasm_body::resume_query() {
  const auto& kept = queries_.at(state_.input.query);
  auto& heap = *now_.heap;
  if (kept.heap.size > heap.size()) {
    if (heap.grow(kept.heap.size) != memory_image::growth::grown)
      return refuse("MX507", "no memory for what the query has changed");
    now_.instance.reset();
    auto made = wasm_instance::make(now_.code->module(), state_);
    if (!made) return refuse(made.error());
    now_.instance = std::move(*made);
  }
  heap.write(kept.heap);
  now_.instance->write_globals(kept.globals);
  if (!stable_->write(kept.stable)) return refuse("MX507", "no memory for stable memory");
  return true;
}

bool wasm_body::begin_upgrade() {
  moxzi_assert(now_.code, "an upgrade needs code");
  if (state_.input.skips_pre_upgrade) return begin_new_code();
  if (!now_.instance)
    if (auto made = renew_instance(); !made) return refuse(made.error());
  give_fuel();
  if (!now_.instance->call(pre_upgrade_export)) return begin_new_code();
  state_.now = context::pre_upgrade;
  step_ = step::pre_upgrade;
  return true;
}

// The old code has had its say; from here on the new one runs.
bool wasm_body::begin_new_code() {
  if (auto made = replace_code(); !made) return refuse(made.error());
  give_fuel();
  if (now_.instance->call(start_export_name)) {
    state_.now = context::start;
    step_ = step::start_function;
    return true;
  }
  return begin_entry();
}

bool wasm_body::begin_entry() {
  const auto& input = state_.input;
  state_.now = execution_state::context_of(input);
  step_ = step::entry;
  switch (input.kind) {
    case entry_kind::update:
    case entry_kind::query:
    case entry_kind::composite_query: {
      if (now_.instance->call(std::string{export_of(input.kind)} + input.method)) return true;
      std::vector<std::string_view> known;
      for (const auto& [name, mode] : now_.code->info().methods) known.push_back(name);
      return refuse("MX536", fmt::format("there is no {} method '{}'{}",
                                         input.kind == entry_kind::update ? "update" : "query",
                                         input.method, did_you_mean(input.method, known)));
    }
    case entry_kind::inspect:
      if (now_.instance->call(std::string{export_of(input.kind)})) return true;
      state_.output.accepted = true;
      return false;
    case entry_kind::init:
    case entry_kind::upgrade:
    case entry_kind::heartbeat:
    case entry_kind::timer:
    case entry_kind::low_memory:
      return now_.instance->call(std::string{export_of(input.kind)});
    default:
      return begin_callback();
  }
}

bool wasm_body::begin_callback() {
  const auto& callback = state_.input.callback;
  if (callback.function == no_callback) return false; // nobody waits: nothing is to run
  if (now_.instance->call(callback)) return true;
  return refuse("MX513", fmt::format("function {} of the table is no callback", callback.function));
}

bool wasm_body::go_on() {
  return step_ == step::pre_upgrade ? begin_new_code() : begin_entry();
}

pool_task::outcome wasm_body::run_slice(bool is_brief) {
  const write_signal::scope writing{&state_.heap};
  bool running = step_ == step::waiting ? begin() : true;
  while (running) {
    if (!now_.instance->poll(is_brief)) return {};
    auto why = now_.instance->take_trap();
    if (why || step_ == step::entry) {
      conclude(std::move(why));
      break;
    }
    running = go_on();
  }
  if (!running) conclude(std::move(refusal_));
  auto done = std::exchange(done_, nullptr);
  auto completion = [done = std::move(done), output = state_.end()]() mutable {
    done(std::move(output));
  };
  return {true, std::move(completion)};
}

// -- code and memory -----------------------------------------------------------

void wasm_body::use(wasm_plant& plant) {
  state_.heap = plant.heap.get();
  state_.stable = stable_.get();
  state_.memory64 = plant.code && plant.code->info().memory64;
}

void wasm_body::give_fuel() {
  state_.fuel_spent = state_.instructions() - state_.charged;
  const auto max = state_.input.instructions_max;
  now_.instance->set_fuel(max - std::min(max, state_.fuel_spent + state_.charged));
}

// An empty heap under the code; nothing of it has run.
result<void> wasm_body::set_up(const std::shared_ptr<const wasm_code>& code) {
  auto heap = memory_image::make(shared_scanner(), options_.heap_bytes_max);
  if (!heap) return heap.error();
  (*heap)->set_limit(state_.input.heap_bytes_max);
  now_ = {code, std::move(*heap), nullptr, {}};
  use(now_);
  return {};
}

// The old plant stays aside until the execution has ended. Where the heap is kept, the new instance
// stands on it as the old code has left it; a failure undoes that together with all else.
result<void> wasm_body::replace_code() {
  const auto& input = state_.input;
  auto code = std::dynamic_pointer_cast<const wasm_code>(input.code);
  moxzi_assert(code != nullptr, "code of another kind");
  const bool keeps_heap = input.kind == entry_kind::upgrade && input.keeps_heap;
  state_.fuel_spent = state_.instructions() - state_.charged;
  state_.fuel_left = nullptr;
  old_ = std::exchange(now_, {});
  if (input.kind == entry_kind::init) {
    old_stable_ = std::move(stable_);
    stable_ = std::make_unique<stable_memory>(options_.stable_bytes_max);
  }
  if (keeps_heap) {
    now_ = {code, std::move(old_->heap), nullptr, {}};
    now_.heap->set_limit(input.heap_bytes_max);
    use(now_);
  } else if (auto set = set_up(code); !set) {
    return set;
  }
  auto made = wasm_instance::make(code->module(), state_);
  if (!made) return made.error();
  now_.instance = std::move(*made);
  return {};
}

result<void> wasm_body::load(const wasm_snapshot& from) {
  const auto& contents = from.contents();
  auto code = std::dynamic_pointer_cast<const wasm_code>(from.code());
  old_ = std::exchange(now_, {});
  old_stable_ = std::move(stable_);
  stable_ = std::make_unique<stable_memory>(options_.stable_bytes_max);
  if (auto set = set_up(code); !set) return set;
  const auto no_memory = [] {
    return fail(wasm_errc::out_of_memory, "no memory for the snapshot");
  };
  if (now_.heap->grow(contents.heap.size) != memory_image::growth::grown) return no_memory();
  auto made = wasm_instance::make(code->module(), state_);
  if (!made) return made.error();
  now_.instance = std::move(*made);
  // What the module placed in its memory by itself goes first.
  now_.heap->discard();
  now_.heap->write(contents.heap);
  now_.instance->write_globals(contents.globals);
  if (!stable_->write(contents.stable)) return no_memory();
  return {};
}

result<void> wasm_body::renew_instance() {
  now_.instance.reset();
  state_.fuel_left = nullptr;
  auto made = wasm_instance::make(now_.code->module(), state_);
  if (!made) return made.error();
  now_.instance = std::move(*made);
  // The module may have placed its data over the actor's.
  now_.heap->rollback();
  now_.instance->write_globals(now_.globals);
  return {};
}

// -- ending --------------------------------------------------------------------

void wasm_body::conclude(std::optional<trap> why) {
  auto& output = state_.output;
  const auto& input = state_.input;
  output.instructions = state_.instructions();
  if (!why && output.instructions > input.instructions_max)
    why = trap{"MX522", state_.limit_text()};
  // Code that stands on the heap of the old one can find it above the limit.
  if (!why && now_.heap && !is_discarded(input.kind) && now_.heap->size() > input.heap_bytes_max)
    why = trap{"MX539", fmt::format("the heap has {} bytes and may have {}", now_.heap->size(),
                                    input.heap_bytes_max)};
  if (why) {
    execution_output failed;
    failed.trapped = std::move(why);
    failed.instructions = output.instructions;
    failed.debug_lines = std::move(output.debug_lines);
    output = std::move(failed);
    undo();
  } else if (input.kind == entry_kind::take_snapshot) {
    output.snapshot = std::make_shared<wasm_snapshot>(
      now_.code, wasm_contents{now_.heap->committed_pages(), stable_->whole(), now_.globals});
  } else if (is_discarded(input.kind)) {
    if (is_composite(input.kind)) put_query_aside();
    undo();
  } else {
    commit();
  }
  output.heap_bytes = now_.heap ? now_.heap->committed_size() : 0;
  output.stable_bytes = stable_->size();
}

void wasm_body::put_query_aside() {
  auto& kept = queries_[state_.input.query];
  kept.heap = now_.heap->capture();
  kept.stable = stable_->capture();
  now_.instance->read_globals(kept.globals);
}

void wasm_body::commit() {
  old_.reset();
  old_stable_.reset();
  digest_.reset();
  state_.output.dirty_pages = now_.heap->commit(digest_);
  uint64_t size = now_.heap->size();
  digest_.update({reinterpret_cast<const char*>(&size), sizeof size});
  auto& globals = now_.globals;
  now_.instance->read_globals(globals);
  digest_.update(
    {reinterpret_cast<const char*>(globals.data()), globals.size() * sizeof(globals[0])});
  stable_->commit(digest_);
  state_.output.state_digest = digest_.value();
}

void wasm_body::undo() {
  if (old_) restore_old();
  stable_->rollback();
  if (now_.heap) undo_messages();
}

// What was to take the old code's place goes; its heap comes back where the new code stood on it.
void wasm_body::restore_old() {
  state_.fuel_left = nullptr;
  if (state_.input.kind == entry_kind::upgrade && state_.input.keeps_heap) {
    old_->heap = std::move(now_.heap);
  }
  now_.instance.reset();
  now_ = *std::move(old_);
  old_.reset();
  if (old_stable_) stable_ = std::move(old_stable_);
  use(now_);
}

void wasm_body::undo_messages() {
  // The engine cannot shrink a memory, and keeps a stack once it has one.
  const bool is_spent =
    now_.instance
    && (now_.heap->size() > now_.heap->committed_size() || now_.instance->stack_exhausted());
  now_.heap->rollback();
  if (is_spent)
    // If that fails now, the next execution tries again and says why.
    static_cast<void>(renew_instance());
  else if (now_.instance)
    now_.instance->write_globals(now_.globals);
}

} // namespace

std::unique_ptr<actor_body> make_wasm_body(pool_handle pool, wasm_body_options options) {
  return std::make_unique<wasm_body>(std::move(pool), std::move(options));
}

} // namespace moxzi::actors
