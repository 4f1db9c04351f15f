#include "device/device_core.hpp"

#include <algorithm>
#include <map>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "device/definitions.hpp"
#include "device/runs.hpp"

namespace moxzi::device {

namespace {

/// What is left for others when nobody said how much to take.
core_options with_limit(core_options options, const backend_info& info) {
  if (options.memory_bytes == 0) options.memory_bytes = info.memory_bytes / 5 * 4;
  return options;
}

} // namespace

struct device_core::state {
  state(std::unique_ptr<backend> device, core_options limits)
      : on(std::move(device)), options(with_limit(limits, on->info())), plans(options.plans_max),
        memory(*on, options, plans) {
    // nop
  }

  space& of(byte_view owner) {
    auto found = spaces.find(owner);
    if (found != spaces.end()) return found->second;
    auto& made = spaces[byte_string(owner)];
    made.key = owner_key(owner);
    return made;
  }

  std::unique_ptr<backend> on; // first: everything below holds memory of it
  core_options options;
  plan_cache plans;
  memory_account memory;
  std::map<byte_string, space, std::less<>> spaces;
};

device_core::device_core(std::unique_ptr<backend> on, core_options options)
    : state_(std::make_unique<state>(std::move(on), options)) {
  // nop
}

device_core::device_core(device_core&&) noexcept = default;
device_core::~device_core() = default;

result<void> device_core::define_params(byte_view owner, const std::vector<param_spec>& params) {
  return device::define_params(state_->of(owner), owner, params, *state_->on, state_->options,
                               state_->memory);
}

result<void> device_core::define_optimizer(byte_view owner, const optimizer_spec& what) {
  return device::define_optimizer(state_->of(owner), what, state_->memory);
}

result<prepared_run> device_core::prepare(byte_view owner, const run_request& request) {
  auto made = prepare_run(state_->of(owner), request, *state_->on, state_->memory, state_->plans,
                          state_->options.seed);
  if (!made) return made.error();
  prepared_run out;
  out.state_ = std::make_unique<prepared_run::state>(std::move(*made));
  return out;
}

result<run_reply> device_core::execute(prepared_run& what) {
  moxzi_assert(what.state_);
  return execute_run(*what.state_, state_->memory);
}

result<run_reply> device_core::run(byte_view owner, const run_request& request) {
  auto ready = prepare(owner, request);
  if (!ready) return ready.error();
  return execute(*ready);
}

// -- contents ------------------------------------------------------------------

result<std::vector<tensor>> device_core::read(byte_view owner, const read_request& request) {
  return read_contents(state_->of(owner), request, *state_->on, state_->options.reply_bytes_max);
}

result<void> device_core::write(byte_view owner, const std::vector<write_entry>& entries) {
  return write_contents(state_->of(owner), entries, *state_->on);
}

result<void> device_core::remove(byte_view owner, const delete_request& request) {
  return delete_names(state_->of(owner), request, state_->memory);
}

result<void> device_core::rename(byte_view owner, const std::vector<rename_entry>& entries) {
  return rename_params(state_->of(owner), entries);
}

result<space_listing> device_core::list(byte_view owner) const {
  auto found = state_->spaces.find(owner);
  if (found == state_->spaces.end()) return space_listing{};
  return list_contents(found->second, state_->options.reply_bytes_max);
}

device_description device_core::describe(byte_view owner) const {
  auto& options = state_->options;
  auto& is = info();
  device_description out{.kind = is.kind, .name = is.name, .version = is.version};
  if (options.memory_bytes > 0) out.memory_total = options.memory_bytes;
  out.memory_used = memory_bytes();
  out.actor_bytes = memory_bytes(owner);
  if (options.owner_bytes > 0) out.actor_quota = options.owner_bytes;
  for (auto type : {dtype::f32, dtype::f64})
    if (std::ranges::count(is.parameter_types, stored_as(type)) > 0) out.dtypes.push_back(type);
  out.max_ops = static_cast<uint32_t>(limits::program_ops_max);
  out.max_rank = rank_max;
  out.max_tensor_bytes = static_cast<uint64_t>(limits::tensor_elements_max) * sizeof(double);
  return out;
}

void device_core::drop_space(byte_view owner) {
  auto found = state_->spaces.find(owner);
  if (found == state_->spaces.end()) return;
  state_->memory.contents_bytes -= bytes_of(found->second);
  state_->spaces.erase(found);
}

const backend_info& device_core::info() const noexcept {
  return state_->on->info();
}

cache_counters device_core::cache() const noexcept {
  return state_->plans.counters();
}

uint64_t device_core::memory_bytes() const noexcept {
  return state_->memory.contents_bytes + state_->plans.counters().bytes;
}

uint64_t device_core::memory_bytes(byte_view owner) const noexcept {
  auto found = state_->spaces.find(owner);
  return found == state_->spaces.end() ? 0 : bytes_of(found->second);
}

// -- prepared_run --------------------------------------------------------------

prepared_run::prepared_run() noexcept = default;
prepared_run::prepared_run(prepared_run&&) noexcept = default;
prepared_run& prepared_run::operator=(prepared_run&&) noexcept = default;
prepared_run::~prepared_run() = default;

bool prepared_run::parallel() const noexcept {
  return state_->parallel;
}

plan_description prepared_run::describe() const noexcept {
  return {state_->kept->what.arena_bytes, state_->kept->what.input_bytes};
}

uint64_t prepared_run::expected_ns() const noexcept {
  auto& kept = *state_->kept;
  if (kept.expected_ns == 0 && kept.what.parallel) return UINT64_MAX;
  return kept.expected_ns;
}

void prepared_run::measured(uint64_t ns) noexcept {
  // A mean of the last few runs, so that one that was held up decides nothing.
  auto& known = state_->kept->expected_ns;
  constexpr uint64_t runs = 8;
  known = known == 0 ? ns : known - known / runs + ns / runs;
}

} // namespace moxzi::device
