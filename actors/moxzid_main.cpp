#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "actors/commands/command.hpp"
#include "actors/commands/usage.hpp"
#include "actors/daemon/daemon.hpp"

// moxzid: hosts the actors of a manifest and answers calls of them over HTTP.

namespace {

constexpr uint64_t mebibyte = 1u << 20;

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
  return std::nullopt;
}

// What CLI11 reads as an unsigned number wraps around: `-1` would be the largest seed.
std::string whole_number(const std::string& text) {
  uint64_t value = 0;
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec == std::errc{} && read.ptr == end) return {};
  return fmt::format("'{}' is not a whole number from 0 to {}", text, UINT64_MAX);
}

std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string{cache} + "/moxzi/modules";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string{home} + "/.cache/moxzi/modules" : "";
}

} // namespace

int main(int argc, char** argv) {
  moxzi::actors::daemon_options options;
  std::string listen;
  std::optional<uint16_t> port;
  std::optional<uint64_t> heap_mb;
  CLI::App program{"Hosts the actors of a manifest.", "moxzid"};
  moxzi::actors::prepare_program(program);
  program.add_option("-m,--manifest", options.manifest, "Which actors to host [actors.json]")
    ->option_text("FILE");
  program.add_option("-l,--listen", listen, "Where to answer HTTP [127.0.0.1:7000]")
    ->option_text("ADDR:PORT");
  program.add_option("-p,--port", port, "The port alone; 0 picks a free one and prints it")
    ->option_text("N");
  program
    .add_option("--device", options.device,
                "Tensor device: cpu, cuda[:N], reference, null, none; burn:cpu is cpu")
    ->option_text("DEV");
  program.add_option("--device-seed", options.device_seed, "Seed of initial values [0]")
    ->option_text("N")
    ->check(whole_number);
  program
    .add_option("--instruction-limit", options.instructions_max,
                "Instructions of one update [40000000000]")
    ->option_text("N")
    ->check(whole_number)
    ->check(CLI::PositiveNumber);
  program.add_option("--heap-mb", heap_mb, "Heap of one actor in MiB [6144]")
    ->option_text("N")
    ->check(CLI::Range(uint64_t{1}, moxzi::limits::heap_bytes_max / mebibyte));
  program.add_option("--log-level", options.log_level, "What is written to stderr [info]")
    ->option_text("LEVEL")
    ->check(CLI::IsMember({"error", "warn", "info", "debug"}));
  if (auto ended = moxzi::actors::parse_command_line(program, argc, argv)) return *ended;
  if (!listen.empty()) {
    if (auto why = read_listen(listen, options.address, options.port)) {
      fmt::print(stderr, "moxzid: --listen: {}\n", *why);
      return moxzi::actors::exit_usage;
    }
  }
  if (port) options.port = *port;
  if (heap_mb) options.heap_bytes_max = *heap_mb * mebibyte;
  options.cache_folder = cache_folder();
  return moxzi::actors::run_daemon(options);
}
