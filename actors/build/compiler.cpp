#include "actors/build/compiler.hpp"

#include <algorithm>
#include <filesystem>

#include "actors/build/child.hpp"
#include "actors/build/files.hpp"
#include "actors/build/mops_file.hpp"
#include "actors/manifest.hpp"

namespace fs = std::filesystem;

namespace moxzi::actors {

namespace {

constexpr size_t manifest_bytes_max = 4u << 20;
constexpr size_t diagnostics_bytes_max = 4u << 20;

// A file called `--npm.mo` is a file all the same.
std::string as_operand(const std::string& file) {
  return file.starts_with('-') ? "./" + file : file;
}

result<void> add_packages(build_options& options) {
  auto local = local_packages(options.file);
  if (!local) return local.error();
  for (auto& package : *local) {
    const bool is_given = std::any_of(options.packages.begin(), options.packages.end(),
                                      [&](const auto& one) { return one.first == package.first; });
    if (!is_given) options.packages.push_back(std::move(package));
  }
  return {};
}

// The interfaces of the manifest's other actors; one without `did` has it beside its module.
result<void> add_canisters(build_options& options) {
  if (!options.manifest || !is_file(*options.manifest)) return {};
  auto text = read_file(*options.manifest, manifest_bytes_max);
  if (!text) return text.error();
  auto known = parse_manifest(*text, *options.manifest);
  if (!known) return known.error();
  const auto folder = fs::path{*options.manifest}.parent_path();
  const auto own = options.name.value_or(fs::path{options.file}.stem().string());
  for (const auto& actor : known->actors) {
    if (actor.name == own) continue;
    const auto did =
      folder / (actor.did ? fs::path{*actor.did} : fs::path{actor.wasm}.replace_extension(".did"));
    const auto id = actor.id.value_or(principal::of_actor(actor.name));
    options.canisters.push_back({actor.name, id.to_text(), did.string()});
  }
  return {};
}

} // namespace

result<build_options> with_project(build_options options) {
  if (auto good = add_packages(options); !good) return good.error();
  if (auto good = add_canisters(options); !good) return good.error();
  return options;
}

result<std::string> run_compiler(const build_options& options, const toolchain& tools,
                                 const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& rest) {
  std::vector<std::string> argv{tools.node, tools.script, "--npm", tools.npm};
  for (const auto& [package, folder] : options.packages)
    argv.insert(argv.end(), {"--package", package, folder});
  for (const auto& [name, id, did] : options.canisters)
    argv.insert(argv.end(), {"--canister", name, id, did});
  for (const auto& flag : options.compiler_flags) argv.insert(argv.end(), {"--flag", flag});
  argv.insert(argv.end(), {"--format", options.error_format});
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  argv.push_back(as_operand(options.file));
  for (const auto& one : rest) argv.push_back(as_operand(one));
  auto child = run_child(argv, diagnostics_bytes_max);
  if (!child)
    return fail(build_errc::no_compiler,
                "{}: the Motoko compiler runs on Node.js; install version 18 or newer, so that "
                "'node' is on the PATH",
                child.error().message);
  auto& output = child->output;
  if (child->status == 0) return std::move(output);
  while (!output.empty() && output.back() == '\n') output.pop_back();
  if (output.empty())
    output =
      fmt::format("{}: the Motoko compiler ended with status {}", options.file, child->status);
  return fail(build_errc::refused, "{}", output);
}

} // namespace moxzi::actors
