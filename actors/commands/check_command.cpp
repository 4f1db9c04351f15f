#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "actors/build/builder.hpp"
#include "actors/commands/command.hpp"
#include "actors/commands/source_options.hpp"
#include "actors/commands/tools.hpp"

namespace moxzi::actors {

namespace {

int refuse(const error& why) {
  fmt::print(stderr, "{}\n", why.message);
  return exit_refused;
}

int run_check(source_options& in) {
  const auto options = in.take();
  const auto warnings = check_actor(options, find_tools());
  if (!warnings) return refuse(warnings.error());
  fmt::print(stderr, "{}", *warnings);
  fmt::print("{}: no errors\n", options.file);
  return exit_ok;
}

int run_did(source_options& in) {
  const auto text = interface_of_actor(in.take(), find_tools());
  if (!text) return refuse(text.error());
  fmt::print("{}", *text);
  return exit_ok;
}

int run_upgrade_check(const std::string& old_most, const std::string& new_most) {
  if (auto checked = check_upgrade(old_most, new_most, find_tools()); !checked)
    return refuse(checked.error());
  fmt::print("compatible\n");
  return exit_ok;
}

} // namespace

void add_check_command(CLI::App& program, int& status) {
  auto* app = program.add_subcommand("check", "Check an actor's types without building it");
  auto in = std::make_shared<source_options>();
  in->add_to(*app, "The manifest whose actors can be imported");
  app->callback([in, &status] { status = run_check(*in); });
}

void add_did_command(CLI::App& program, int& status) {
  auto* app = program.add_subcommand("did", "Print an actor's Candid interface");
  auto in = std::make_shared<source_options>();
  in->add_to(*app, "The manifest whose actors can be imported");
  app->callback([in, &status] { status = run_did(*in); });
}

void add_upgrade_check_command(CLI::App& program, int& status) {
  auto* app =
    program.add_subcommand("upgrade-check", "Would an upgrade keep all stable variables?");
  auto files = std::make_shared<std::pair<std::string, std::string>>();
  app->add_option("OLD.most", files->first, "What is installed")->required();
  app->add_option("NEW.most", files->second, "What is to be installed")->required();
  app->callback([files, &status] { status = run_upgrade_check(files->first, files->second); });
}

} // namespace moxzi::actors
