#include "actors/host_metrics.hpp"

#include <array>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "base/limits.hpp"

namespace moxzi::actors {

namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

constexpr double ns_per_second = 1e9;
constexpr char other[] = "other";
constexpr std::array<const char*, 4> outcome_names{"replied", "rejected", "trapped", "refused"};

prometheus::Histogram::BucketBoundaries seconds_buckets() {
  return {1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 3, 10, 30};
}

prometheus::Histogram::BucketBoundaries page_buckets() {
  return {1, 3, 10, 30, 100, 300, 1'000, 3'000, 10'000, 30'000, 100'000};
}

// Says yes to the first `max` different words, and again to those.
class bounded_words {
public:
  explicit bounded_words(size_t max) : max_(max) {
    // nop
  }
  bool take(std::string_view word) {
    if (known_.contains(word)) return true;
    if (known_.size() >= max_) return false;
    known_.emplace(word);
    return true;
  }

private:
  size_t max_;
  std::set<std::string, std::less<>> known_;
};

} // namespace

call_outcome outcome_of(const call_answer& answer) noexcept {
  const auto* why = std::get_if<rejection>(&answer);
  if (why == nullptr) return call_outcome::replied;
  if (why->code == reject_code::canister_reject) return call_outcome::rejected;
  // These are traps and broken promises of code that ran; the others never did.
  const auto code = std::string_view{why->error_code}.substr(0, 4);
  const bool has_run = code == "MX50" || code == "MX51" || code == "MX52";
  const bool was_stopped = why->error_code == "MX508" || why->error_code == "MX509";
  const bool is_full = why->error_code == "MX539"; // its heap's limit
  return (has_run && !was_stopped) || is_full ? call_outcome::trapped : call_outcome::refused;
}

class host_metrics::registry {
public:
  template <class Metric>
  using family = Family<Metric>&;

  prometheus::Registry all;
  family<Counter> messages = prometheus::BuildCounter()
                               .Name("moxzi_messages_total")
                               .Help("Calls answered, by what became of them")
                               .Register(all);
  family<Histogram> seconds = prometheus::BuildHistogram()
                                .Name("moxzi_execution_seconds")
                                .Help("How long executions took")
                                .Register(all);
  family<Counter> instructions = prometheus::BuildCounter()
                                   .Name("moxzi_instructions_total")
                                   .Help("wasm instructions executed")
                                   .Register(all);
  family<Histogram> dirty = prometheus::BuildHistogram()
                              .Name("moxzi_dirty_pages")
                              .Help("Heap pages that commits changed, 4 KiB each")
                              .Register(all);
  family<Counter> charged = prometheus::BuildCounter()
                              .Name("moxzi_cycles_charged_total")
                              .Help("Cycles charged, burned ones included")
                              .Register(all);
  family<Histogram> device = prometheus::BuildHistogram()
                               .Name("moxzi_device_seconds")
                               .Help("How long device calls took")
                               .Register(all);
  family<Gauge> waiting = prometheus::BuildGauge()
                            .Name("moxzi_queue_length")
                            .Help("Calls that wait for an actor")
                            .Register(all);
  family<Gauge> heap =
    prometheus::BuildGauge().Name("moxzi_heap_bytes").Help("Heap of an actor").Register(all);
  family<Gauge> stable = prometheus::BuildGauge()
                           .Name("moxzi_stable_bytes")
                           .Help("Stable memory of an actor")
                           .Register(all);
  family<Gauge> cycles =
    prometheus::BuildGauge().Name("moxzi_cycles").Help("Balance of an actor").Register(all);
  family<Counter> requests = prometheus::BuildCounter()
                               .Name("moxzi_http_requests_total")
                               .Help("HTTP requests whose header was understood")
                               .Register(all);
  family<Counter> answers = prometheus::BuildCounter()
                              .Name("moxzi_http_answers_total")
                              .Help("HTTP answers, by the first digit of their status")
                              .Register(all);
  family<Counter> connections = prometheus::BuildCounter()
                                  .Name("moxzi_http_connections_total")
                                  .Help("HTTP connections, by whether there was room")
                                  .Register(all);
  family<Gauge> open = prometheus::BuildGauge()
                         .Name("moxzi_http_connections_open")
                         .Help("HTTP connections open now")
                         .Register(all);
  family<Gauge> kept = prometheus::BuildGauge()
                         .Name("moxzi_http_calls_kept")
                         .Help("Calls whose answers can be asked for")
                         .Register(all);

  std::mutex mutex;
  bounded_words actors{limits::metric_actors_max};
  std::map<std::string, Histogram*, std::less<>> device_methods;
  std::map<std::string, std::array<Gauge*, 4>> gauges; // of the last page's actors
};

namespace {

struct actor_families {
  Family<Counter>& messages;
  Family<Histogram>& seconds;
  Family<Counter>& instructions;
  Family<Histogram>& dirty;
  Family<Counter>& charged;
};

class meters final : public actor_meters {
public:
  meters(const actor_families& all, std::string actor)
      : messages_(all.messages), seconds_(all.seconds.Add({{"actor", actor}}, seconds_buckets())),
        instructions_(all.instructions.Add({{"actor", actor}})),
        dirty_(all.dirty.Add({{"actor", actor}}, page_buckets())),
        charged_(all.charged.Add({{"actor", actor}})), actor_(std::move(actor)) {
    // nop
  }

