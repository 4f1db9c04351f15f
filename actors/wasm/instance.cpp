#include "actors/wasm/instance.hpp"

#include <bit>
#include <utility>

#include "actors/wasm/engine_internals.hpp"
#include "actors/wasm/trap_text.hpp"
#include "base/assert.hpp"

namespace moxzi::actors {

namespace {

constexpr int64_t table_elements_max = 1'000'000;
constexpr int64_t tables_max = 10;
// Enough for what instantiation itself counts; the module's own code does not run then.
constexpr uint64_t instantiation_fuel = 1'000'000'000;

void must(wasmtime_error_t* error) {
  error_ptr owned{error};
  moxzi_assert(!owned, "{}", text_of(owned.get()));
}

} // namespace

wasm_instance::wasm_instance(std::shared_ptr<const compiled_module> module, execution_state& state)
    : module_(std::move(module)), state_(state) {
  // nop
}

result<std::unique_ptr<wasm_instance>>
wasm_instance::make(std::shared_ptr<const compiled_module> module, execution_state& state) {
  std::unique_ptr<wasm_instance> made{new wasm_instance{std::move(module), state}};
  if (auto ready = made->instantiate(); !ready) return ready.error();
  return made;
}

result<void> wasm_instance::instantiate() {
  const auto& parts = *module_->parts_;
  store_.reset(wasmtime_store_new(parts.engine->engine.get(), &state_, nullptr));
  context_ = wasmtime_store_context(store_.get());
  wasmtime_store_limiter(store_.get(), -1, table_elements_max, 1, tables_max, 1);
  must(wasmtime_context_set_fuel(context_, instantiation_fuel));
  wasm_trap_t* trap = nullptr;
  wasmtime_error_t* error = nullptr;
  state_.heap->detach();
  {
    image_attachment attachment{*state_.heap};
    call_future_ptr made{wasmtime_instance_pre_instantiate_async(parts.ready.get(), context_,
                                                                 &instance_, &trap, &error)};
    while (!wasmtime_call_future_poll(made.get())) continue; // nothing in it can give way
  }
  trap_ptr trapped{trap};
  error_ptr refused{error};
  if (refused || trapped)
    return fail(wasm_errc::invalid_module, "the module cannot be started: {}",
                refused ? text_of(refused.get()) : text_of(trapped.get()));
  set_slice(slice_instructions);

  wasmtime_extern_t item;
  for (size_t i = 0; i < parts.info.mutable_globals; ++i) {
    auto name = global_export_name(i);
    bool found =
      wasmtime_instance_export_get(context_, &instance_, name.data(), name.size(), &item);
    moxzi_assert(found && item.kind == WASMTIME_EXTERN_GLOBAL, "global {}", i);
    wasmtime_val_t value;
    wasmtime_global_get(context_, &item.of.global, &value);
    globals_.push_back(item.of.global);
    global_kinds_.push_back(value.kind);
  }
  constexpr std::string_view table = table_export_name;
  if (wasmtime_instance_export_get(context_, &instance_, table.data(), table.size(), &item)
      && item.kind == WASMTIME_EXTERN_TABLE)
    table_ = item.of.table;
  return {};
}

void wasm_instance::set_fuel(uint64_t instructions) {
  must(wasmtime_context_set_fuel(context_, instructions));
  state_.fuel_given = instructions;
  state_.fuel_left = [this] { return fuel_left(); };
}

uint64_t wasm_instance::fuel_left() const {
  uint64_t left = 0;
  must(wasmtime_context_get_fuel(context_, &left));
  return left;
}

bool wasm_instance::has_function(const std::string& name) {
  wasmtime_extern_t item;
  return wasmtime_instance_export_get(context_, &instance_, name.data(), name.size(), &item)
         && item.kind == WASMTIME_EXTERN_FUNC;
}

void wasm_instance::begin(const wasmtime_func_t& function, size_t argument_count) {
  moxzi_assert(!future_ && trap_ == nullptr && error_ == nullptr, "a call is in progress");
  function_ = function;
  future_.reset(wasmtime_func_call_async(context_, &function_, &argument_, argument_count, nullptr,
                                         0, &trap_, &error_));
}

bool wasm_instance::call(const std::string& name) {
  wasmtime_extern_t item;
  if (!wasmtime_instance_export_get(context_, &instance_, name.data(), name.size(), &item)
      || item.kind != WASMTIME_EXTERN_FUNC)
    return false;
  begin(item.of.func, 0);
  return true;
}

bool wasm_instance::call(const closure& target) {
  wasmtime_val_t entry;
  if (!table_ || !wasmtime_table_get(context_, &*table_, target.function, &entry)) return false;
  if (entry.kind != WASMTIME_FUNCREF || entry.of.funcref.store_id == 0) return false;
  // Checked here: with the wrong types the engine's error would read like a fault of the host.
  functype_ptr type{wasmtime_func_type(context_, &entry.of.funcref)};
  const auto* parameters = wasm_functype_params(type.get());
  auto word = state_.memory64 ? WASM_I64 : WASM_I32;
  if (parameters->size != 1 || wasm_valtype_kind(parameters->data[0]) != word
      || wasm_functype_results(type.get())->size != 0)
    return false;
  if (state_.memory64) {
    argument_.kind = WASMTIME_I64;
    argument_.of.i64 = static_cast<int64_t>(target.environment);
  } else {
    argument_.kind = WASMTIME_I32;
    argument_.of.i32 = static_cast<int32_t>(target.environment);
  }
  begin(entry.of.funcref, 1);
  return true;
}

void wasm_instance::set_slice(uint64_t instructions) {
  state_.slice_instructions = instructions;
  if (std::exchange(slice_, instructions) == instructions) return;
  must(wasmtime_context_fuel_async_yield_interval(context_, instructions));
}

bool wasm_instance::poll(bool is_brief) {
  moxzi_assert(future_, "no call is in progress");
  set_slice(is_brief ? brief_slice_instructions : slice_instructions);
  state_.since_yield = 0;
  if (!wasmtime_call_future_poll(future_.get())) return false;
  future_.reset();
  return true;
}

std::optional<trap> wasm_instance::take_trap() {
  trap_ptr why{std::exchange(trap_, nullptr)};
  error_ptr error{std::exchange(error_, nullptr)};
  if (!why && !error) return std::nullopt;
  if (why && is_stack_overflow(why.get())) stack_exhausted_ = true;
  return explain(why.get(), error.get(), state_);
}

void wasm_instance::read_globals(global_values& values) const {
  values.resize(globals_.size());
  for (size_t i = 0; i < globals_.size(); ++i) {
    wasmtime_val_t value;
    wasmtime_global_get(context_, &globals_[i], &value);
    switch (value.kind) {
      case WASMTIME_I32:
        values[i] = static_cast<uint32_t>(value.of.i32);
        break;
      case WASMTIME_F32:
        values[i] = std::bit_cast<uint32_t>(value.of.f32);
        break;
      case WASMTIME_F64:
        values[i] = std::bit_cast<uint64_t>(value.of.f64);
        break;
      default:
        values[i] = static_cast<uint64_t>(value.of.i64);
        break;
    }
  }
}

void wasm_instance::write_globals(const global_values& values) {
  moxzi_assert(values.size() == globals_.size(), "{} globals", values.size());
  for (size_t i = 0; i < globals_.size(); ++i) {
    wasmtime_val_t value{};
    value.kind = global_kinds_[i];
    switch (value.kind) {
      case WASMTIME_I32:
        value.of.i32 = static_cast<int32_t>(values[i]);
        break;
      case WASMTIME_F32:
        value.of.f32 = std::bit_cast<float>(static_cast<uint32_t>(values[i]));
        break;
      case WASMTIME_F64:
        value.of.f64 = std::bit_cast<double>(values[i]);
        break;
      default:
        value.of.i64 = static_cast<int64_t>(values[i]);
        break;
    }
    must(wasmtime_global_set(context_, &globals_[i], &value));
  }
}

} // namespace moxzi::actors
