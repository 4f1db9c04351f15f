#include "actors/wasm/module_info.hpp"

#include <algorithm>
#include <utility>

#include "actors/wasm/module_rewrite.hpp"
#include "actors/wasm/section_reader.hpp"
#include "actors/wasm/system_calls.hpp"
#include "base/limits.hpp"
#include "base/nearest.hpp"

namespace moxzi::actors {

namespace {

class wasm_errors final : public std::error_category {
public:
  const char* name() const noexcept override {
    return "wasm";
  }
  std::string message(int code) const override {
    switch (static_cast<wasm_errc>(code)) {
      case wasm_errc::invalid_module:
        return "the module is not one that an actor may have";
      case wasm_errc::over_limit:
        return "the module is over a limit";
      case wasm_errc::unknown_import:
        return "the module imports what this host does not have";
      case wasm_errc::engine:
        return "the wasm engine refused";
      case wasm_errc::out_of_memory:
        return "out of memory";
    }
    return "unknown error";
  }
};

// The module's own bounds, of the Internet Computer where it has them.
constexpr size_t functions_max = 50'000;
constexpr size_t globals_max = 1'000;
constexpr size_t methods_max = 1'000;
constexpr size_t types_max = 50'000;
constexpr size_t exports_max = 60'000;
constexpr size_t code_bytes_max = 10u << 20;
constexpr size_t function_bytes_max = 4u << 20; // compiling one takes time without a yield
constexpr size_t metadata_sections_max = 16;
constexpr size_t metadata_bytes_max = 1u << 20;

constexpr uint8_t type_i32 = 0x7f;
constexpr uint8_t type_i64 = 0x7e;
constexpr uint8_t type_f64 = 0x7c; // f32 lies between

// Parameters and results as letters; "?" for a type that no system call has.
struct function_type {
  std::string parameters;
  std::string results;
};

std::string type_letters(section_reader& in) {
  std::string letters;
  auto count = in.items(1'000);
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    auto type = in.byte();
    if (type == 0x63 || type == 0x64) in.skip_number(); // a reference to a type of its own
    letters.push_back(type == type_i32 ? 'i' : type == type_i64 ? 'l' : '?');
  }
  return letters;
}

std::string concrete(std::string_view letters, bool memory64) {
  std::string result{letters};
  std::replace(result.begin(), result.end(), 'I', memory64 ? 'l' : 'i');
  return result;
}

std::string describe(const function_type& type) {
  auto spell = [](const std::string& letters) {
    std::string text;
    for (char c : letters) {
      if (!text.empty()) text += ", ";
      text += c == 'i' ? "i32" : c == 'l' ? "i64" : "another type";
    }
    return text;
  };
  return "(" + spell(type.parameters) + ") -> (" + spell(type.results) + ")";
}

class module_scanner {
public:
  result<void> scan(byte_view wasm);
  module_info info;
  module_additions additions;

private:
  struct import {
    std::string module;
    std::string name;
    uint64_t type;
  };

  result<void> section(uint8_t id, byte_view body);
  result<void> custom(byte_view body);
  result<void> types(section_reader& in);
  result<void> imports(section_reader& in);
  result<void> functions(section_reader& in);
  result<void> tables(section_reader& in);
  result<void> memories(section_reader& in);
  result<void> globals(section_reader& in);
  result<void> exports(section_reader& in);
  result<void> code(section_reader& in);
  result<void> export_of(byte_view name, uint8_t kind, uint64_t index);
  result<void> method(std::string_view name, method_mode mode);
  result<void> check_imports() const;
  result<void> check_entry(byte_view name, uint64_t index) const;
  const function_type* type_of(uint64_t function) const;

