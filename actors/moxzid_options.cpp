#include "actors/moxzid_options.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <arpa/inet.h>
#include <fmt/format.h>

#include "actors/commands/command.hpp"
#include "actors/commands/usage.hpp"

namespace moxzi::actors {

namespace {

constexpr uint64_t mebibyte = 1u << 20;

/// What the options say before it is put together.
struct arguments {
  std::string listen;
  std::optional<uint16_t> port;
  std::optional<uint64_t> heap_mb;
  std::optional<uint64_t> stable_mb;
  std::string balance;
  std::string outcalls = "https";
  std::string tls_certificate;
  std::string tls_key;
  std::string tls_min = "1.3";
  std::vector<std::string> controllers;
  bool is_quiet = false;
  bool is_verbose = false;
};

// `ADDR:PORT`, `[ADDR]:PORT`; returns the reason if it is neither.
std::optional<std::string> read_listen(const std::string& text, std::string& address,
                                       uint16_t& port) {
  const auto colon = text.rfind(':');
  const auto digits = colon == std::string::npos ? std::string{} : text.substr(colon + 1);
  const bool is_number = !digits.empty() && digits.size() <= 5
                         && digits.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || colon == 0 || std::stoul(digits) > UINT16_MAX) {
    return fmt::format("'{}' is not ADDR:PORT, such as 127.0.0.1:7000", text);
  }
  address = text.substr(0, colon);
  if (address.size() > 2 && address.front() == '[' && address.back() == ']') {
    address = address.substr(1, address.size() - 2);
  }
  port = static_cast<uint16_t>(std::stoul(digits));
  std::array<unsigned char, sizeof(in6_addr)> read;
  if (inet_pton(AF_INET, address.c_str(), read.data()) != 1
      && inet_pton(AF_INET6, address.c_str(), read.data()) != 1) {
    return fmt::format("'{}' is no IP address to listen on", address);
  }
  return std::nullopt;
}

// What CLI11 reads as an unsigned number wraps around: `-1` would be the largest one.
CLI::Validator whole_number(uint64_t from) {
  return {[from](const std::string& text) -> std::string {
            uint64_t value = 0;
            const auto end = text.data() + text.size();
            const auto read = std::from_chars(text.data(), end, value);
            if (read.ec == std::errc{} && read.ptr == end && value >= from) return {};
            return fmt::format("'{}' is not a whole number from {} to {}", text, from, UINT64_MAX);
          },
          ""};
}

CLI::Validator amount() {
  return {[](const std::string& text) -> std::string {
            constexpr size_t digits_max = 38; // below 2^128
            const bool is_plain = !text.empty() && text.size() <= digits_max
                                  && text.find_first_not_of("0123456789") == std::string::npos;
            if (is_plain) return {};
            return fmt::format("'{}' is not a whole number of at most {} digits", text, digits_max);
          },
          ""};
}

std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string{cache} + "/moxzi/modules";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string{home} + "/.cache/moxzi/modules" : "";
}

void add_hosting(CLI::App& program, daemon_options& out, arguments& in) {
  program.add_option("-m,--manifest", out.manifest, "Which actors to host [actors.json]")
    ->option_text("FILE");
  program.add_flag("--check", out.only_check, "Read manifest and modules, say what is wrong, exit");
  program
    .add_option("--instruction-limit", out.instructions_max,
                "Instructions of one update [40000000000]")
    ->option_text("N")
    ->check(whole_number(1));
  program.add_option("--heap-mb", in.heap_mb, "Heap of one actor in MiB [6144]")
    ->option_text("N")
    ->check(CLI::Range(uint64_t{1}, limits::heap_bytes_max / mebibyte));
  program.add_option("--stable-mb", in.stable_mb, "Stable memory of one actor in MiB [524288]")
    ->option_text("N")
    ->check(CLI::Range(uint64_t{1}, limits::stable_bytes_max / mebibyte));
  program
    .add_option("--cycles", in.balance,
                "Opening balance of a new actor; above 0, everything is charged for [0]")
    ->option_text("N")
    ->check(amount());
  program
    .add_option("--outcalls", in.outcalls,
                "What actors may call outside: off, https, any (HTTP and this machine too) [https]")
    ->option_text("WHAT")
    ->check(CLI::IsMember({"off", "https", "any"}));
  program
    .add_option("--controller", in.controllers,
                "Who may manage actors that name no controllers; may be repeated")
    ->option_text("PRINCIPAL");
  program.add_option("--seed", out.seed, "Seed of raw_rand, for tests [random]")
    ->option_text("N")
    ->check(whole_number(0));
}

