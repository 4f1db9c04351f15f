#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "actors/build/builder.hpp"
#include "actors/commands/command.hpp"
#include "actors/commands/source_options.hpp"
#include "actors/commands/tools.hpp"

namespace moxzi::actors {

namespace {

struct arguments {
  source_options source;
  bool only_checks = false;
  bool is_release = false;
  bool is_debug = false; ///< as it is without either
};

int check(const build_options& options) {
  const auto warnings = check_actor(options, find_tools());
  if (!warnings) {
    fmt::print(stderr, "{}\n", warnings.error().message);
    return exit_refused;
  }
  fmt::print(stderr, "{}", *warnings);
  fmt::print("{}: no errors\n", options.file);
  return exit_ok;
}

int run(arguments& in) {
  auto options = in.source.take();
  if (in.only_checks) return check(options);
  options.keeps_names = !in.is_release;
  auto on_terminal = ::isatty(STDERR_FILENO) != 0;
  if (on_terminal) fmt::print(stderr, "compiling {} …\r", options.file);
  auto out = build_actor(options, find_tools());
  if (on_terminal) fmt::print(stderr, "\x1b[K");
  if (!out) {
    fmt::print(stderr, "{}\n", out.error().message);
    return exit_refused;
  }
  fmt::print(stderr, "{}", out->warnings);
  fmt::print("{}: {}, {}, {}", out->name, out->wasm, out->did, out->most);
  if (options.manifest) fmt::print("; listed in {}", *options.manifest);
  fmt::print("\n");
  return exit_ok;
}

} // namespace

void add_build_command(CLI::App& program, int& status) {
  auto* app = program.add_subcommand("build", "Compile a Motoko actor and list it in actors.json");
  auto in = std::make_shared<arguments>();
  auto& options = in->source.options;
  in->source.add_to(*app, "The manifest to update");
  app->add_option("-o,--out-dir", options.out_dir,
                  "Folder for NAME.wasm, NAME.did and NAME.most (default: the source's)");
  app->add_flag("--force", options.force,
                "Also if an upgrade from the last build would lose stable variables");
  app->add_flag("--check", in->only_checks, "Only check the types, write nothing");
  app->add_flag("--public-metadata", options.public_metadata,
                "Let anyone read the interface and the stable types in the module");
  auto* release =
    app->add_flag("--release", in->is_release, "A smaller module, without the functions' names");
  app
    ->add_flag("--debug", in->is_debug,
               "With the functions' names, for the texts of traps (default)")
    ->excludes(release);
  app->callback([in, &status] { status = run(*in); });
}

} // namespace moxzi::actors
