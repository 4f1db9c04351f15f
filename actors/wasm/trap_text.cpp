#include "actors/wasm/trap_text.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace moxzi::actors {

namespace {

std::string function_of(const wasm_trap_t* why, const wasmtime_error_t* error) {
  wasm_frame_vec_t frames;
  if (why != nullptr)
    wasm_trap_trace(why, &frames);
  else
    wasmtime_error_wasm_trace(error, &frames);
  std::string found;
  for (size_t i = 0; i < frames.size && found.empty(); ++i)
    if (const auto* name = wasmtime_frame_func_name(frames.data[i]))
      found = source_name({name->data, name->size});
  wasm_frame_vec_delete(&frames);
  return found;
}

// The engine's text is a backtrace; the cause stands at its end, with details in front of it that
// depend on how the engine noticed.
std::string cause_in(std::string_view text) {
  for (std::string_view mark : {"wasm trap: ", "Caused by:"})
    if (auto at = text.rfind(mark); at != std::string_view::npos) {
      text.remove_prefix(at + mark.size());
      break;
    }
  auto begin = text.find_first_not_of(" \n\t");
  if (begin == std::string_view::npos) return "unknown cause";
  text.remove_prefix(begin);
  return std::string{text.substr(0, text.find('\n'))};
}

// A heap that could not grow explains what the code said when it gave up.
std::optional<trap> explain_heap(const execution_state& state, const std::string& cause) {
  if (state.heap == nullptr) return std::nullopt;
  switch (state.heap->refusal()) {
    case memory_image::growth::over_limit:
      return trap{"MX539", fmt::format("the heap limit of {} MiB was reached: {}",
                                       state.heap->limit() >> 20, cause)};
    case memory_image::growth::no_memory:
      return trap{"MX507", fmt::format("the machine has no more memory for the heap: {}", cause)};
    default:
      return std::nullopt;
  }
}

} // namespace

std::string source_name(std::string_view function) {
  // Compiled run-time code carries Rust names; what the Motoko compiler makes up has a sign in it,
  // or a prefix that says what for.
  static constexpr std::string_view made_up[] = {"_R",      "_ZN", "__",   "B_",   "alloc_",
                                                 "bigint_", "mp_", "s_mp", "anon_"};
  auto begins = [function](std::string_view prefix) { return function.starts_with(prefix); };
  if (function.find("::") != std::string_view::npos
      || function.find_first_of("@<$") != std::string_view::npos
      || std::any_of(std::begin(made_up), std::end(made_up), begins))
    return {};
  return std::string{function};
}

bool is_stack_overflow(const wasm_trap_t* why) {
  wasmtime_trap_code_t code;
  return wasmtime_trap_code(why, &code) && code == WASMTIME_TRAP_CODE_STACK_OVERFLOW;
}

trap explain(const wasm_trap_t* why, const wasmtime_error_t* error, const execution_state& state) {
  if (state.failure) {
    auto failure = *state.failure;
    if (failure.error_code == "MX503")
      if (auto heap = explain_heap(state, failure.message)) return *heap;
    return failure;
  }
  wasmtime_trap_code_t code = WASMTIME_TRAP_CODE_UNREACHABLE_CODE_REACHED;
  bool has_code = why != nullptr && wasmtime_trap_code(why, &code);
  if (has_code && code == WASMTIME_TRAP_CODE_OUT_OF_FUEL) return {"MX522", state.limit_text()};
  auto cause = cause_in(why != nullptr ? text_of(why) : text_of(error));
  if (has_code && code == WASMTIME_TRAP_CODE_STACK_OVERFLOW)
    cause = "call stack exhausted (recursion too deep)";
  if (auto name = function_of(why, error); !name.empty()) cause += fmt::format(" (in {})", name);
  if (auto heap = explain_heap(state, cause)) return *heap;
  return {"MX502", std::move(cause)};
}

} // namespace moxzi::actors
