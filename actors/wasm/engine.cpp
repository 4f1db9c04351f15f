#include "actors/wasm/engine.hpp"

#include <algorithm>
#include <utility>

#include "actors/wasm/call_frame.hpp"
#include "actors/wasm/engine_internals.hpp"
#include "actors/wasm/execution_state.hpp"
#include "actors/wasm/instance.hpp"
#include "actors/wasm/system_calls.hpp"
#include "actors/wasm/write_signal.hpp"

namespace moxzi::actors {

namespace {

// The engine's texts have a cause a line.
std::string in_one_line(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty() || line == "Caused by:") continue;
    if (!out.empty()) out += ": ";
    out += line;
  }
  return out;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool has_sanitizer = true; // they want the signal handlers for themselves
#else
constexpr bool has_sanitizer = false;
#endif

constexpr size_t wasm_stack_bytes = 4u << 20;
constexpr size_t execution_stack_bytes = 8u << 20;

thread_local memory_image* attached_image = nullptr;

uint8_t* image_data(void* env, size_t* size, size_t* capacity) {
  auto* image = static_cast<memory_image*>(env);
  *size = image->size();
  *capacity = memory_image::reserved_bytes;
  return image->data();
}

wasmtime_error_t* image_grow(void* env, size_t size) {
  auto grown = static_cast<memory_image*>(env)->grow(size);
  return grown == memory_image::growth::grown ? nullptr : wasmtime_error_new("heap limit reached");
}

// The memory begins at the image's size: an instance made anew goes on where the last stood.
wasmtime_error_t* new_memory(void*, const wasm_memorytype_t*, size_t minimum, size_t,
                             size_t reserved, size_t guard, wasmtime_linear_memory_t* memory) {
  auto* image = attached_image;
  if (image == nullptr || reserved > memory_image::reserved_bytes
      || guard > memory_image::guard_bytes)
    return wasmtime_error_new("no memory image for this instance");
  if (image->grow(std::max(minimum, image->size_at_start())) != memory_image::growth::grown)
    return wasmtime_error_new("the memory is larger at its start than the heap may become");
  *memory = {image, image_data, image_grow, nullptr};
  return nullptr;
}

engine_ptr make_engine() {
  auto* config = wasm_config_new();
  wasmtime_config_wasm_memory64_set(config, true);
  wasmtime_config_wasm_multi_memory_set(config, false);
  wasmtime_config_wasm_threads_set(config, false);
  wasmtime_config_shared_memory_set(config, false);
  wasmtime_config_wasm_relaxed_simd_set(config, false);
  wasmtime_config_wasm_gc_set(config, false); // objects outside of the heap and its limit
  wasmtime_config_wasm_exceptions_set(config, false);
  wasmtime_config_wasm_function_references_set(config, false);
  wasmtime_config_consume_fuel_set(config, true);
  wasmtime_config_epoch_interruption_set(config, false);
  wasmtime_config_cranelift_nan_canonicalization_set(config, true);
  wasmtime_config_cranelift_opt_level_set(config, WASMTIME_OPT_LEVEL_SPEED);
  // Its threads hand over by atomics that the sanitizer does not see.
  wasmtime_config_parallel_compilation_set(config, !has_sanitizer);
  wasmtime_config_async_stack_size_set(config, execution_stack_bytes);
  wasmtime_config_max_wasm_stack_set(config, wasm_stack_bytes);
  wasmtime_config_memory_reservation_set(config, memory_image::reserved_bytes);
  wasmtime_config_memory_guard_size_set(config, memory_image::guard_bytes);
  wasmtime_config_memory_may_move_set(config, false);
  wasmtime_config_signals_based_traps_set(config, !has_sanitizer);
  // Memories of our own cannot take their first contents from a file of the engine's.
  wasmtime_config_memory_init_cow_set(config, false);
  wasmtime_memory_creator_t creator{nullptr, new_memory, nullptr};
  wasmtime_config_host_memory_creator_set(config, &creator);
  return engine_ptr{wasm_engine_new_with_config(config)};
}

wasm_trap_t* run_row(const system_call& row, execution_state& state, uint64_t* slots) {
  call_frame frame{row, state, slots};
  if ((row.contexts & state.now) == 0)
    frame.violation("may not be called from here");
  else
    row.run(frame);
  if (!frame.failed()) return nullptr;
  constexpr std::string_view text = "system call";
  return wasmtime_trap_new(text.data(), text.size());
}

execution_state& state_of(wasmtime_caller_t* caller) {
  return *static_cast<execution_state*>(wasmtime_context_get_data(wasmtime_caller_context(caller)));
}

wasm_trap_t* run_system_call(void* env, wasmtime_caller_t* caller, wasmtime_val_raw_t* values,
                             size_t) {
  static_assert(sizeof(wasmtime_val_raw_t) == 2 * sizeof(uint64_t));
  return run_row(*static_cast<const system_call*>(env), state_of(caller),
                 reinterpret_cast<uint64_t*>(values));
}

// True if the execution goes on at once, false if others get their turn first.
bool goes_on(void* env) {
  auto& state = *static_cast<execution_state*>(env);
  if (state.since_yield < state.slice_instructions) return true;
  state.since_yield = 0;
  return false;
}

// Fuel that runs out makes wasm code give way, but it cannot be taken here without starting its
// slice anew; so calls that move many bytes give way by themselves.
void run_bulk_call(void* env, wasmtime_caller_t* caller, const wasmtime_val_t* values, size_t count,
                   wasmtime_val_t*, size_t, wasm_trap_t** trap,
                   wasmtime_async_continuation_t* continuation) {
  constexpr size_t parameters_max = 8;
  uint64_t slots[2 * parameters_max] = {};
  for (size_t i = 0; i < std::min(count, parameters_max); ++i)
    slots[2 * i] = values[i].kind == WASMTIME_I32 ? static_cast<uint32_t>(values[i].of.i32)
                                                  : static_cast<uint64_t>(values[i].of.i64);
  auto& state = state_of(caller);
  *trap = run_row(*static_cast<const system_call*>(env), state, slots);
  *continuation = {goes_on, &state, nullptr};
}

wasm_valtype_vec_t value_types(std::string_view letters, bool memory64) {
  wasm_valtype_vec_t types;
  wasm_valtype_vec_new_uninitialized(&types, letters.size());
  for (size_t i = 0; i < letters.size(); ++i) {
    bool wide = letters[i] == 'l' || (letters[i] == 'I' && memory64);
    types.data[i] = wasm_valtype_new(wide ? WASM_I64 : WASM_I32);
  }
  return types;
}

error engine_error(std::string_view what, error_ptr reason) {
  return fail(wasm_errc::engine, "{}: {}", what, text_of(reason.get()));
}

result<linker_ptr> make_linker(wasm_engine_t* engine, bool memory64) {
  linker_ptr linker{wasmtime_linker_new(engine)};
  for (const auto& row : system_calls()) {
    if (row.is_narrow && memory64) continue;
    auto parameters = value_types(row.parameters, memory64);
    auto results = value_types(row.results, memory64);
    functype_ptr type{wasm_functype_new(&parameters, &results)};
    auto* env = const_cast<system_call*>(&row);
    error_ptr refused{row.is_bulk ? wasmtime_linker_define_async_func(
                        linker.get(), "ic0", 3, row.name.data(), row.name.size(), type.get(),
                        run_bulk_call, env, nullptr)
                                  : wasmtime_linker_define_func_unchecked(
                                    linker.get(), "ic0", 3, row.name.data(), row.name.size(),
                                    type.get(), run_system_call, env, nullptr)};
    if (refused) return engine_error(row.name, std::move(refused));
  }
  return linker;
}

using internals_ptr = std::unique_ptr<compiled_module::internals>;

result<internals_ptr> link(internals_ptr parts) {
  const auto& linker = parts->info.memory64 ? parts->engine->linker64 : parts->engine->linker32;
  wasmtime_instance_pre_t* ready = nullptr;
  error_ptr refused{wasmtime_linker_instantiate_pre(linker.get(), parts->module.get(), &ready)};
  if (refused) return engine_error("linking the module", std::move(refused));
  parts->ready.reset(ready);
  return parts;
}

const uint8_t* as_bytes(byte_view bytes) {
  return reinterpret_cast<const uint8_t*>(bytes.data());
}

} // namespace

