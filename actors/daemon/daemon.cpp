#include "actors/daemon/daemon.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <caf/all.hpp>
#include <fmt/format.h>
#include <malloc.h>
#include <spdlog/spdlog.h>

#include "actors/build/manifest_file.hpp"
#include "actors/canister_actor.hpp"
#include "actors/daemon/actor_loader.hpp"
#include "actors/daemon/keeper.hpp"
#include "actors/daemon/log.hpp"
#include "actors/daemon/module_cache.hpp"
#include "actors/daemon/node_identity.hpp"
#include "actors/daemon/stop_signals.hpp"
#include "actors/host_error.hpp"
#include "actors/host_metrics.hpp"
#include "actors/ic_prices.hpp"
#include "actors/management/management.hpp"
#include "actors/pool_unit.hpp"
#include "actors/router.hpp"
#include "actors/supervisor.hpp"
#include "actors/wasm/wasm_factory.hpp"
#include "base/clock.hpp"
#include "base/entropy.hpp"
#include "device/device_worker.hpp"
#include "device/open.hpp"
#include "net/http_server.hpp"
#include "net/messages.hpp"
#include "net/outcall.hpp"
#include "persist/memory_journal.hpp"

namespace moxzi::actors {

namespace {

constexpr int exit_ok = 0;
constexpr int exit_refused = 1;
constexpr uint32_t forever_ms = 3'600'000;
/// Blocks from this size on go back to the system when they are freed. By itself glibc learns to
/// keep ever larger ones, and a burst of large answers would stay with the process.
constexpr int large_block_bytes = 1 << 20;
/// The start waits this long for one actor's installation before it goes on without it.
constexpr std::chrono::seconds install_patience{5};

// `--instruction-limit` is about updates; a lower one holds for queries and installations too.
void set_limits(core_settings& settings, uint64_t update_instructions_max) {
  settings.update_instructions_max = update_instructions_max;
  settings.query_instructions_max =
    std::min(update_instructions_max, limits::query_instructions_max);
  const bool is_lowered = update_instructions_max < limits::update_instructions_max;
  settings.install_instructions_max =
    is_lowered ? update_instructions_max : limits::install_instructions_max;
}

// One fact, one line, flushed, so that whoever reads a file or a pipe sees it at once.
template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(format, std::forward<Args>(args)...);
  fmt::print("\n");
  std::fflush(stdout);
}

int refuse(const error& why) {
  fmt::print(stderr, "moxzid: {}\n", why.message);
  return exit_refused;
}

std::filesystem::path folder_of_program() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

/// CAF as this node wants it: a thread a core, short turns, workers that are woken for their work.
class node_config : public caf::actor_system_config {
public:
  node_config() {
    const size_t cores = std::max(1u, std::thread::hardware_concurrency());
    set("scheduler.max-threads", cores);
    set("scheduler.max-throughput", size_t{64});
    // A worker that finds nothing waits to be woken. CAF's default first sleeps 500 times for 50
    // us, deaf to new work. Calls of actors run on the pool and seldom come here; what a device's
    // thread has done does.
    set("work-stealing.moderate-poll-attempts", size_t{0});
    // Until then it looks this often whether another one has more than it can do.
    set("work-stealing.relaxed-sleep-duration", caf::timespan{std::chrono::milliseconds{2}});
  }
};

/// The server as the keeper sees it, which may outlast it.
class http_view {
public:
  void show(const net::http_server* server) {
    const std::lock_guard lock{mutex_};
    server_ = server;
  }
  net::http_numbers numbers() {
    const std::lock_guard lock{mutex_};
    return server_ == nullptr ? net::http_numbers{} : server_->numbers();
  }

private:
  std::mutex mutex_;
  const net::http_server* server_ = nullptr;
};

/// A node: everything that lives as long as the daemon, in the order of construction.
class node {
public:
  explicit node(const daemon_options& options)
      : options_(options), log_(make_log(options.log_level, options.log_json)),
        time_(make_system_clock()),
        randomness_(options.seed ? make_seeded_entropy(*options.seed) : make_system_entropy()),
        journal_(limits::memory_journal_bytes_max), alarms_(*time_), unit_(system_, pool_.handle()),
        system_(config_) {
    // nop
  }

