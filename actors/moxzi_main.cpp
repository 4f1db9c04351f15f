#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "actors/commands/command.hpp"
#include "actors/commands/usage.hpp"

namespace {

int run(int argc, char** argv) {
  CLI::App program{"Builds Motoko actors for moxzid and talks to it.", "moxzi"};
  moxzi::actors::prepare_program(program);
  program.require_subcommand(1);
  int status = moxzi::actors::exit_ok;
  moxzi::actors::add_build_command(program, status);
  moxzi::actors::add_check_command(program, status);
  moxzi::actors::add_did_command(program, status);
  moxzi::actors::add_upgrade_check_command(program, status);
  moxzi::actors::add_bindings_command(program, status);
  moxzi::actors::add_id_command(program, status);
  moxzi::actors::add_new_command(program, status);
  moxzi::actors::add_call_command(program, status);
  moxzi::actors::add_candid_command(program, status);
  if (auto ended = moxzi::actors::parse_command_line(program, argc, argv)) return *ended;
  return status;
}

int refuse_output(int code) {
  fmt::print(stderr, "moxzi: standard output: {}\n", std::strerror(code));
  return moxzi::actors::exit_refused;
}

} // namespace

// moxzi: builds Motoko actors and talks to a moxzid. Each command is a file in actors/commands/.
int main(int argc, char** argv) {
  int status = 0;
  try {
    status = run(argc, argv);
  } catch (const std::system_error& e) { // fmt's, for an answer longer than the buffer
    return refuse_output(e.code().value());
  }
  // An answer that nobody got is no success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return refuse_output(errno);
  return status;
}
