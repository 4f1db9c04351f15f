// Executes messages of an actor in the plain way, for bench.py: wasmtime called directly, a private
// copy-on-write mapping of a memory file, written pages found with PAGEMAP_SCAN, written back with
// pwrite and given up again after each message.
//   pagemap_host bump | learn | touch MIB       prints {"median_us":…}

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>

#include <wasm.h>
#include <wasmtime.h>

#include "actors/wasm/module_info.hpp"
#include "tests/perf/hosted_work.hpp"
#include "tests/perf/measured.hpp"

using namespace moxzi;
using namespace moxzi::perf;

namespace {

constexpr uint64_t fuel = 40'000'000'000;
constexpr size_t page = 4096;

void must(wasmtime_error_t* error, const char* what) {
  if (error == nullptr) return;
  wasm_byte_vec_t text;
  wasmtime_error_message(error, &text);
  give_up(fmt::format("{}: {}", what, std::string_view{text.data, text.size}));
}

// -- memory
// ----------------------------------------------------------------------------------------

struct region {
  uint64_t start, end, categories;
};
struct scan {
  uint64_t size, flags, start, end, walk_end, regions, regions_length, pages_max;
  uint64_t category_inverted, category_mask, category_any_of, return_mask;
};

struct heap {
  uint8_t* base = nullptr;
  size_t size = 0;
  size_t reserved = 0;
  int file = -1;
};
heap* the_heap = nullptr;

wasmtime_error_t* grow(void* env, size_t size) {
  auto& memory = *static_cast<heap*>(env);
  if (size > memory.reserved || ::ftruncate(memory.file, static_cast<off_t>(size)) != 0)
    return wasmtime_error_new("no memory");
  ::mmap(memory.base + memory.size, size - memory.size, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, memory.file, static_cast<off_t>(memory.size));
  memory.size = size;
  return nullptr;
}

uint8_t* contents(void* env, size_t* size, size_t* capacity) {
  auto& memory = *static_cast<heap*>(env);
  *size = memory.size;
  *capacity = memory.reserved;
  return memory.base;
}

wasmtime_error_t* new_memory(void*, const wasm_memorytype_t*, size_t minimum, size_t,
                             size_t reserved, size_t guard, wasmtime_linear_memory_t* made) {
  auto* memory = new heap;
  memory->reserved = reserved;
  memory->base = static_cast<uint8_t*>(::mmap(nullptr, reserved + guard, PROT_NONE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  memory->file = ::memfd_create("actor", 0);
  the_heap = memory;
  *made = {memory, contents, grow, nullptr};
  return minimum == 0 ? nullptr : grow(memory, minimum);
}

std::vector<size_t> written_pages(const heap& memory) {
  static const int pagemap = ::open("/proc/self/pagemap", O_RDONLY);
  static std::vector<region> regions(4096);
  std::vector<size_t> found;
  const auto base = reinterpret_cast<uint64_t>(memory.base);
  for (auto at = base; at < base + memory.size;) {
    constexpr uint64_t is_file = 4, is_present = 8, is_swapped = 16;
    scan request{sizeof request,
                 0,
                 at,
                 base + memory.size,
                 0,
                 reinterpret_cast<uint64_t>(regions.data()),
                 regions.size(),
                 0,
                 is_file,
                 is_file,
                 is_present | is_swapped,
                 is_present};
    const auto count = ::ioctl(pagemap, _IOWR('f', 16, scan), &request);
    if (count < 0) give_up("PAGEMAP_SCAN needs Linux 6.7");
    for (int i = 0; i < count; ++i)
      for (auto p = regions[static_cast<size_t>(i)].start; p < regions[static_cast<size_t>(i)].end;
           p += page)
        found.push_back((p - base) / page);
    if (request.walk_end <= at) break;
    at = request.walk_end;
  }
  return found;
}

void commit(heap& memory) {
  const auto pages = written_pages(memory);
  for (size_t i = 0, j = 0; i < pages.size(); i = j) {
    for (j = i + 1; j < pages.size() && pages[j] == pages[j - 1] + 1;) ++j;
    const auto at = pages[i] * page, size = (j - i) * page;
    if (::pwrite(memory.file, memory.base + at, size, static_cast<off_t>(at))
        != static_cast<ssize_t>(size))
      give_up("pwrite");
    ::madvise(memory.base + at, size, MADV_DONTNEED);
  }
}

// -- system calls
// ----------------------------------------------------------------------------------

struct outgoing {
  std::string method;
  byte_string argument;
  uint64_t on_reply = 0, reply_environment = 0;
};

struct host {
  wasmtime_context_t* context = nullptr;
  byte_string argument, reply;
  const byte_string caller{"\4", 1}, self{"\0\0\0\0\0\0\0\1\1\1", 10};
  outgoing building;
  std::deque<outgoing> calls;
} the_host;

using system_function = std::function<void(const wasmtime_val_t*, wasmtime_val_t*)>;

std::string bytes_at(const wasmtime_val_t* v) {
  const auto from = static_cast<uint64_t>(v[0].of.i64), size = static_cast<uint64_t>(v[1].of.i64);
  if (from > the_heap->size || size > the_heap->size - from) give_up("outside of the heap");
  return {reinterpret_cast<const char*>(the_heap->base) + from, size};
}

void copy_out(const byte_string& bytes, const wasmtime_val_t* v) {
  const auto to = static_cast<uint64_t>(v[0].of.i64), offset = static_cast<uint64_t>(v[1].of.i64),
             size = static_cast<uint64_t>(v[2].of.i64);
  if (offset + size > bytes.size() || to + size > the_heap->size) give_up("outside of the heap");
  std::memcpy(the_heap->base + to, bytes.data() + offset, size);
}

void give(wasmtime_val_t* result, uint64_t value) {
  result->of.i64 = static_cast<int64_t>(value);
}

std::map<std::string, system_function> system_functions() {
  auto& h = the_host;
  std::map<std::string, system_function> f;
  for (auto [name, bytes] : std::initializer_list<std::pair<const char*, const byte_string*>>{
         {"msg_arg_data", &h.argument}, {"msg_caller", &h.caller}, {"canister_self", &h.self}}) {
    f[std::string{name} + "_size"] = [bytes](auto*, auto* r) { give(r, bytes->size()); };
    f[std::string{name} + "_copy"] = [bytes](auto* v, auto*) { copy_out(*bytes, v); };
  }
  f["canister_status"] = [](auto*, auto* r) { give(r, 1); };
  f["time"] = [](auto*, auto* r) { give(r, 1); };
  f["trap"] = [](auto* v, auto*) { give_up(bytes_at(v)); };
  f["msg_reply_data_append"] = [&h](auto* v, auto*) { h.reply += bytes_at(v); };
  f["call_new"] = [&h](auto* v, auto*) {
    h.building = {
      bytes_at(v + 2), {}, static_cast<uint64_t>(v[4].of.i64), static_cast<uint64_t>(v[5].of.i64)};
  };
  f["call_data_append"] = [&h](auto* v, auto*) { h.building.argument += bytes_at(v); };
  f["call_perform"] = [&h](auto*, auto* r) {
    h.calls.push_back(std::move(h.building));
    give(r, 0);
  };
  f["performance_counter"] = [&h](auto*, auto* r) {
    uint64_t left = 0;
    must(wasmtime_context_get_fuel(h.context, &left), "fuel");
    give(r, fuel - left);
  };
  return f;
}

struct linked_function {
  system_function run; // the others give 0
  wasmtime_valkind_t result = WASMTIME_I64;
};

wasm_trap_t* run_system_function(void* env, wasmtime_caller_t*, const wasmtime_val_t* values,
                                 size_t, wasmtime_val_t* results, size_t count) {
  auto& function = *static_cast<linked_function*>(env);
  if (count > 0) {
    results->kind = function.result;
    results->of.i64 = 0;
  }
  if (function.run) function.run(values, results);
  return nullptr;
}

// -- an instance
// -----------------------------------------------------------------------------------

wasm_engine_t* make_engine() {
  auto* config = wasm_config_new();
  wasmtime_config_wasm_memory64_set(config, true);
  wasmtime_config_consume_fuel_set(config, true);
  wasmtime_config_cranelift_nan_canonicalization_set(config, true);
  wasmtime_config_wasm_relaxed_simd_set(config, false);
  wasmtime_config_async_stack_size_set(config, 8u << 20);
  wasmtime_config_max_wasm_stack_set(config, 4u << 20);
  wasmtime_config_memory_reservation_set(config, 8ull << 30);
  wasmtime_config_memory_guard_size_set(config, 64u << 10);
  wasmtime_config_memory_may_move_set(config, false);
  wasmtime_memory_creator_t creator{nullptr, new_memory, nullptr};
  wasmtime_config_host_memory_creator_set(config, &creator);
  return wasm_engine_new_with_config(config);
}

class actor {
public:
  explicit actor(byte_view wasm) {
    const auto prepared = actors::prepare_module(wasm);
    if (!prepared) give_up(prepared.error().message);
    auto* engine = make_engine();
    wasmtime_module_t* module = nullptr;
    must(wasmtime_module_new(engine, reinterpret_cast<const uint8_t*>(prepared->code.data()),
                             prepared->code.size(), &module),
         "compiling");
    auto* store = wasmtime_store_new(engine, nullptr, nullptr);
    context_ = wasmtime_store_context(store);
    the_host.context = context_;
    must(wasmtime_context_set_fuel(context_, fuel), "fuel");
    auto* linker = link(engine, module);
    wasm_trap_t* trap = nullptr;
    must(wasmtime_linker_instantiate(linker, context_, module, &instance_, &trap), "instance");
    for (size_t i = 0; i < prepared->info.mutable_globals; ++i)
      globals_.push_back(find(actors::global_export_name(i))->of.global);
    message(
      [this] {
        if (auto start = find(actors::start_export_name)) call(start->of.func, nullptr);
        call(function("canister_init"), nullptr);
      },
      unit());
  }

  void update(const std::string& method, byte_string argument) {
    message([&] { call(function("canister_update " + method), nullptr); }, std::move(argument));
    for (; !the_host.calls.empty(); ++messages) {
      const auto done = std::move(the_host.calls.front());
      the_host.calls.pop_front();
      message([&] { call_back(done); },
              done.method == "moxzi_device_run" ? device_reply() : unit());
    }
    ++messages;
  }
  size_t messages = 0;

private:
  wasmtime_linker_t* link(wasm_engine_t* engine, wasmtime_module_t* module) {
    static std::deque<linked_function> linked;
    auto known = system_functions();
    auto* linker = wasmtime_linker_new(engine);
    wasm_importtype_vec_t imports;
    wasmtime_module_imports(module, &imports);
    for (size_t i = 0; i < imports.size; ++i) {
      const auto* from = wasm_importtype_module(imports.data[i]);
      const auto* name = wasm_importtype_name(imports.data[i]);
      const auto* type = wasm_externtype_as_functype_const(wasm_importtype_type(imports.data[i]));
      const auto* results = wasm_functype_results(type);
      const bool is_narrow = results->size > 0 && wasm_valtype_kind(results->data[0]) == WASM_I32;
      linked.push_back({known[{name->data, name->size}], is_narrow ? WASMTIME_I32 : WASMTIME_I64});
      must(wasmtime_linker_define_func(linker, from->data, from->size, name->data, name->size, type,
                                       run_system_function, &linked.back(), nullptr),
           "linking");
    }
    return linker;
  }

  wasmtime_func_t function(const std::string& name) {
    const auto found = find(name);
    if (!found) give_up(fmt::format("there is no '{}'", name));
    return found->of.func;
  }

  std::optional<wasmtime_extern_t> find(const std::string& name) {
    wasmtime_extern_t item;
    if (!wasmtime_instance_export_get(context_, &instance_, name.data(), name.size(), &item))
      return std::nullopt;
    return item;
  }

  // Everything around one execution; what it needs to be undone is put aside as well.
  void message(const std::function<void()>& run, byte_string argument) {
    the_host.argument = std::move(argument);
    the_host.reply.clear();
    std::vector<wasmtime_val_t> before(globals_.size());
    for (size_t i = 0; i < globals_.size(); ++i)
      wasmtime_global_get(context_, &globals_[i], &before[i]);
    run();
    uint64_t left = 0;
    must(wasmtime_context_get_fuel(context_, &left), "fuel");
    commit(*the_heap);
  }

  void call(wasmtime_func_t function, const uint64_t* argument) {
    must(wasmtime_context_set_fuel(context_, fuel), "fuel");
    wasmtime_val_t value;
    if (argument != nullptr) give(&value, *argument);
    value.kind = WASMTIME_I64;
    wasm_trap_t* trap = nullptr;
    must(wasmtime_func_call(context_, &function, &value, argument != nullptr ? 1 : 0, nullptr, 0,
                            &trap),
         "a call");
    if (trap != nullptr) give_up("a trap");
  }

  void call_back(const outgoing& done) {
    wasmtime_val_t entry;
    const auto table = find(actors::table_export_name);
    if (!table || !wasmtime_table_get(context_, &table->of.table, done.on_reply, &entry))
      give_up("no callback");
    call(entry.of.funcref, &done.reply_environment);
  }

  wasmtime_context_t* context_ = nullptr;
  wasmtime_instance_t instance_{};
  std::vector<wasmtime_global_t> globals_;
};

byte_string motoko(const char* name) {
  std::ifstream file{fmt::format("{}/{}.wasm", MOXZI_MOTOKO_DIR, name), std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

byte_string wasm_from(const std::string& text) {
  wasm_byte_vec_t bytes;
  must(wasmtime_wat2wasm(text.data(), text.size(), &bytes), "the module's text");
  return {bytes.data, bytes.size};
}

void measure(actor& hosted, const std::string& method, const byte_string& argument, int updates) {
  std::vector<double> samples;
  for (int i = 0; i < 15; ++i) {
    hosted.messages = 0;
    const auto start = now_us();
    for (int k = 0; k < updates; ++k) hosted.update(method, argument);
    samples.push_back((now_us() - start) / static_cast<double>(hosted.messages));
  }
  fmt::print("{{\"median_us\":{:.3f}}}\n", median(std::move(samples)));
}

} // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "touch" && argc == 3) {
    actor hosted{wasm_from(full_heap(std::stoull(argv[2])))};
    hosted.update("read", {});
    measure(hosted, "touch", {}, 200);
  } else if (what == "learn") {
    actor hosted{motoko("letters")};
    measure(hosted, "learn", nat(100), 1);
  } else if (what == "bump") {
    actor hosted{motoko("counter")};
    measure(hosted, "bump", nat(1), 2'000);
  } else {
    give_up("pagemap_host bump | learn | touch MIB");
  }
  return 0;
}