  // The pool's threads go before the actors that they run; those end on CAF's.
  ~node() {
    pool_.stop();
  }

  result<void> start(const stop_signals& signals);
  /// Reads everything that a start would read, and says what there is.
  result<void> check();
  /// Reads the manifest again, upgrades what has changed, starts what is new.
  void reload();
  void stop();

private:
  result<void> open_device(const std::string& kind);
  result<void> load();
  void spawn();
  void spawn_management();
  void spawn_keeper();
  result<void> host(const loaded_actor& actor);
  managed ask(const loaded_actor& actor, lifecycle::request what,
              std::optional<prepared_code> code = {});
  result<void> listen();

  daemon_options options_;
  std::shared_ptr<spdlog::logger> log_;
  std::shared_ptr<const clock> time_;
  std::unique_ptr<entropy> randomness_;
  persist::memory_journal journal_;
  alarm_clock alarms_;
  wasm_pool pool_;
  pool_unit unit_;
  std::shared_ptr<wasm_engine> engine_;
  std::unique_ptr<wasm_factory> factory_;
  std::vector<loaded_actor> loaded_;
  host_defaults defaults_;
  host_metrics metrics_;
  std::string device_kind_;
  device::backend_info device_info_;
  std::unique_ptr<device::backend> backend_;
  node_config config_;
  caf::actor_system system_;
  std::unique_ptr<device::device_thread> device_thread_;
  device::device_worker_actor device_;
  node_identity identity_;
  std::unique_ptr<net::outcall_client> outcalls_;
  management_actor management_;
  std::shared_ptr<route_table> routes_ = std::make_shared<route_table>();
  std::shared_ptr<http_view> http_view_ = std::make_shared<http_view>();
  router_actor router_;
  supervisor_actor supervisor_;
  keeper_actor keeper_;
  std::unique_ptr<net::http_server> http_;
};

result<void> node::start(const stop_signals& signals) {
  if (auto loaded = load(); !loaded) return loaded;
  identity_ = make_identity(*randomness_);
  spawn();
  spawn_keeper();
  for (const auto& actor : loaded_) {
    if (signals.asked()) return {};
    if (auto hosted = host(actor); !hosted) return hosted;
  }
  loaded_.clear();
  if (!device_kind_.empty()) {
    say("device {}  f32  {} {}", device_kind_, device_info_.threads,
        device_info_.threads == 1 ? "thread" : "threads");
  }
  return listen();
}

result<void> node::open_device(const std::string& kind) {
  const auto threads = std::max(1u, std::thread::hardware_concurrency());
  auto opened = device::open_backend(kind, threads, folder_of_program());
  if (!opened) return opened.error();
  backend_ = *std::move(opened);
  device_info_ = backend_->info();
  device_kind_ = kind;
  return {};
}

result<void> node::load() {
  auto manifest = read_manifest(options_.manifest);
  if (!manifest) return manifest.error();
  const auto kind = options_.device ? options_.device : manifest->device;
  if (kind && *kind != "none") {
    if (auto opened = open_device(*kind); !opened) {
      if (options_.device) return opened;
      // It was not the command line that asked.
      constexpr std::string_view flag = "--device ";
      std::string_view why = opened.error().message;
      if (why.starts_with(flag)) why.remove_prefix(flag.size());
      return error{opened.error().code, fmt::format("{}: device.kind {}", options_.manifest, why)};
    }
  }
  auto engine = wasm_engine::make();
  if (!engine) return engine.error();
  engine_ = *std::move(engine);
  wasm_factory_options making;
  making.pool = pool_.handle();
  making.heap_bytes_max = std::min(options_.heap_bytes_max, limits::heap_bytes_max);
  making.stable_bytes_max = std::min(options_.stable_bytes_max, limits::stable_bytes_max);
  making.compile = [cache = module_cache{options_.cache_folder, limits::cached_modules_max},
                    engine = engine_](byte_view wasm) { return cache.get(wasm, *engine); };
  factory_ = std::make_unique<wasm_factory>(std::move(making));
  defaults_ = {options_.balance, options_.controllers, public_ids(*manifest)};
  for (const auto& entry : manifest->actors) {
    if (auto good = check_settings(entry, defaults_); !good) return good;
    auto actor = load_actor(entry, *factory_);
    if (!actor) return actor.error();
    loaded_.push_back(*std::move(actor));
  }
  return {};
}

void node::spawn_management() {
  net::outcall_options calling;
  calling.policy = options_.outcalls;
  if (calling.policy != net::outcall_policy::off) {
    if (const auto found = net::check_authorities(calling); !found)
      log_->warn("outcalls_untrusted reason={}", json_quote(found.error().message));
  }
  outcalls_ = std::make_unique<net::outcall_client>(std::move(calling));
  management::management_setup setup;
  setup.device = device_;
  setup.journal = &journal_;
  setup.time = time_.get();
  setup.randomness = randomness_.get();
  setup.log = log_;
  setup.outcalls = outcalls_.get();
  setup.seed = identity_.seed;
  setup.subnet = identity_.subnet;
  setup.node = identity_.node;
  setup.version = MOXZI_VERSION;
  setup.charging = options_.balance.value > 0;
  setup.prices = ic_prices;
  setup.device_cycles_per_ms = options_.device_cycles_per_ms;
  setup.metrics = &metrics_;
  management_ = management::spawn_management(system_, std::move(setup));
}

void node::spawn() {
  if (backend_) {
    device_thread_ = std::make_unique<device::device_thread>();
    device::worker_setup setup;
    setup.on = std::move(backend_);
    setup.options.seed = options_.device_seed;
    setup.time = time_;
    setup.thread = device_thread_.get();
    device_ = device::spawn_device_worker(system_, std::move(setup));
  }
  spawn_management();
  router_ = system_.spawn(published_router, callee_actor{management_}, log_, routes_);
  supervisor_setup setup;
  setup.router = router_;
  setup.management = management_;
  setup.services = {router_,        management_, &journal_,
                    time_.get(),    &alarms_,    unit_.for_brief_turns(),
                    factory_.get(), log_,        &metrics_};
  setup.charging = options_.balance.value > 0;
  setup.prices = ic_prices;
  set_limits(setup.settings, options_.instructions_max);
  setup.settings.heap_bytes_max = std::min(options_.heap_bytes_max, limits::heap_bytes_max);
  setup.settings.subnet = identity_.subnet;
  supervisor_ = system_.spawn(supervisor, std::move(setup));
}

// From the daemon's own thread, which may wait.
managed node::ask(const loaded_actor& actor, lifecycle::request what,
                  std::optional<prepared_code> code) {
  caf::scoped_actor self{system_};
  manage_actor request;
  request.target = actor.id;
  request.what = std::move(what);
  request.code = std::move(code);
  request.token = 1;
  request.reply_to = caf::actor_cast<manager_actor>(self);
  self->send(supervisor_, std::move(request));
  managed answer;
  self->receive([&](managed& what_came) { answer = std::move(what_came); },
                caf::after(install_patience) >> [] {});
  return answer;
}

result<void> node::host(const loaded_actor& actor) {
  caf::scoped_actor self{system_};
  auto create = creation_of(actor, defaults_);
  create.reply_to = caf::actor_cast<manager_actor>(self);
  self->send(supervisor_, std::move(create));
  std::optional<rejection> refused;
  self->receive(
    [&](managed& created) {
      if (auto* why = std::get_if<rejection>(&created.answer)) refused = std::move(*why);
    },
    caf::after(install_patience) >> [] {});
  if (refused) return fail(host_errc::bad_module, "actor '{}': {}", actor.name, refused->message);
  lifecycle::install_code install;
  install.argument = actor.install_argument;
  install.did = actor.did;
  const auto installed = ask(actor, std::move(install), actor.code);
  caf::anon_send(keeper_, kept_of(actor, defaults_));
  if (installed.token == 0) {
    log_->warn("install_slow actor={} seconds={}", actor.name, install_patience.count());
    return {};
  }
  if (const auto* why = std::get_if<rejection>(&installed.answer)) {
    log_->error("install_failed actor={} reason={}", actor.name, json_quote(why->message));
    return {};
  }
  if (!actor.entry.starts) ask(actor, lifecycle::stop{});
  say("{}  {}  {} {}{}", actor.name, actor.id.to_text(), actor.methods,
      actor.methods == 1 ? "method" : "methods", actor.entry.starts ? "" : "  stopped");
  return {};
}

void node::spawn_keeper() {
  keeper_setup setup;
  setup.supervisor = supervisor_;
  setup.factory = factory_.get();
  setup.metrics = &metrics_;
  setup.time = time_.get();
  setup.manifest = options_.manifest;
  setup.defaults = defaults_;
  setup.facts.version = MOXZI_VERSION;
  setup.facts.started_ns = time_->monotonic_ns();
  setup.facts.device = device_kind_;
  setup.facts.device_threads = device_info_.threads;
  setup.facts.charging = options_.balance.value > 0;
  setup.http = [view = http_view_] { return view->numbers(); };
  setup.log = log_;
  keeper_ = system_.spawn<caf::detached>(keeper, std::move(setup));
}

result<void> node::check() {
  if (auto loaded = load(); !loaded) return loaded;
  if (options_.tls)
    if (auto good = net::check_tls_files(*options_.tls); !good) return good;
  for (const auto& actor : loaded_)
    say("{}  {}  {} {}", actor.name, actor.id.to_text(), actor.methods,
        actor.methods == 1 ? "method" : "methods");
  return {};
}

void node::reload() {
  caf::anon_send(keeper_, reload_atom::value);
}

result<void> node::listen() {
  net::http_server_options options;
  options.address = options_.address;
  options.port = options_.port;
  options.tls = options_.tls;
  net::http_handlers handlers;
  handlers.call = calls_to(routes_, router_, &unit_);
  handlers.node = net::ask(keeper_);
  handlers.turn = [guest = std::make_shared<pool_guest>(pool_.handle())] { guest->work(); };
  http_ = std::make_unique<net::http_server>(std::move(options), std::move(handlers));
  const auto port = http_->start();
  if (!port) return port.error();
  http_view_->show(http_.get());
  const bool is_v6 = options_.address.find(':') != std::string::npos;
  say("listening on {}://{}{}{}:{}", options_.tls ? "https" : "http", is_v6 ? "[" : "",
      options_.address, is_v6 ? "]" : "", *port);
  return {};
}

// From the outside in: what waits is refused, what runs may end, then nobody is left who calls.
void node::stop() {
  if (http_) http_->refuse_calls();
  if (supervisor_) {
    caf::scoped_actor self{system_};
    self->send(supervisor_, stop_atom::value);
    self->receive([](const all_stopped&) {},
                  caf::after(std::chrono::milliseconds{limits::stop_budget_ms}) >> [] {});
  }
  if (http_) http_->stop();
  http_view_->show(nullptr);
  if (keeper_) caf::anon_send(keeper_, stop_atom::value);
  keeper_ = nullptr;
  if (management_) {
    caf::anon_send(management_, stop_atom::value);
    caf::scoped_actor self{system_};
    self->wait_for(management_);
  }
  outcalls_.reset(); // nobody asks any more, and nobody is left to be told
  if (device_) {
    caf::anon_send_exit(device_, caf::exit_reason::user_shutdown);
    device_ = nullptr;
  }
  device_thread_.reset();
  supervisor_ = nullptr;
  router_ = nullptr;
  management_ = nullptr;
}

} // namespace

int run_daemon(const daemon_options& options) {
  ::mallopt(M_MMAP_THRESHOLD, large_block_bytes);
  stop_signals signals{limits::stop_budget_ms};
  node hosting{options};
  if (options.only_check) {
    const auto checked = hosting.check();
    return checked ? exit_ok : refuse(checked.error());
  }
  const auto started = hosting.start(signals);
  if (started) {
    while (!signals.wait(forever_ms)) {
      if (signals.take_reload()) hosting.reload();
    }
  }
  hosting.stop();
  return started ? exit_ok : refuse(started.error());
}

} // namespace moxzi::actors
