// Times executions of a hosted actor, commit or rollback included, without the state machine above:
//   wasm_bench                        prints one JSON line a row
//   wasm_bench bump | learn | touch MIB      prints {"median_us":…} of what peers/pagemap_host does
//   too
// Calls to other actors are answered at once with an empty record of results.

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "actors/wasm/engine.hpp"
#include "actors/wasm/wasm_body.hpp"
#include "actors/wasm/wasm_code.hpp"
#include "actors/wasm/wasm_pool.hpp"
#include "tests/perf/hosted_work.hpp"
#include "tests/perf/measured.hpp"

using namespace moxzi;
using namespace moxzi::actors;
using namespace moxzi::perf;

namespace {

double resident_mib() {
  std::ifstream statm{"/proc/self/statm"};
  size_t total = 0, resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

execution_input input_of(entry_kind kind, std::string method, byte_string argument) {
  execution_input input;
  input.kind = kind;
  input.method = std::move(method);
  input.argument = std::move(argument);
  input.caller = principal::anonymous();
  input.instructions_max = 40'000'000'000;
  input.can_answer = true;
  input.time_ns = 1;
  return input;
}

execution_output run(actor_body& body, execution_input input) {
  std::mutex mutex;
  std::condition_variable ended;
  std::optional<execution_output> output;
  body.execute(std::move(input), {}, [&](execution_output result) {
    std::lock_guard held{mutex};
    output = std::move(result);
    ended.notify_one();
  });
  std::unique_lock held{mutex};
  ended.wait(held, [&] { return output.has_value(); });
  return std::move(*output);
}

// The chain of executions of one `learn`, each answer handed in from the thread that executed, as
// messages between actors do.
class chain {
public:
  chain(actor_body& body, uint8_t steps) : body_(body), reply_(device_reply()) {
    go(input_of(entry_kind::update, "learn", nat(steps)));
    std::unique_lock held{mutex_};
    ended_.wait(held, [this] { return done_; });
  }
  size_t executions = 0;
  uint64_t instructions = 0;

private:
  void go(execution_input input) {
    body_.execute(std::move(input), {}, [this](execution_output output) {
      ++executions;
      instructions += output.instructions;
      if (output.trapped) {
        fmt::print(stderr, "trapped: {}\n", output.trapped->message);
        std::exit(1);
      }
      if (output.calls.empty()) {
        std::lock_guard held{mutex_};
        done_ = true;
        ended_.notify_one();
        return;
      }
      const auto& call = output.calls.front();
      auto next = input_of(entry_kind::reply_callback, {},
                           call.method == "moxzi_device_run" ? reply_ : unit());
      next.callback = call.on_reply;
      go(std::move(next));
    });
  }

  actor_body& body_;
  byte_string reply_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
};

void print_row(const char* name, std::vector<double> samples, const std::string& more) {
  std::sort(samples.begin(), samples.end());
  fmt::print("{{\"name\":\"{}\",\"ours_us\":{:.2f},\"best_us\":{:.2f}{}}}\n", name,
             samples[samples.size() / 2], samples.front(), more);
}

// A batch of executions, each handed in from the end of the one before: no change of thread.
double batch_us(actor_body& body, const execution_input& input, int count) {
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  int left = count;
  std::function<void(execution_output)> next = [&](execution_output) {
    if (--left > 0) {
      body.execute(input, {}, next);
      return;
    }
    std::lock_guard held{mutex};
    done = true;
    ended.notify_one();
  };
  auto start = now_us();
  body.execute(input, {}, next);
  std::unique_lock held{mutex};
  ended.wait(held, [&] { return done; });
  return (now_us() - start) / count;
}

byte_string motoko(const char* name) {
  std::ifstream file{fmt::format("{}/{}.wasm", MOXZI_MOTOKO_DIR, name), std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::unique_ptr<actor_body> install(std::shared_ptr<const compiled_module> module,
                                    const wasm_pool& pool, const std::string& name) {
  auto body = make_wasm_body(pool.handle(), {principal::of_actor(name)});
  auto installing = input_of(entry_kind::init, {}, unit());
  installing.code = std::make_shared<const wasm_code>(std::move(module));
  auto installed = run(*body, std::move(installing));
  if (installed.trapped) {
    fmt::print(stderr, "{}: {}\n", name, installed.trapped->message);
    std::exit(1);
  }
  return body;
}

void measure(const char* name, actor_body& body, const execution_input& input) {
  std::vector<double> samples;
  for (int i = 0; i < 15; ++i) samples.push_back(batch_us(body, input, 2'000));
  print_row(name, std::move(samples),
            fmt::format(",\"instructions\":{}", run(body, input).instructions));
}

void measure_learning(actor_body& body) {
  std::vector<double> samples;
  std::string more;
  for (int i = 0; i < 25; ++i) {
    auto start = now_us();
    chain learned{body, 100};
    samples.push_back((now_us() - start) / static_cast<double>(learned.executions));
    more = fmt::format(",\"instructions\":{}", learned.instructions / learned.executions);
  }
  print_row("wasm.learn_message", std::move(samples), more);
}

void measure_hop(actor_body& body) {
  std::vector<double> samples;
  for (int i = 0; i < 2'000; ++i) {
    auto input = input_of(entry_kind::query, "count", unit());
    auto start = now_us();
    run(body, std::move(input));
    samples.push_back(now_us() - start);
  }
  print_row("wasm.query_from_another_thread", std::move(samples), "");
}

void measure_many(const std::shared_ptr<const compiled_module>& module, const wasm_pool& pool) {
  auto before = resident_mib();
  std::vector<std::unique_ptr<actor_body>> many;
  auto start = now_us();
  for (int i = 0; i < 1'000; ++i) many.push_back(install(module, pool, std::to_string(i)));
  print_row("wasm.install", {(now_us() - start) / 1'000},
            fmt::format(",\"mib_for_1000\":{:.0f}", resident_mib() - before));
}

// The same executions as the peer's, for the ratio.
void print_median(std::vector<double> samples) {
  fmt::print("{{\"median_us\":{:.3f}}}\n", median(std::move(samples)));
}

void measure_in_turn(wasm_engine& engine, const wasm_pool& pool, const std::string& what,
                     uint64_t mib) {
  std::vector<double> samples;
  if (what == "touch") {
    auto body = install(*engine.compile(*wasm_from_text(full_heap(mib))), pool, "full");
    run(*body, input_of(entry_kind::update, "read", {}));
    const auto input = input_of(entry_kind::update, "touch", {});
    for (int i = 0; i < 15; ++i) samples.push_back(batch_us(*body, input, 200));
    return print_median(std::move(samples));
  }
  auto body = install(*engine.compile(motoko(what == "bump" ? "counter" : "letters")), pool, what);
  const auto input = input_of(entry_kind::update, "bump", nat(1));
  for (int i = 0; i < 15; ++i) {
    if (what == "bump") {
      samples.push_back(batch_us(*body, input, 2'000));
    } else {
      const auto start = now_us();
      chain learned{*body, 100};
      samples.push_back((now_us() - start) / static_cast<double>(learned.executions));
    }
  }
  print_median(std::move(samples));
}

} // namespace

int main(int argc, char** argv) {
  auto engine = *wasm_engine::make();
  if (argc > 1) {
    measure_in_turn(*engine, wasm_pool{}, argv[1], argc > 2 ? std::stoull(argv[2]) : 0);
    return 0;
  }
  auto wasm = motoko("letters");
  auto start = now_us();
  auto letters = *engine->compile(wasm);
  print_row("wasm.compile", {now_us() - start}, "");
  auto artifact = *letters->artifact();
  start = now_us();
  auto loaded = *engine->load(wasm, artifact);
  print_row("wasm.load", {now_us() - start}, "");
  auto counter = *engine->compile(motoko("counter"));

  wasm_pool pool;
  auto counting = install(counter, pool, "counter");
  measure("wasm.query", *counting, input_of(entry_kind::query, "count", unit()));
  measure("wasm.bump", *counting, input_of(entry_kind::update, "bump", nat(1)));
  measure_hop(*counting);
  measure_learning(*install(loaded, pool, "letters"));
  measure_many(letters, pool);
  return 0;
}