  void know(std::string_view method) override {
    if (counters_.size() < limits::metric_methods_max) counters_.try_emplace(std::string{method});
  }

  void answered(std::string_view method, call_outcome outcome) override {
    // A name that is no method's is anybody's invention.
    if (outcome == call_outcome::refused && !counters_.contains(method)) method = other;
    auto at = counters_.find(method);
    if (at == counters_.end() && counters_.size() >= limits::metric_methods_max) method = other;
    if (at == counters_.end()) at = counters_.try_emplace(std::string{method}).first;
    auto*& counter = at->second[static_cast<size_t>(outcome)];
    if (counter == nullptr)
      counter = &messages_.Add({{"actor", actor_},
                                {"method", at->first},
                                {"outcome", outcome_names[static_cast<size_t>(outcome)]}});
    counter->Increment();
  }

  void executed(const execution_cost& cost) override {
    seconds_.Observe(static_cast<double>(cost.duration_ns) / ns_per_second);
    instructions_.Increment(static_cast<double>(cost.instructions));
    if (cost.dirty_pages) dirty_.Observe(static_cast<double>(*cost.dirty_pages));
  }

  void charged(cycles total) override {
    if (total == counted_) return;
    charged_.Increment(static_cast<double>(total.value - counted_.value));
    counted_ = total;
  }

private:
  Family<Counter>& messages_;
  Histogram& seconds_;
  Counter& instructions_;
  Histogram& dirty_;
  Counter& charged_;
  std::string actor_;
  cycles counted_;
  std::map<std::string, std::array<Counter*, 4>, std::less<>> counters_;
};

// A counter that follows a number counted elsewhere.
void raise(Counter& counter, uint64_t to) {
  const auto behind = static_cast<double>(to) - counter.Value();
  if (behind > 0) counter.Increment(behind);
}

} // namespace

host_metrics::host_metrics() : registry_(std::make_unique<registry>()) {
  // nop
}

host_metrics::~host_metrics() = default;

std::unique_ptr<actor_meters> host_metrics::meters_of(const std::string& actor) {
  auto& all = *registry_;
  const std::lock_guard lock{all.mutex};
  const actor_families families{all.messages, all.seconds, all.instructions, all.dirty,
                                all.charged};
  return std::make_unique<meters>(families, all.actors.take(actor) ? actor : other);
}

void host_metrics::note_device_call(std::string_view method, uint64_t duration_ns) {
  auto& all = *registry_;
  const std::lock_guard lock{all.mutex};
  auto at = all.device_methods.find(method);
  if (at == all.device_methods.end()) {
    if (all.device_methods.size() >= limits::metric_methods_max) return;
    auto& made = all.device.Add({{"method", std::string{method}}}, seconds_buckets());
    at = all.device_methods.emplace(method, &made).first;
  }
  at->second->Observe(static_cast<double>(duration_ns) / ns_per_second);
}

std::string host_metrics::text(const std::vector<actor_gauges>& actors,
                               const net::http_numbers& http) {
  auto& all = *registry_;
  const std::lock_guard lock{all.mutex};
  // Those that are gone leave the page.
  for (const auto& [_, gauges] : all.gauges) {
    all.waiting.Remove(gauges[0]);
    all.heap.Remove(gauges[1]);
    all.stable.Remove(gauges[2]);
    all.cycles.Remove(gauges[3]);
  }
  all.gauges.clear();
  for (const auto& actor : actors) {
    if (!all.actors.take(actor.name)) continue;
    const prometheus::Labels labels{{"actor", actor.name}};
    auto& gauges = all.gauges[actor.name];
    gauges = {&all.waiting.Add(labels), &all.heap.Add(labels), &all.stable.Add(labels),
              &all.cycles.Add(labels)};
    gauges[0]->Set(static_cast<double>(actor.waiting));
    gauges[1]->Set(static_cast<double>(actor.heap_bytes));
    gauges[2]->Set(static_cast<double>(actor.stable_bytes));
    gauges[3]->Set(actor.cycles);
  }
  raise(all.requests.Add({}), http.requests);
  for (size_t i = 1; i < http.answers.size(); ++i)
    raise(all.answers.Add({{"status", std::to_string(i) + "xx"}}), http.answers[i]);
  raise(all.connections.Add({{"room", "yes"}}),
        http.connections_accepted - http.connections_refused);
  raise(all.connections.Add({{"room", "no"}}), http.connections_refused);
  all.open.Add({}).Set(static_cast<double>(http.connections_open));
  all.kept.Add({}).Set(static_cast<double>(http.calls_kept));
  return prometheus::TextSerializer{}.Serialize(all.all.Collect());
}

} // namespace moxzi::actors