image_attachment::image_attachment(memory_image& image) noexcept {
  attached_image = &image;
}

image_attachment::~image_attachment() {
  attached_image = nullptr;
}

compiled_module::compiled_module(std::unique_ptr<internals> parts) : parts_(std::move(parts)) {
  // nop
}

compiled_module::~compiled_module() = default;

const module_info& compiled_module::info() const noexcept {
  return parts_->info;
}

const sha256_hash& compiled_module::hash() const noexcept {
  return parts_->hash;
}

result<byte_string> compiled_module::artifact() const {
  wasm_byte_vec_t bytes;
  error_ptr refused{wasmtime_module_serialize(parts_->module.get(), &bytes)};
  if (refused) return engine_error("storing the module's machine code", std::move(refused));
  byte_string stored{moxzi::as_bytes(parts_->hash)};
  stored.append(bytes.data, bytes.size);
  wasm_byte_vec_delete(&bytes);
  return stored;
}

wasm_engine::wasm_engine() = default;
wasm_engine::~wasm_engine() = default;

result<std::shared_ptr<wasm_engine>> wasm_engine::make() {
  std::shared_ptr<wasm_engine> made{new wasm_engine};
  made->parts_ = std::make_shared<internals>();
  auto& parts = *made->parts_;
  parts.engine = make_engine();
  if (!parts.engine) return fail(wasm_errc::engine, "the wasm engine cannot start");
  write_signal::install();
  auto linker32 = make_linker(parts.engine.get(), false);
  if (!linker32) return linker32.error();
  auto linker64 = make_linker(parts.engine.get(), true);
  if (!linker64) return linker64.error();
  parts.linker32 = std::move(*linker32);
  parts.linker64 = std::move(*linker64);
  return made;
}

