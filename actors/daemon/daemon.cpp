#include "actors/daemon/daemon.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <caf/all.hpp>
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "actors/build/manifest_file.hpp"
#include "actors/canister_actor.hpp"
#include "actors/daemon/actor_loader.hpp"
#include "actors/daemon/module_cache.hpp"
#include "actors/daemon/stop_signals.hpp"
#include "actors/host_error.hpp"
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
#include "persist/memory_journal.hpp"

namespace moxzi::actors {

namespace {

constexpr int exit_ok = 0;
constexpr int exit_refused = 1;
constexpr uint32_t forever_ms = 3'600'000;
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

std::shared_ptr<spdlog::logger> make_log(const std::string& level) {
  auto log =
    std::make_shared<spdlog::logger>("moxzid", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  log->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
  log->set_level(spdlog::level::from_str(level));
  log->flush_on(spdlog::level::info);
  return log;
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

/// A node: everything that lives as long as the daemon, in the order of construction.
class node {
public:
  explicit node(const daemon_options& options)
      : options_(options), log_(make_log(options.log_level)), time_(make_system_clock()),
        randomness_(make_system_entropy()), journal_(limits::memory_journal_bytes_max),
        alarms_(*time_), unit_(system_, pool_.handle()), system_(config_) {
    // nop
  }

  // The pool's threads go before the actors that they run; those end on CAF's.
  ~node() {
    pool_.stop();
  }

  result<void> start(const stop_signals& signals);
  void stop();

private:
  result<void> open_device(const std::string& kind);
  result<void> load();
  void spawn();
  result<void> host(loaded_actor actor);
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
  std::string device_kind_;
  device::backend_info device_info_;
  std::unique_ptr<device::backend> backend_;
  node_config config_;
  caf::actor_system system_;
  std::unique_ptr<device::device_thread> device_thread_;
  device::device_worker_actor device_;
  management_actor management_;
  router_actor router_;
  supervisor_actor supervisor_;
  std::unique_ptr<net::http_server> http_;
};

result<void> node::start(const stop_signals& signals) {
  if (auto loaded = load(); !loaded) return loaded;
  spawn();
  for (auto& actor : loaded_) {
    if (signals.asked()) return {};
    if (auto hosted = host(std::move(actor)); !hosted) return hosted;
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
    if (auto opened = open_device(*kind); !opened) return opened;
  }
  auto engine = wasm_engine::make();
  if (!engine) return engine.error();
  engine_ = *std::move(engine);
  wasm_factory_options making;
  making.pool = pool_.handle();
  making.heap_bytes_max = std::min(options_.heap_bytes_max, limits::heap_bytes_max);
  making.compile = [cache = module_cache{options_.cache_folder, limits::cached_modules_max},
                    engine = engine_](byte_view wasm) { return cache.get(wasm, *engine); };
  factory_ = std::make_unique<wasm_factory>(std::move(making));
  for (const auto& entry : manifest->actors) {
    auto actor = load_actor(entry, *factory_);
    if (!actor) return actor.error();
    loaded_.push_back(*std::move(actor));
  }
  return {};
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
  management_ = management::spawn_management(
    system_, {device_, &journal_, time_.get(), randomness_.get(), log_});
  router_ = system_.spawn(router, callee_actor{management_}, log_);
  supervisor_setup setup;
  setup.router = router_;
  setup.management = management_;
  setup.services = {router_,  management_, &journal_,      time_.get(),
                    &alarms_, &unit_,      factory_.get(), log_};
  set_limits(setup.settings, options_.instructions_max);
  setup.settings.heap_bytes_max = std::min(options_.heap_bytes_max, limits::heap_bytes_max);
  supervisor_ = system_.spawn(supervisor, std::move(setup));
}

result<void> node::host(loaded_actor actor) {
  caf::scoped_actor self{system_};
  const auto manager = caf::actor_cast<manager_actor>(self);
  create_actor create;
  create.name = actor.name;
  create.id = actor.id;
  create.reply_to = manager;
  self->send(supervisor_, std::move(create));
  lifecycle::install_code install;
  install.argument = std::move(actor.install_argument);
  install.did = std::move(actor.did);
  manage_actor manage;
  manage.target = actor.id;
  manage.what = std::move(install);
  manage.code = actor.code;
  manage.token = 1;
  manage.reply_to = manager;
  self->send(supervisor_, std::move(manage));
  const rejection* refused = nullptr;
  managed report;
  const auto take = [&](managed& what) {
    report = std::move(what);
    refused = std::get_if<rejection>(&report.answer);
  };
  const auto patience = caf::after(install_patience) >> [&] {
    report.token = 1;
    log_->warn("install_slow actor={} seconds={}", actor.name, install_patience.count());
  };
  do {
    self->receive(take, patience);
    if (refused != nullptr && report.token == 0) {
      return fail(host_errc::bad_module, "actor '{}': {}", actor.name, refused->message);
    }
  } while (report.token == 0);
  if (refused != nullptr) {
    log_->error("install_failed actor={} reason={}", actor.name, json_quote(refused->message));
  } else if (report.target == actor.id) {
    say("{}  {}  {} {}", actor.name, actor.id.to_text(), actor.methods,
        actor.methods == 1 ? "method" : "methods");
  }
  return {};
}

result<void> node::listen() {
  net::http_server_options options;
  options.address = options_.address;
  options.port = options_.port;
  http_ = std::make_unique<net::http_server>(std::move(options), net::send_to(router_, &unit_));
  const auto port = http_->start();
  if (!port) return port.error();
  const bool is_v6 = options_.address.find(':') != std::string::npos;
  say("listening on http://{}{}{}:{}", is_v6 ? "[" : "", options_.address, is_v6 ? "]" : "", *port);
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
  stop_signals signals{limits::stop_budget_ms};
  node hosting{options};
  const auto started = hosting.start(signals);
  if (started) {
    while (!signals.wait(forever_ms)) {
      // nop
    }
  }
  hosting.stop();
  return started ? exit_ok : refuse(started.error());
}

} // namespace moxzi::actors
