#include "actors/commands/source_options.hpp"

#include <utility>

#include <CLI/CLI.hpp>

namespace moxzi::actors {

void source_options::add_to(CLI::App& app, const std::string& about_manifest) {
  app.add_option("FILE.mo", options.file, "The actor's source")->required();
  app.add_option("-n,--name", options.name, "The actor's name (default: FILE)");
  app
    .add_option("--package", packages,
                "A package's name and folder, for import \"mo:NAME/…\"; may be repeated")
    ->type_name("NAME PATH")
    ->type_size(2)
    ->allow_extra_args(false)
    ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  auto* file = app.add_option("--manifest", manifest, about_manifest)->capture_default_str();
  app.add_flag("--no-manifest", no_manifest, "Leave the manifest alone")->excludes(file);
  app
    .add_option("--moc-flag", options.compiler_flags,
                "An option for the compiler, such as --moc-flag=-Werror; may be repeated")
    ->type_name("FLAG")
    ->allow_extra_args(false)
    ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--error-format", options.error_format, "How diagnostics are printed")
    ->type_name("human|json|plain")
    ->check(CLI::IsMember({"human", "json", "plain"}))
    ->capture_default_str();
}

build_options source_options::take() {
  for (size_t i = 0; i + 1 < packages.size(); i += 2)
    options.packages.emplace_back(packages[i], packages[i + 1]);
  packages.clear();
  options.manifest.reset();
  if (!no_manifest) options.manifest = manifest;
  return std::move(options);
}

} // namespace moxzi::actors