result<std::shared_ptr<const compiled_module>> wasm_engine::compile(byte_view wasm) {
  auto prepared = prepare_module(wasm);
  if (!prepared) return prepared.error();
  auto parts = std::make_unique<compiled_module::internals>();
  parts->engine = parts_;
  parts->info = std::move(prepared->info);
  parts->hash = sha256(wasm);
  wasmtime_module_t* module = nullptr;
  error_ptr refused{wasmtime_module_new(parts_->engine.get(), as_bytes(prepared->code),
                                        prepared->code.size(), &module)};
  if (refused)
    return fail(wasm_errc::invalid_module, "the module is not valid: {}",
                in_one_line(text_of(refused.get())));
  parts->module.reset(module);
  auto linked = link(std::move(parts));
  if (!linked) return linked.error();
  return std::make_shared<const compiled_module>(std::move(*linked));
}

result<std::shared_ptr<const compiled_module>> wasm_engine::load(byte_view wasm,
                                                                 byte_view artifact) {
  auto prepared = prepare_module(wasm);
  if (!prepared) return prepared.error();
  auto parts = std::make_unique<compiled_module::internals>();
  parts->engine = parts_;
  parts->info = std::move(prepared->info);
  parts->hash = sha256(wasm);
  if (!artifact.starts_with(moxzi::as_bytes(parts->hash)))
    return fail(wasm_errc::engine, "the stored machine code is of another module");
  artifact.remove_prefix(parts->hash.size());
  wasmtime_module_t* module = nullptr;
  error_ptr refused{wasmtime_module_deserialize(parts_->engine.get(), as_bytes(artifact),
                                                artifact.size(), &module)};
  if (refused) return engine_error("loading stored machine code", std::move(refused));
  parts->module.reset(module);
  auto linked = link(std::move(parts));
  if (!linked) return linked.error();
  return std::make_shared<const compiled_module>(std::move(*linked));
}

std::string wasm_engine::version() {
  return "wasmtime " WASMTIME_VERSION;
}

result<byte_string> wasm_from_text(std::string_view text) {
  wasm_byte_vec_t bytes;
  error_ptr refused{wasmtime_wat2wasm(text.data(), text.size(), &bytes)};
  if (refused) return engine_error("reading the module's text", std::move(refused));
  byte_string wasm{bytes.data, bytes.size};
  wasm_byte_vec_delete(&bytes);
  return wasm;
}

} // namespace moxzi::actors