  std::vector<function_type> types_;
  std::vector<import> imports_;
  std::vector<uint64_t> functions_; // type of each
  std::vector<std::pair<std::string, uint64_t>> entries_;
  size_t method_name_bytes_ = 0;
  size_t metadata_bytes_ = 0;
};

error malformed(std::string_view what) {
  return fail(wasm_errc::invalid_module, "the {} section is malformed", what);
}

template <class... Args>
error refused(fmt::format_string<Args...> format, Args&&... args) {
  return fail(wasm_errc::invalid_module, format, std::forward<Args>(args)...);
}

result<void> ended(const section_reader& in, std::string_view what) {
  if (in.over_limit())
    return fail(wasm_errc::over_limit, "too many entries in the {} section", what);
  if (!in.ok() || !in.at_end()) return malformed(what);
  return {};
}

result<void> module_scanner::types(section_reader& in) {
  auto count = in.items(types_max);
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    if (in.byte() != 0x60) return refused("type {} is not a function type", i);
    function_type type;
    type.parameters = type_letters(in);
    type.results = type_letters(in);
    types_.push_back(std::move(type));
  }
  return ended(in, "type");
}

result<void> module_scanner::imports(section_reader& in) {
  auto count = in.items(functions_max);
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    auto module = in.name();
    auto name = in.name();
    if (!in.ok()) break;
    if (in.byte() != 0)
      return refused("import {}.{}: an actor's module may import functions only", module, name);
    imports_.push_back({std::string{module}, std::string{name}, in.number()});
  }
  return ended(in, "import");
}

result<void> module_scanner::functions(section_reader& in) {
  auto count = in.items(functions_max);
  for (uint64_t i = 0; i < count && in.ok(); ++i) functions_.push_back(in.number());
  return ended(in, "function");
}

result<void> module_scanner::tables(section_reader& in) {
  info.has_table = in.items(100) > 0;
  additions.table = info.has_table;
  return in.ok() ? result<void>{} : malformed("table");
}

result<void> module_scanner::memories(section_reader& in) {
  auto count = in.items(100);
  if (count > 1) return refused("{} memories; an actor has at most one", count);
  if (count == 1) {
    auto flags = in.byte();
    if ((flags & ~0x05) != 0) return refused("its memory is shared or of a kind not offered");
    info.has_memory = true;
    info.memory64 = (flags & 0x04) != 0;
    info.memory_pages_min = in.number(64);
    if ((flags & 0x01) != 0) in.number(64);
  }
  return ended(in, "memory");
}

// Steps over a constant expression with its `end`.
void skip_constant(section_reader& in) {
  while (in.ok()) {
    auto op = in.byte();
    switch (op) {
      case 0x0b:
        return;  // end
      case 0x41: // i32.const
      case 0x42: // i64.const
      case 0x23: // global.get
      case 0xd0: // ref.null
      case 0xd2:
        in.skip_number();
        break; // ref.func
      case 0x43:
        in.raw(4);
        break; // f32.const
      case 0x44:
        in.raw(8);
        break; // f64.const
      case 0x6a:
      case 0x6b:
      case 0x6c: // i32.add, sub, mul
      case 0x7c:
      case 0x7d:
      case 0x7e:
        break;
      case 0xfd: // v128.const
        if (in.number() != 12) return in.reject();
        in.raw(16);
        break;
      default:
        return in.reject();
    }
  }
}

result<void> module_scanner::globals(section_reader& in) {
  auto count = in.items(globals_max);
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    auto type = in.byte();
    if (type == 0x63 || type == 0x64) in.skip_number();
    auto is_mutable = in.byte();
    if (is_mutable > 1) return malformed("global");
    if (is_mutable == 1) {
      if (type < type_f64 || type > type_i32)
        return refused("mutable global {} is not a number and could not be saved", i);
      additions.mutable_globals.push_back(i);
    }
    skip_constant(in);
  }
  info.mutable_globals = additions.mutable_globals.size();
  return ended(in, "global");
}

result<void> module_scanner::method(std::string_view name, method_mode mode) {
  method_name_bytes_ += name.size();
  if (!info.methods.emplace(name, mode).second)
    return refused("method '{}' is exported twice", name);
  if (info.methods.size() > methods_max)
    return fail(wasm_errc::over_limit, "more than {} methods", methods_max);
  if (method_name_bytes_ > limits::method_name_bytes_max)
    return fail(wasm_errc::over_limit, "method names of more than {} bytes together",
                limits::method_name_bytes_max);
  return {};
}

