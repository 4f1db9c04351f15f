#include "actors/daemon/node_pages.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/bytes.hpp"
#include "base/reject.hpp"

namespace moxzi::actors {

namespace {

std::string_view text_of(lifecycle::run_status status) {
  switch (status) {
    case lifecycle::run_status::running:
      return "running";
    case lifecycle::run_status::stopping:
      return "stopping";
    case lifecycle::run_status::stopped:
      return "stopped";
  }
  return "stopped";
}

std::string_view kind_of(method_mode mode) {
  switch (mode) {
    case method_mode::update:
      return "update";
    case method_mode::query:
      return "query";
    case method_mode::composite_query:
      return "composite_query";
  }
  return "update";
}

template <class List, class Write>
std::string joined(const List& list, Write write) {
  std::string out;
  for (const auto& one : list) {
    if (!out.empty()) out += ',';
    out += write(one);
  }
  return out;
}

std::string optional_text(const std::string& text) {
  return text.empty() ? "null" : json_quote(text);
}

} // namespace

std::string decimal(cycles amount) {
  std::string out;
  do {
    out.insert(out.begin(), static_cast<char>('0' + static_cast<int>(amount.value % 10)));
    amount.value /= 10;
  } while (amount.value != 0);
  return out;
}

std::string actor_page(const lifecycle::status& actor) {
  const auto hash = actor.module_hash ? to_hex(as_bytes(*actor.module_hash)) : std::string{};
  const auto controllers = joined(actor.current.controllers,
                                  [](const principal& one) { return json_quote(one.to_text()); });
  const auto methods = joined(actor.methods, [](const auto& method) {
    return fmt::format(R"({{"name":{},"kind":"{}"}})", json_quote(method.first),
                       kind_of(method.second));
  });
  const auto& counts = actor.counts;
  return fmt::format(
    R"({{"name":{},"id":"{}","status":"{}","module_hash":{},"version":{},"cycles":"{}",)"
    R"("memory":{{"heap":{},"stable":{},"snapshots":{},"log":{}}},"waiting":{},)"
    R"("controllers":[{}],"install_failure":{},"counts":{{"executions":{},"traps":{},)"
    R"("queries":{},"instructions":{},"refused":{}}},"methods":[{}]}})",
    optional_text(actor.name), actor.id.to_text(), text_of(actor.run), optional_text(hash),
    actor.version, decimal(actor.balance), actor.heap_bytes, actor.stable_bytes,
    actor.snapshot_bytes, actor.log_bytes, actor.waiting, controllers,
    optional_text(actor.install_failure), counts.executions, counts.traps, counts.queries,
    counts.instructions, counts.refused, methods);
}

std::string actors_page(std::vector<lifecycle::status> actors) {
  std::sort(actors.begin(), actors.end(), [](const auto& x, const auto& y) {
    return std::tuple{x.name.empty(), x.name, x.id} < std::tuple{y.name.empty(), y.name, y.id};
  });
  return fmt::format(R"({{"actors":[{}]}})", joined(actors, actor_page));
}

std::string log_page(const std::vector<lifecycle::log_line>& lines, uint64_t from) {
  const auto text = joined(lines, [](const lifecycle::log_line& line) {
    return fmt::format(R"({{"number":{},"time_ns":"{}","text":{}}})", line.number, line.time_ns,
                       json_quote(line.text));
  });
  const auto next = lines.empty() ? from : lines.back().number + 1;
  return fmt::format(R"({{"lines":[{}],"next":{}}})", text, next);
}

std::string status_page(const node_facts& facts, uint64_t now_ns, size_t actors,
                        const net::http_numbers& http) {
  constexpr uint64_t ns_per_ms = 1'000'000;
  const auto device = facts.device.empty()
                        ? std::string{"null"}
                        : fmt::format(R"({{"kind":{},"threads":{}}})", json_quote(facts.device),
                                      facts.device_threads);
  uint64_t answers = 0;
  for (const auto count : http.answers) answers += count;
  return fmt::format(R"({{"version":"{}","uptime_ms":{},"actors":{},"charging":{},"device":{},)"
                     R"("http":{{"requests":{},"answers":{},"connections":{},"calls_kept":{}}}}})",
                     facts.version, (now_ns - facts.started_ns) / ns_per_ms, actors, facts.charging,
                     device, http.requests, answers, http.connections_open, http.calls_kept);
}

} // namespace moxzi::actors