void add_network(CLI::App& program, arguments& in) {
  program.add_option("-l,--listen", in.listen, "Where to answer HTTP [127.0.0.1:7000]")
    ->option_text("ADDR:PORT");
  program.add_option("-p,--port", in.port, "The port alone; 0 picks a free one and prints it")
    ->option_text("N");
  auto* certificate =
    program.add_option("--tls-cert", in.tls_certificate, "Answer HTTPS with this certificate")
      ->option_text("FILE");
  auto* key =
    program.add_option("--tls-key", in.tls_key, "The certificate's key")->option_text("FILE");
  certificate->needs(key);
  key->needs(certificate);
  program.add_option("--tls-min", in.tls_min, "The oldest TLS taken: 1.2 or 1.3 [1.3]")
    ->option_text("VERSION")
    ->check(CLI::IsMember({"1.2", "1.3"}))
    ->needs(certificate);
}

void add_device(CLI::App& program, daemon_options& out) {
  program
    .add_option("--device", out.device,
                "Tensor device: cpu, cuda[:N], reference, null, none; burn:cpu is cpu")
    ->option_text("DEV");
  program.add_option("--device-seed", out.device_seed, "Seed of initial values [0]")
    ->option_text("N")
    ->check(whole_number(0));
  program
    .add_option("--device-cycles-per-ms", out.device_cycles_per_ms,
                "With --cycles, what a millisecond of the device costs [100000000]")
    ->option_text("N")
    ->check(whole_number(0));
}

void add_log(CLI::App& program, daemon_options& out, arguments& in) {
  auto* level =
    program.add_option("--log-level", out.log_level, "What is written to stderr [info]")
      ->option_text("LEVEL")
      ->check(CLI::IsMember({"error", "warn", "info", "debug"}));
  program.add_flag("--log-json", out.log_json, "Write it as JSON, an object a line");
  auto* quiet = program.add_flag("-q,--quiet", in.is_quiet, "Only errors: --log-level error");
  auto* verbose = program.add_flag("-v,--verbose", in.is_verbose, "All: --log-level debug");
  quiet->excludes(level)->excludes(verbose);
  verbose->excludes(level);
}

// What is wrong with the rest; nothing: it is in `out`.
std::optional<std::string> put_together(const arguments& in, daemon_options& out) {
  if (!in.listen.empty()) {
    if (auto why = read_listen(in.listen, out.address, out.port)) return "--listen: " + *why;
  }
  if (in.port) out.port = *in.port;
  if (in.heap_mb) out.heap_bytes_max = *in.heap_mb * mebibyte;
  if (in.stable_mb) out.stable_bytes_max = *in.stable_mb * mebibyte;
  for (const char digit : in.balance)
    out.balance.value = out.balance.value * 10 + static_cast<unsigned>(digit - '0');
  if (!in.tls_certificate.empty())
    out.tls = net::tls_files{in.tls_certificate, in.tls_key, in.tls_min == "1.2"};
  for (const auto& text : in.controllers) {
    auto id = principal::from_text(text);
    if (!id) return fmt::format("--controller: {}", id.error().message);
    out.controllers.push_back(*std::move(id));
  }
  if (in.outcalls == "off") out.outcalls = net::outcall_policy::off;
  if (in.outcalls == "any") out.outcalls = net::outcall_policy::any;
  if (in.is_quiet) out.log_level = "error";
  if (in.is_verbose) out.log_level = "debug";
  out.cache_folder = cache_folder();
  return std::nullopt;
}

} // namespace

std::optional<int> read_daemon_options(int argc, char** argv, daemon_options& out) {
  arguments in;
  CLI::App program{"Hosts the actors of a manifest.", "moxzid"};
  prepare_program(program);
  add_hosting(program, out, in);
  add_network(program, in);
  add_device(program, out);
  add_log(program, out, in);
  if (auto ended = parse_command_line(program, argc, argv)) return ended;
  if (auto why = put_together(in, out)) {
    fmt::print(stderr, "moxzid: {}\n", *why);
    return exit_usage;
  }
  return std::nullopt;
}

} // namespace moxzi::actors
