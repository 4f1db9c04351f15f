#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/cycles.hpp"
#include "actors/principal.hpp"
#include "base/limits.hpp"
#include "net/outcall.hpp"
#include "net/tls_files.hpp"

namespace moxzi::actors {

/// What the command line of `moxzid` says.
struct daemon_options {
  std::string manifest = "actors.json";
  std::string address = "127.0.0.1";
  uint16_t port = 7000;
  std::optional<net::tls_files> tls;
  std::optional<std::string> device; ///< none: the manifest's, if it names one
  uint64_t device_seed = 0;
  uint64_t device_cycles_per_ms = limits::device_cycles_per_ms;
  uint64_t instructions_max = limits::update_instructions_max;
  uint64_t heap_bytes_max = limits::heap_bytes_max;
  uint64_t stable_bytes_max = limits::stable_bytes_max;
  cycles balance; ///< of a new actor; more than none: charging is on
  net::outcall_policy outcalls = net::outcall_policy::https;
  std::optional<uint64_t> seed; ///< of what is random for actors; none: the system's
  std::vector<principal> controllers;
  std::string log_level = "info";
  bool log_json = false;
  bool only_check = false;  ///< read everything, host nothing
  std::string cache_folder; ///< of compiled modules; empty = none
};

/// Hosts the manifest's actors until SIGTERM or SIGINT. Answers go to stdout (one line a fact,
/// flushed), everything else to stderr. Returns the exit code.
int run_daemon(const daemon_options& options);

} // namespace moxzi::actors
