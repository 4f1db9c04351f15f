#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "actors/build/builder.hpp"
#include "actors/commands/command.hpp"
#include "actors/commands/tools.hpp"

namespace moxzi::actors {

namespace {

struct arguments {
  build_options options;
  std::vector<std::string> packages; // name, folder, name, folder, …
  std::string manifest = "actors.json";
  bool no_manifest = false;
};

int run(arguments& in) {
  for (size_t i = 0; i + 1 < in.packages.size(); i += 2)
    in.options.packages.emplace_back(in.packages[i], in.packages[i + 1]);
  in.options.manifest.reset();
  if (!in.no_manifest) in.options.manifest = in.manifest;
  auto on_terminal = ::isatty(STDERR_FILENO) != 0;
  if (on_terminal) fmt::print(stderr, "compiling {} …\r", in.options.file);
  auto out = build_actor(in.options, find_tools());
  if (on_terminal) fmt::print(stderr, "\x1b[K");
  if (!out) {
    fmt::print(stderr, "{}\n", out.error().message);
    return exit_refused;
  }
  fmt::print(stderr, "{}", out->warnings);
  fmt::print("{}: {}, {}, {}", out->name, out->wasm, out->did, out->most);
  if (in.options.manifest) fmt::print("; listed in {}", *in.options.manifest);
  fmt::print("\n");
  return exit_ok;
}

} // namespace

void add_build_command(CLI::App& program, int& status) {
  auto* app = program.add_subcommand("build", "Compile a Motoko actor and list it in actors.json");
  auto in = std::make_shared<arguments>();
  app->add_option("FILE.mo", in->options.file, "The actor's source")->required();
  app->add_option("-o,--out-dir", in->options.out_dir,
                  "Folder for NAME.wasm, NAME.did and NAME.most (default: the source's)");
  app->add_option("-n,--name", in->options.name, "The actor's name (default: FILE)");
  app
    ->add_option("--package", in->packages,
                 "A package's name and folder, for import \"mo:NAME/…\"; may be repeated")
    ->type_name("NAME PATH")
    ->type_size(2)
    ->allow_extra_args(false)
    ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  auto* manifest =
    app->add_option("--manifest", in->manifest, "The manifest to update")->capture_default_str();
  app->add_flag("--no-manifest", in->no_manifest, "Leave the manifest alone")->excludes(manifest);
  app->callback([in, &status] { status = run(*in); });
}

} // namespace moxzi::actors
