#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/lifecycle.hpp"
#include "net/http_counters.hpp"

/// The node's pages as JSON. Pure. The fields are in docs/http.md.
namespace moxzi::actors {

/// What a node is, as `GET /status` tells.
struct node_facts {
  std::string version;
  uint64_t started_ns = 0; ///< monotonic
  std::string device;      ///< empty: none
  uint64_t device_threads = 0;
  bool charging = false;
};

/// An amount of cycles in decimal digits.
std::string decimal(cycles amount);

/// One actor.
std::string actor_page(const lifecycle::status& actor);
/// All actors, by name, those without behind.
std::string actors_page(std::vector<lifecycle::status> actors);
/// Lines of an actor's log; `from` was asked for.
std::string log_page(const std::vector<lifecycle::log_line>& lines, uint64_t from);
std::string status_page(const node_facts& facts, uint64_t now_ns, size_t actors,
                        const net::http_numbers& http);

} // namespace moxzi::actors
