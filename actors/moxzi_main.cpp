#include <CLI/CLI.hpp>

#include "actors/commands/command.hpp"
#include "actors/commands/usage.hpp"

// moxzi: builds Motoko actors and talks to a moxzid. Each command is a file in actors/commands/.
int main(int argc, char** argv) {
  CLI::App program{"Builds Motoko actors for moxzid and talks to it.", "moxzi"};
  moxzi::actors::prepare_program(program);
  program.require_subcommand(1);
  int status = moxzi::actors::exit_ok;
  moxzi::actors::add_build_command(program, status);
  moxzi::actors::add_new_command(program, status);
  moxzi::actors::add_call_command(program, status);
  moxzi::actors::add_candid_command(program, status);
  if (auto ended = moxzi::actors::parse_command_line(program, argc, argv)) return *ended;
  return status;
}