result<void> module_scanner::export_of(byte_view name, uint8_t kind, uint64_t index) {
  if (!name.empty() && name.front() == '\1')
    return refused("export names that begin with the byte 01 are the host's");
  if (!name.starts_with("canister_")) return {};
  if (kind != 0) return refused("export '{}' must be a function", name);
  entries_.emplace_back(name, index);
  static constexpr std::pair<std::string_view, method_mode> prefixes[] = {
    {"canister_update ", method_mode::update},
    {"canister_query ", method_mode::query},
    {"canister_composite_query ", method_mode::composite_query},
  };
  for (const auto& [prefix, mode] : prefixes)
    if (name.starts_with(prefix)) return method(name.substr(prefix.size()), mode);
  static constexpr std::string_view known[] = {"canister_init",
                                               "canister_pre_upgrade",
                                               "canister_post_upgrade",
                                               "canister_inspect_message",
                                               "canister_heartbeat",
                                               "canister_global_timer",
                                               "canister_on_low_wasm_memory"};
  if (std::find(std::begin(known), std::end(known), name) == std::end(known))
    return refused("export '{}' is no entry point of an actor{}", name, did_you_mean(name, known));
  info.entry_points.emplace(name);
  return {};
}

result<void> module_scanner::exports(section_reader& in) {
  auto count = in.items(exports_max);
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    auto name = in.name();
    auto kind = in.byte();
    auto index = in.number();
    if (!in.ok()) break;
    if (auto checked = export_of(name, kind, index); !checked) return checked;
  }
  return ended(in, "export");
}

result<void> module_scanner::code(section_reader& in) {
  if (in.rest().size() > code_bytes_max)
    return fail(wasm_errc::over_limit, "{} bytes of code; at most {} are allowed", in.rest().size(),
                code_bytes_max);
  auto count = in.items(functions_max);
  for (uint64_t i = 0; i < count && in.ok(); ++i)
    if (auto size = in.name().size(); size > function_bytes_max)
      return fail(wasm_errc::over_limit, "function {} has {} bytes; at most {} are allowed",
                  imports_.size() + i, size, function_bytes_max);
  return ended(in, "code");
}

result<void> module_scanner::custom(byte_view body) {
  section_reader in{body};
  auto name = in.name();
  if (!in.ok()) return malformed("custom");
  bool is_public = name.starts_with("icp:public ");
  if (!is_public && !name.starts_with("icp:private ")) return {};
  auto key = name.substr(name.find(' ') + 1);
  metadata_bytes_ += body.size();
  if (metadata_bytes_ > metadata_bytes_max)
    return fail(wasm_errc::over_limit, "metadata of more than {} bytes", metadata_bytes_max);
  if (!info.metadata.emplace(key, module_metadata{is_public, byte_string{in.rest()}}).second)
    return refused("metadata '{}' is there twice", key);
  if (info.metadata.size() > metadata_sections_max)
    return fail(wasm_errc::over_limit, "more than {} metadata sections", metadata_sections_max);
  return {};
}

result<void> module_scanner::section(uint8_t id, byte_view body) {
  section_reader in{body};
  switch (id) {
    case sections::custom:
      return custom(body);
    case sections::type:
      return types(in);
    case sections::import:
      return imports(in);
    case sections::function:
      return functions(in);
    case sections::table:
      return tables(in);
    case sections::memory:
      return memories(in);
    case sections::global:
      return globals(in);
    case sections::exports:
      return exports(in);
    case sections::code:
      return code(in);
    case sections::start:
      additions.start = in.number();
      info.has_start = true;
      return ended(in, "start");
    default:
      return {};
  }
}

