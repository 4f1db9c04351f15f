#include <array>
#include <filesystem>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "actors/build/files.hpp"
#include "actors/candid/conformance.hpp"
#include "actors/candid/did_parser.hpp"
#include "actors/candid/did_printer.hpp"
#include "actors/candid/encode.hpp"
#include "actors/candid/errc.hpp"
#include "actors/candid/json.hpp"
#include "actors/candid/text.hpp"
#include "actors/commands/command.hpp"
#include "base/limits.hpp"

namespace moxzi::actors {

namespace {

constexpr size_t file_bytes_max = 64u << 20;

/// What the subcommands were given; each uses some of it.
struct arguments {
  std::string types;
  std::string input;
  std::string file;
  std::string old_file;
  std::string method;
  std::vector<std::string> names;
  bool reply = false;
  bool lenient = false;
  bool base64 = false;
  bool print = false;
};

int refuse(const error& what, std::string_view where = {}) {
  fmt::print(stderr, "{}{}{}\n", where, where.empty() ? "" : ":", what.message);
  return exit_refused;
}

/// The argument itself, or standard input for `-`.
result<std::string> input_of(const std::string& argument) {
  if (argument != "-") return argument;
  std::string all;
  std::array<char, 1u << 16> part;
  while (std::cin.read(part.data(), part.size()) || std::cin.gcount() > 0) {
    all.append(part.data(), static_cast<size_t>(std::cin.gcount()));
    if (all.size() > file_bytes_max) {
      return fail(base_errc::over_limit, "standard input: more than {} bytes", file_bytes_max);
    }
  }
  return all;
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  return text.starts_with("0x") ? text.substr(2) : text;
}

result<byte_string> hex_of(const std::string& argument) {
  auto text = input_of(argument);
  if (!text) return text.error();
  return from_hex(without_blanks(std::move(*text)));
}

result<candid::interface> read_did(const std::string& path) {
  auto text = read_file(path, limits::did_bytes_max);
  if (!text) return text.error();
  const std::filesystem::path file{path};
  const auto load = [folder = file.parent_path()](const std::string& name) {
    return read_file((folder / name).string(), limits::did_bytes_max);
  };
  auto made = candid::parse_did(*text, load, file.filename().string());
  if (!made) return error{made.error().code, path + ":" + made.error().message};
  return made;
}

int run_decode(const arguments& in) {
  const auto bytes = hex_of(in.input);
  if (!bytes) return refuse(bytes.error());
  if (in.types.empty()) {
    // Seen through before anything is built, so that what is refused takes no memory.
    if (auto sound = candid::validate_any(*bytes); !sound) return refuse(sound.error());
    const auto message = candid::decode_any(*bytes);
    if (!message) return refuse(message.error());
    fmt::print("{}\n", candid::message_to_text(*message, {.annotate = true}));
    return exit_ok;
  }
  const auto types = candid::parse_types(in.types);
  if (!types) return refuse(types.error(), "--types");
  if (auto sound = candid::validate(*bytes, *types); !sound) return refuse(sound.error());
  const auto values = candid::decode(*bytes, *types);
  if (!values) return refuse(values.error());
  fmt::print("{}\n", candid::values_to_text(*types, *values));
  return exit_ok;
}

int run_encode(const arguments& in) {
  const auto given = input_of(in.input);
  if (!given) return refuse(given.error());
  const auto& text = *given;
  auto types = candid::parse_types(in.types.empty() ? "()" : in.types);
  if (!types) return refuse(types.error(), "--types");
  std::vector<candid::value> values;
  if (in.types.empty()) {
    auto message = candid::text_to_message(text);
    if (!message) return refuse(message.error());
    types = candid::make_tuple_type(message->types, message->items);
    values = std::move(message->values);
  } else {
    auto read = candid::text_to_values(*types, text);
    if (!read) return refuse(read.error());
    values = std::move(*read);
  }
  const auto bytes = candid::encode(*types, values);
  if (!bytes) return refuse(bytes.error());
  fmt::print("{}\n", to_hex(*bytes));
  return exit_ok;
}

int run_json(const arguments& in) {
  const auto interface = read_did(in.file);
  if (!interface) return refuse(interface.error());
  const auto* method = interface->find(in.method);
  if (method == nullptr) {
    fmt::print(stderr, "{}: no method '{}'\n", in.file, in.method);
    return exit_refused;
  }
  const candid::json_options options{.lenient = in.lenient, .blob_base64 = in.base64};
  if (!in.reply) {
    const auto json = input_of(in.input);
    if (!json) return refuse(json.error());
    const auto bytes = candid::json_to_arguments(*method, *json, options);
    if (!bytes) return refuse(bytes.error());
    fmt::print("{}\n", to_hex(*bytes));
    return exit_ok;
  }
  const auto bytes = hex_of(in.input);
  if (!bytes) return refuse(bytes.error());
  const auto json = candid::reply_to_json(*method, *bytes, options);
  if (!json) return refuse(json.error());
  fmt::print("{}\n", *json);
  return exit_ok;
}

int run_check(const arguments& in) {
  const auto interface = read_did(in.file);
  if (!interface) return refuse(interface.error());
  if (in.print) {
    fmt::print("{}", candid::did_text(*interface));
  } else {
    fmt::print("{}: {}, {}\n", in.file,
               candid::counted(interface->types->definitions().size(), "type"),
               candid::counted(interface->methods.size(), "method"));
  }
  return exit_ok;
}

int run_compatible(const arguments& in) {
  const auto now = read_did(in.file);
  if (!now) return refuse(now.error());
  const auto old = read_did(in.old_file);
  if (!old) return refuse(old.error());
  if (auto done = candid::check_compatible(*now, *old); !done) {
    if (done.error().code == candid::candid_errc::over_limit) return refuse(done.error());
    fmt::print(stderr, "{} breaks callers of {}: {}\n", in.file, in.old_file, done.error().message);
    return exit_refused;
  }
  const auto place = candid::lossy_place(*now, *old);
  if (!place) {
    fmt::print(stderr, "note: what reads as null is not known: {}\n", place.error().message);
  } else if (*place) {
    fmt::print(stderr, "note: what does not fit reads as null: {}\n", **place);
  }
  fmt::print("compatible\n");
  return exit_ok;
}

int run_hash(const arguments& in) {
  for (const auto& name : in.names) fmt::print("{}\n", candid::hash_name(name));
  return exit_ok;
}

int run_test(const arguments& in) {
  size_t passed = 0;
  size_t failed = 0;
  for (const auto& file : in.names) {
    const auto text = read_file(file, file_bytes_max);
    if (!text) return refuse(text.error());
    const auto report = candid::run_conformance(*text);
    if (!report) return refuse(report.error(), file);
    for (const auto& line : report->failures) fmt::print("{}:{}\n", file, line);
    passed += report->passed;
    failed += report->failed;
  }
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 ? exit_ok : exit_refused;
}

/// Adds the subcommand `name` that runs `run`.
CLI::App* add(CLI::App* group, const std::shared_ptr<arguments>& in, int& status, const char* name,
              const char* description, int (*run)(const arguments&)) {
  auto* app = group->add_subcommand(name, description);
  app->callback([in, &status, run] { status = run(*in); });
  return app;
}

} // namespace

void add_candid_command(CLI::App& program, int& status) {
  auto* group = program.add_subcommand("candid", "Work with Candid: bytes, text, JSON, .did files");
  group->require_subcommand(1);
  auto in = std::make_shared<arguments>();

  auto* app = add(group, in, status, "decode", "Print a message as text", run_decode);
  app->add_option("HEX", in->input, "The message in hexadecimal, or - for standard input")
    ->required();
  app->add_option("--types", in->types, "Read it at these types: \"(nat, opt text)\"");

  app = add(group, in, status, "encode", "Turn text into a message, in hexadecimal", run_encode);
  app->add_option("TEXT", in->input, "Values: \"(42, \\\"x\\\")\", or - for standard input")
    ->required();
  app->add_option("--types", in->types, "At these types (default: those that the values show)");

  app = add(group, in, status, "json", "JSON to arguments in hexadecimal, or back", run_json);
  app->add_option("FILE.did", in->file, "The interface")->required();
  app->add_option("METHOD", in->method, "One of its methods")->required();
  app->add_option("INPUT", in->input, "JSON (with --reply: hexadecimal), or - for standard input")
    ->required();
  app->add_flag("--reply", in->reply, "Print a reply in hexadecimal as JSON");
  app->add_flag("--lenient", in->lenient, "Pass over unknown keys");
  app->add_flag("--base64", in->base64, "Print blobs in base64");

  app = add(group, in, status, "check", "Is this a sound .did file?", run_check);
  app->add_option("FILE.did", in->file, "The file")->required();
  app->add_flag("--print", in->print, "Print it in its canonical form");

  app = add(group, in, status, "compatible", "Can callers of OLD go on with NEW?", run_compatible);
  app->add_option("NEW.did", in->file, "The interface to be installed")->required();
  app->add_option("OLD.did", in->old_file, "The interface that callers know")->required();

  app = add(group, in, status, "hash", "The field id of a name", run_hash);
  app->add_option("NAME", in->names, "Names of fields or tags")->required();

  app = add(group, in, status, "test", "Run conformance files of the public format", run_test);
  app->add_option("FILE.test.did", in->names, "The files")->required();
}

} // namespace moxzi::actors
