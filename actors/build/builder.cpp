#include "actors/build/builder.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>

#include "actors/build/build_cache.hpp"
#include "actors/build/compiler.hpp"
#include "actors/build/files.hpp"
#include "actors/build/manifest_file.hpp"
#include "base/codec.hpp"
#include "base/reject.hpp"

namespace fs = std::filesystem;

namespace moxzi::actors {

namespace {

constexpr size_t source_bytes_max = 16u << 20;
constexpr size_t output_bytes_max = 256u << 20;
constexpr size_t most_bytes_max = 16u << 20;
constexpr size_t cache_entries_max = 64;

class category : public std::error_category {
public:
  const char* name() const noexcept override {
    return "build";
  }
  std::string message(int code) const override {
    static constexpr std::array sentences{
      "no error",
      "this cannot be an actor's source",
      "the compiler found errors",
      "the compiler is not there",
      "an upgrade would lose stable variables",
    };
    auto i = static_cast<size_t>(code);
    return i < sentences.size() ? sentences[i] : "unknown error";
  }
};

// A folder that goes with everything in it.
class scratch_folder {
public:
  scratch_folder() {
    std::error_code ec;
    auto parent = fs::temp_directory_path(ec);
    path_ = (ec ? fs::path{"/tmp"} : parent).string() + "/moxzi-build-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const noexcept {
    return path_;
  }

private:
  std::string path_;
};

// All that decides a compilation, but the imported files.
result<sha256_hash> key_of(const build_options& options, const toolchain& tools) {
  auto source = read_file(options.file, source_bytes_max);
  if (!source) return fail(build_errc::bad_source, "{}", source.error().message);
  auto compiler = read_file(tools.npm + "/node_modules/motoko/package.json", 1u << 20);
  auto script = read_file(tools.script, 1u << 20);
  if (!compiler || !script)
    return fail(build_errc::no_compiler,
                "{}: the Motoko compiler is not installed; run 'make deps'",
                compiler ? script.error().message : compiler.error().message);
  writer key;
  key.bytes(*source);
  key.bytes(*compiler);
  key.bytes(*script);
  key.bytes(options.file); // as diagnostics name it
  for (const auto& [package, folder] : options.packages) {
    key.bytes(package);
    key.bytes(fs::absolute(folder).string());
  }
  for (const auto& flag : options.compiler_flags) key.bytes(flag);
  key.bytes(options.error_format);
  key.boolean(options.public_metadata);
  key.boolean(options.keeps_names);
  return sha256(key.data());
}

result<build_outputs> read_outputs(const std::string& folder, std::string warnings) {
  build_outputs out;
  out.warnings = std::move(warnings);
  for (auto [kind, target] :
       {std::pair{"wasm", &out.wasm}, {"did", &out.did}, {"most", &out.most}}) {
    auto bytes = read_file(folder + "/actor." + kind, output_bytes_max);
    if (!bytes) return bytes.error();
    *target = std::move(*bytes);
  }
  return out;
}

result<build_outputs> compile(const build_options& options, const toolchain& tools,
                              std::string& deps) {
  scratch_folder scratch;
  if (scratch.path().empty()) return fail(base_errc::io, "cannot make a temporary folder (TMPDIR)");
  auto deps_file = scratch.path() + "/deps";
  std::vector<std::string> arguments{"--name", "actor", "--deps", deps_file};
  if (options.public_metadata) arguments.emplace_back("--public-metadata");
  if (!options.keeps_names) arguments.emplace_back("--strip-names");
  auto printed = run_compiler(options, tools, arguments, {scratch.path()});
  if (!printed) return printed.error();
  auto list = read_file(deps_file, 16u << 20);
  if (!list) return list.error();
  deps = std::move(*list);
  return read_outputs(scratch.path(), std::move(*printed));
}

// The last build's stable variables must live on in this one's.
result<void> check_stable(const build_outcome& out, const build_outputs& outputs,
                          const toolchain& tools) {
  auto old = is_file(out.most) ? read_file(out.most, most_bytes_max) : result<byte_string>{""};
  if (!old) return old.error();
  if (old->empty() || *old == outputs.most) return {};
  scratch_folder scratch;
  if (scratch.path().empty()) return fail(base_errc::io, "cannot make a temporary folder (TMPDIR)");
  const auto now = scratch.path() + "/new.most";
  if (auto good = write_file_atomically(now, outputs.most); !good) return good;
  auto checked = check_upgrade(out.most, now, tools);
  if (checked || checked.error().code != build_errc::incompatible) return checked;
  auto why = checked.error().message;
  for (size_t at = 0; (at = why.find(now, at)) != std::string::npos;)
    why.replace(at, now.size(), "this build");
  return fail(build_errc::incompatible,
              "{}\n{}: an upgrade from the last build would lose stable variables; nothing was "
              "written. What it was compared with is {}, which that build wrote: if it never ran, "
              "put back the one of the build that did, or delete it. With --force it is built all "
              "the same (and can only be reinstalled)",
              why, out.name, out.most);
}

result<void> write_outputs(const build_outputs& outputs, const build_outcome& paths) {
  if (auto good = write_file_atomically(paths.wasm, outputs.wasm); !good) return good;
  if (auto good = write_file_atomically(paths.did, outputs.did); !good) return good;
  return write_file_atomically(paths.most, outputs.most);
}

result<build_outcome> choose_paths(const build_options& options) {
  fs::path file{options.file};
  if (file.extension() != ".mo")
    return fail(build_errc::bad_source, "{}: a Motoko source's name ends in .mo", options.file);
  if (!is_file(options.file)) return fail(build_errc::bad_source, "{}: no such file", options.file);
  build_outcome out;
  out.name = options.name.value_or(file.stem().string());
  if (!is_actor_name(out.name))
    return fail(build_errc::bad_source, "{} cannot be an actor's name; give one with --name",
                json_quote(out.name));
  auto folder = options.out_dir ? fs::path{*options.out_dir} : file.parent_path();
  out.wasm = (folder / (out.name + ".wasm")).string();
  out.did = (folder / (out.name + ".did")).string();
  out.most = (folder / (out.name + ".most")).string();
  return out;
}

} // namespace

const std::error_category& build_category() noexcept {
  static const category instance;
  return instance;
}

result<build_outcome> build_actor(const build_options& given, const toolchain& tools) {
  auto out = choose_paths(given);
  if (!out) return out;
  auto project = with_project(given);
  if (!project) return project.error();
  const auto& options = *project;
  auto key = key_of(options, tools);
  if (!key) return key.error();
  build_cache cache{tools.cache, cache_entries_max};
  auto outputs = cache.find(*key, fs::path{options.file}.parent_path().string(), options.canisters);
  out->from_cache = outputs.has_value();
  if (!outputs) {
    std::string deps;
    auto compiled = compile(options, tools, deps);
    if (!compiled) return compiled.error();
    outputs = std::move(*compiled);
    cache.store(*key, deps, *outputs);
  }
  out->warnings = outputs->warnings;
  if (!options.force)
    if (auto good = check_stable(*out, *outputs, tools); !good) return good.error();
  if (options.out_dir)
    if (auto good = make_folders(*options.out_dir); !good) return good.error();
  if (auto good = write_outputs(*outputs, *out); !good) return good.error();
  if (options.manifest) {
    manifest_actor entry{.name = out->name, .wasm = out->wasm, .did = out->did};
    if (auto good = update_manifest(*options.manifest, std::move(entry)); !good)
      return good.error();
  }
  return out;
}

result<std::string> check_actor(const build_options& options, const toolchain& tools) {
  if (auto good = choose_paths(options); !good) return good.error();
  auto project = with_project(options);
  if (!project) return project.error();
  return run_compiler(*project, tools, {"--only", "check"});
}

result<std::string> interface_of_actor(const build_options& options, const toolchain& tools) {
  if (auto good = choose_paths(options); !good) return good.error();
  auto project = with_project(options);
  if (!project) return project.error();
  return run_compiler(*project, tools, {"--only", "did"});
}

result<void> check_upgrade(const std::string& old_most, const std::string& new_most,
                           const toolchain& tools) {
  for (const auto& file : {old_most, new_most})
    if (auto text = read_file(file, most_bytes_max); !text) return text.error();
  build_options options;
  options.file = old_most;
  auto printed = run_compiler(options, tools, {"--only", "compatible"}, {new_most});
  if (printed) return {};
  if (printed.error().code != build_errc::refused) return printed.error();
  return fail(build_errc::incompatible, "{}", printed.error().message);
}

} // namespace moxzi::actors