const function_type* module_scanner::type_of(uint64_t function) const {
  uint64_t type;
  if (function < imports_.size())
    type = imports_[function].type;
  else if (function - imports_.size() < functions_.size())
    type = functions_[function - imports_.size()];
  else
    return nullptr;
  return type < types_.size() ? &types_[type] : nullptr;
}

result<void> module_scanner::check_imports() const {
  std::vector<std::string_view> known;
  for (const auto& row : system_calls()) known.push_back(row.name);
  for (const auto& import : imports_) {
    if (import.module != "ic0")
      return fail(wasm_errc::unknown_import,
                  "import {}.{}: only functions of 'ic0' can be imported", import.module,
                  import.name);
    const auto* row = find_system_call(import.name);
    if (row != nullptr && row->is_narrow && info.memory64)
      return fail(wasm_errc::unknown_import,
                  "import ic0.{}: only for modules with 32-bit memory; with 64-bit memory use the "
                  "call of the same name with 128 or stable64 in it",
                  import.name);
    if (row == nullptr)
      return fail(wasm_errc::unknown_import, "import ic0.{}: no such system call{}", import.name,
                  did_you_mean(import.name, known));
    if (import.type >= types_.size()) return malformed("import");
    function_type wanted{concrete(row->parameters, info.memory64),
                         concrete(row->results, info.memory64)};
    const auto& given = types_[import.type];
    if (given.parameters != wanted.parameters || given.results != wanted.results)
      return fail(wasm_errc::unknown_import, "import ic0.{} has type {}; the system call has {}",
                  import.name, describe(given), describe(wanted));
  }
  return {};
}

result<void> module_scanner::check_entry(byte_view name, uint64_t index) const {
  const auto* type = type_of(index);
  if (type == nullptr) return malformed("export");
  if (!type->parameters.empty() || !type->results.empty())
    return refused("'{}' has type {}; an entry point has () -> ()", name, describe(*type));
  return {};
}

result<void> module_scanner::scan(byte_view wasm) {
  if (wasm.size() > limits::module_bytes_max)
    return fail(wasm_errc::over_limit, "a module of {} bytes; at most {} are allowed", wasm.size(),
                limits::module_bytes_max);
  if (!wasm.starts_with(byte_view{"\0asm\1\0\0\0", 8})) {
    if (wasm.starts_with("\x1f\x8b")) return refused("it is compressed; unpack it first (gunzip)");
    return refused("it is not a wasm module (no '\\0asm' version 1 at its beginning)");
  }
  section_reader in{wasm.substr(8)};
  uint32_t seen = 0;
  while (in.ok() && !in.at_end()) {
    auto id = in.byte();
    auto body = in.name();
    if (!in.ok() || id > 13) break;
    // The order is checked by the engine; a second one would be seen here first.
    if (id != sections::custom && (seen & (1u << id)) != 0)
      return refused("section {} is there twice", id);
    seen |= 1u << id;
    if (auto checked = section(id, body); !checked) return checked;
  }
  if (!in.ok() || !in.at_end()) return refused("its list of sections is malformed");
  if (functions_.size() + imports_.size() > functions_max)
    return fail(wasm_errc::over_limit, "more than {} functions", functions_max);
  if (auto checked = check_imports(); !checked) return checked;
  for (const auto& [name, index] : entries_)
    if (auto checked = check_entry(name, index); !checked) return checked;
  if (info.has_start) return check_entry("start", *additions.start);
  return {};
}

} // namespace

const std::error_category& wasm_category() noexcept {
  static const wasm_errors instance;
  return instance;
}

std::string global_export_name(size_t number) {
  return "\1global" + std::to_string(number);
}

bool is_internal_method(std::string_view name) noexcept {
  return name.starts_with("__motoko") || name.starts_with("@");
}

result<prepared_module> prepare_module(byte_view wasm) {
  module_scanner scanner;
  if (auto scanned = scanner.scan(wasm); !scanned) return scanned.error();
  auto code = rewrite_module(wasm, scanner.additions);
  return prepared_module{std::move(code), std::move(scanner.info)};
}

} // namespace moxzi::actors
