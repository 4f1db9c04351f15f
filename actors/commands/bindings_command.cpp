#include <filesystem>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "actors/build/files.hpp"
#include "actors/candid/did_parser.hpp"
#include "actors/candid/motoko_printer.hpp"
#include "actors/commands/command.hpp"
#include "actors/manifest.hpp"
#include "actors/principal.hpp"
#include "base/limits.hpp"
#include "base/reject.hpp"

namespace moxzi::actors {

namespace {

struct arguments {
  std::string file;
  std::optional<std::string> out;
};

int refuse(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  return exit_refused;
}

int run(const arguments& in) {
  auto text = read_file(in.file, limits::did_bytes_max);
  if (!text) return refuse(text.error().message);
  const std::filesystem::path file{in.file};
  const auto load = [folder = file.parent_path()](const std::string& name) {
    return read_file((folder / name).string(), limits::did_bytes_max);
  };
  auto interface = candid::parse_did(*text, load, file.filename().string());
  if (!interface) return refuse(fmt::format("{}:{}", in.file, interface.error().message));
  auto motoko = candid::motoko_text(*interface);
  if (!motoko) return refuse(fmt::format("{}: {}", in.file, motoko.error().message));
  const auto whole =
    fmt::format("// From {} by moxzi bindings.\n{}", file.filename().string(), *motoko);
  if (!in.out) {
    fmt::print("{}", whole);
    return exit_ok;
  }
  if (auto good = write_file_atomically(*in.out, whole); !good) return refuse(good.error().message);
  fmt::print("{}\n", *in.out);
  return exit_ok;
}

} // namespace

void add_bindings_command(CLI::App& program, int& status) {
  auto* app = program.add_subcommand("bindings", "Write a Candid interface as Motoko types");
  auto in = std::make_shared<arguments>();
  app->add_option("FILE.did", in->file, "The interface")->required();
  app->add_option("-o,--out", in->out, "The file to write (default: print it)");
  app->callback([in, &status] { status = run(*in); });
}

void add_id_command(CLI::App& program, int& status) {
  auto* app = program.add_subcommand("id", "Print the principal that an actor of this name gets");
  auto name = std::make_shared<std::string>();
  app->add_option("NAME", *name, "The actor's name")->required();
  app->callback([name, &status] {
    if (!is_actor_name(*name)) {
      fmt::print(stderr, "{} cannot be an actor's name\n", json_quote(*name));
      status = exit_refused;
      return;
    }
    fmt::print("{}\n", principal::of_actor(*name).to_text());
    status = exit_ok;
  });
}

} // namespace moxzi::actors
