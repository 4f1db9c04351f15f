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

int run(source_options& in) {
  const auto options = in.take();
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
  auto in = std::make_shared<source_options>();
  in->add_to(*app, "The manifest to update");
  app->add_option("-o,--out-dir", in->options.out_dir,
                  "Folder for NAME.wasm, NAME.did and NAME.most (default: the source's)");
  app->add_flag("--force", in->options.force,
                "Also if an upgrade from the last build would lose stable variables");
  app->callback([in, &status] { status = run(*in); });
}

} // namespace moxzi::actors
