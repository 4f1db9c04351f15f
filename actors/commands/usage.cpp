#include "actors/commands/usage.hpp"

#include <cstdio>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "actors/commands/command.hpp"
#include "base/nearest.hpp"

namespace moxzi::actors {

namespace {

// The subcommand the user reached: the last one parsed, at any depth.
const CLI::App& reached(const CLI::App& program) {
  auto chosen = program.get_subcommands();
  return chosen.empty() ? program : reached(*chosen.back());
}

// `moxzi candid encode`: what the user typed to get here.
std::string full_name(const CLI::App& app) {
  const auto* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

// The nearest known name; `--out` is near to `--out-dir`, however long the rest is.
std::string meant(std::string_view word, const std::vector<std::string>& known) {
  constexpr size_t beginning_bytes_min = 4;
  const std::vector<std::string_view> views(known.begin(), known.end());
  std::vector<std::string_view> longer;
  for (const auto name : views)
    if (word.size() >= beginning_bytes_min && name.starts_with(word)) longer.push_back(name);
  if (longer.size() == 1) return fmt::format("; did you mean '{}'?", longer.front());
  return did_you_mean(word, views);
}

// What is wrong with the first word nobody took.
std::string describe_unknown(const CLI::App& app, const std::string& word) {
  if (word.size() > 1 && word.front() == '-') {
    auto name = word.substr(0, word.find('='));
    return fmt::format("unknown option '{}'{}", name, meant(name, option_names(app)));
  }
  auto subcommands = subcommand_names(app);
  if (!subcommands.empty())
    return fmt::format("unknown command '{}'{}", word, meant(word, subcommands));
  return fmt::format("unexpected argument '{}'", word);
}

int report(const CLI::App& program, const CLI::ParseError& e) {
  const auto& app = reached(program);
  // An unknown word explains more than the missing argument that it may have led to.
  auto leftover = app.remaining();
  if (leftover.empty() && &app != &program) leftover = program.remaining();
  auto message = leftover.empty() ? std::string{e.what()} : describe_unknown(app, leftover.front());
  auto name = full_name(app);
  fmt::print(stderr, "{}: {}\n{}: see '{} --help'\n", program.get_name(), message,
             program.get_name(), name);
  return exit_usage;
}

} // namespace

std::string version_text(const std::string& program) {
  return program + " " MOXZI_VERSION;
}

void prepare_program(CLI::App& program) {
  program.set_help_flag("-h,--help", "Print this and exit");
  program.set_version_flag("--version", version_text(program.get_name()),
                           "Print the version and exit");
  program.get_formatter()->column_width(34);
}

std::optional<int> parse_command_line(CLI::App& program, int argc, const char* const* argv) {
  try {
    program.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    const auto& app = reached(program);
    fmt::print("{}", app.help(app.get_parent() != nullptr ? full_name(*app.get_parent()) : ""));
    return exit_ok;
  } catch (const CLI::CallForVersion& e) {
    fmt::print("{}\n", e.what());
    return exit_ok;
  } catch (const CLI::ParseError& e) {
    return report(program, e);
  }
}

} // namespace moxzi::actors
