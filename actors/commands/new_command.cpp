#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "actors/build/files.hpp"
#include "actors/commands/command.hpp"
#include "actors/manifest.hpp"
#include "base/reject.hpp"
#include "letters_mo.hpp" // generated from examples/letters/letters.mo
#include "net/http_client.hpp"

namespace fs = std::filesystem;

namespace moxzi::actors {

namespace {

// A name as a word of a shell's command.
std::string in_shell(const std::string& name) {
  constexpr std::string_view plain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._+,@%/";
  if (name.find_first_not_of(plain) == std::string::npos && name.front() != '-') return name;
  std::string out = "'";
  for (const char c : name) out += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return out + "'";
}

// A name as a file to be given to a command.
std::string as_file(const std::string& name) {
  return in_shell((name.front() == '-' ? "./" : "") + name + ".mo");
}

std::string read_me(const std::string& name) {
  return fmt::format(R"(# {0}

A Motoko actor that trains a small model on the device of its host.

Build it, and host it with a device:

```
moxzi build {1}
moxzid -m actors.json --device burn:cpu
```

Call it from another terminal; it answers with the loss before and after 200 steps:

```
moxzi call {2} learn '[200]'
curl -s -w '\n' -d '[200]' http://127.0.0.1:7000/call-json/{3}/learn
```
)",
                     name, as_file(name), in_shell(name), net::percent_encode(name));
}

std::string package_file(const std::string& name) {
  return fmt::format("[package]\nname = {}\nversion = \"0.1.0\"\n", json_quote(name));
}

result<void> make_project(const std::string& name) {
  std::error_code ec;
  if (!is_actor_name(name))
    return fail(base_errc::malformed, "{} cannot be an actor's name", json_quote(name));
  if (fs::exists(fs::symlink_status(name, ec)))
    return fail(base_errc::io, "{}: is there already", name);
  if (auto good = make_folders(name); !good) return good;
  if (auto good = write_file_atomically(fmt::format("{0}/{0}.mo", name), letters_mo); !good)
    return good;
  if (auto good = write_file_atomically(name + "/mops.toml", package_file(name)); !good)
    return good;
  return write_file_atomically(name + "/README.md", read_me(name));
}

int run(const std::string& name) {
  if (auto good = make_project(name); !good) {
    fmt::print(stderr, "moxzi: {}\n", good.error().message);
    return exit_refused;
  }
  fmt::print("{}: an actor that trains on the device. Next:\n"
             "  cd {}\n"
             "  moxzi build {}\n"
             "  moxzid -m actors.json --device burn:cpu\n"
             "  moxzi call {} learn '[200]'     (from another terminal)\n",
             name, in_shell((name.front() == '-' ? "./" : "") + name), as_file(name),
             in_shell(name));
  return exit_ok;
}

} // namespace

void add_new_command(CLI::App& program, int& status) {
  auto* app = program.add_subcommand("new", "Make a project: a folder with an actor that trains");
  auto name = std::make_shared<std::string>();
  app->add_option("NAME", *name, "The project's and the actor's name")->required();
  app->callback([name, &status] { status = run(*name); });
}

} // namespace moxzi::actors
