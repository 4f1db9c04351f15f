#pragma once

namespace CLI {
class App;
}

/// The subcommands of `moxzi`, one file each. Each function adds its subcommand to the program;
/// when the user chose it, parsing the command line runs it and sets `status`, the exit code.
///
/// A new command is a function in a file `commands/NAME_command.cpp`, a declaration here and a call
/// in `moxzi_main.cpp`. Both arguments must outlive the parsing. Answers go to stdout, everything
/// else to stderr.
namespace moxzi::actors {

/// What a program ends with; the same numbers in every command.
enum exit_status : int {
  exit_ok = 0,
  exit_refused = 1, ///< the input is wrong, or the other side refused
  exit_usage = 2,   ///< the command line is wrong
};

/// `moxzi build FILE.mo`: NAME.wasm, NAME.did, NAME.most and the manifest.
void add_build_command(CLI::App& program, int& status);

/// `moxzi check FILE.mo`: diagnostics, nothing written.
void add_check_command(CLI::App& program, int& status);

/// `moxzi did FILE.mo`: the actor's Candid interface.
void add_did_command(CLI::App& program, int& status);

/// `moxzi upgrade-check OLD.most NEW.most`: are the stable variables kept?
void add_upgrade_check_command(CLI::App& program, int& status);

/// `moxzi bindings FILE.did`: an interface as Motoko types.
void add_bindings_command(CLI::App& program, int& status);

/// `moxzi id NAME`: the principal of an actor of this name.
void add_id_command(CLI::App& program, int& status);

/// `moxzi new NAME`: a folder with an actor to start from.
void add_new_command(CLI::App& program, int& status);

/// `moxzi call NAME METHOD [JSON]`: one call over HTTP.
void add_call_command(CLI::App& program, int& status);

/// `moxzi candid …`: Candid bytes, text, JSON and `.did` files; conformance files.
void add_candid_command(CLI::App& program, int& status);

} // namespace moxzi::actors
