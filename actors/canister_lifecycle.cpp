#include <algorithm>

#include "actors/canister_core.hpp"
#include "base/assert.hpp"

// What is asked of an actor beside its own methods. Each change has one point: before it nothing
// has changed, after it nothing fails.

namespace moxzi::actors {

namespace {

namespace lc = lifecycle;

template <class Request>
bool is(const change_input& input) {
  return std::holds_alternative<Request>(input.what);
}

bool contains(const std::vector<principal>& all, const principal& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// True if the heap is to outlive the upgrade; otherwise why it cannot be decided.
result<bool> keeps_heap(lc::heap_policy policy, bool before, bool after) {
  if (policy == lc::heap_policy::replace) return false;
  if (policy == lc::heap_policy::keep && !after) {
    return fail(base_errc::malformed,
                "the new module does not keep its heap (enhanced orthogonal persistence)");
  }
  if (policy == lc::heap_policy::unsaid && before && !after) {
    return fail(base_errc::malformed,
                "the actor's data is in its heap and the new module would lose it; upgrade with "
                "wasm_memory_persistence = replace if that is meant");
  }
  return after && (before || policy == lc::heap_policy::keep);
}

} // namespace

void canister_core::refuse_change(const change_input& input, const char* error_code,
                                  std::string message, core_effects& out) {
  const auto code = static_cast<reject_code>(error_code[2] - '0');
  out.changes.push_back({input.token, rejected(code, error_code,
                                               fmt::format("Canister {} {}", host_.self.to_text(),
                                                           std::move(message)))});
}

std::optional<rejection> canister_core::why_forbidden(const change_input& input) const {
  if (!input.sender || contains(settings_.controllers, *input.sender)) {
    if (!is<lc::change_prices>(input) || !input.sender) return std::nullopt;
  }
  if (is<lc::deposit>(input)) return std::nullopt;
  return rejected(reject_code::canister_error, "MX512",
                  fmt::format("{} is no controller of canister {}", input.sender->to_text(),
                              host_.self.to_text()));
}

// -- reading -------------------------------------------------------------------

void canister_core::read(const change_input& input, core_effects& out) {
  const bool is_controller = !input.sender || contains(settings_.controllers, *input.sender);
  const auto give = [&](lc::answer what) { out.changes.push_back({input.token, std::move(what)}); };
  const auto forbid = [&] {
    refuse_change(input, "MX512", "does not show this to " + input.sender->to_text(), out);
  };
  if (is<lc::read_status>(input)) {
    if (!may_see(settings_.status, input) && *input.sender != host_.self) return forbid();
    return give(status());
  }
  if (const auto* what = std::get_if<lc::read_info>(&input.what)) {
    lc::info info;
    info.changes = history_count_;
    const auto count = std::min<uint64_t>(what->changes, history_.size());
    info.latest.assign(history_.end() - static_cast<ptrdiff_t>(count), history_.end());
    if (code_) info.module_hash = code_->hash();
    info.controllers = settings_.controllers;
    return give(std::move(info));
  }
  if (const auto* what = std::get_if<lc::read_metadata>(&input.what)) {
    const auto* found = code_ ? code_->find_metadata(what->name) : nullptr;
    if (found == nullptr || (!found->is_public && !is_controller)) {
      return refuse_change(input, "MX404", "has no metadata '" + what->name + "'", out);
    }
    return give(lc::metadata{found->contents});
  }
  if (const auto* what = std::get_if<lc::read_log>(&input.what)) {
    if (!may_see(settings_.logs, input)) return forbid();
    std::vector<lc::log_line> lines;
    for (const auto& line : log_) {
      if (line.number >= what->from) lines.push_back(line);
    }
    return give(std::move(lines));
  }
  if (!may_see(settings_.snapshots, input)) return forbid();
  std::vector<lc::snapshot> snapshots;
  for (const auto& [_, kept] : snapshots_) snapshots.push_back(kept.what);
  give(std::move(snapshots));
}

bool canister_core::may_see(const lc::audience& what, const change_input& input) const {
  if (!input.sender || contains(settings_.controllers, *input.sender)) return true;
  if (what.who == lc::visibility::everyone) return true;
  return what.who == lc::visibility::allowed_viewers && contains(what.viewers, *input.sender);
}

lc::status canister_core::status() const {
  lc::status now;
  now.id = host_.self;
  now.run = run_;
  now.current = settings_;
  if (code_) {
    now.module_hash = code_->hash();
    now.methods = code_->methods();
    now.code = code_->sizes();
  }
  now.history_bytes = history_bytes();
  now.version = version_;
  now.heap_bytes = heap_bytes_;
  now.stable_bytes = stable_bytes_;
  for (const auto& [_, kept] : snapshots_) now.snapshot_bytes += kept.what.bytes;
  now.log_bytes = log_bytes_;
  now.balance = balance();
  now.waiting = queued_requests_;
  now.open_contexts = contexts_.size();
  now.install_failure = install_failure_;
  now.counts = counts_;
  return now;
}

// -- changes without an execution ----------------------------------------------

void canister_core::record_change(const change_input& input) {
  running_.emplace();
  begin_record(input, {}, 0);
  running_->digest.add_change({});
  ++version_;
}

void canister_core::end_change(const change_input& input, core_effects& out) {
  finish_record(out);
  out.changes.push_back({input.token, lc::done{}});
}

void canister_core::change(const lc::uninstall_code&, change_input& input, core_effects& out) {
  record_change(input);
  drop_code(out);
  note_change(lc::change::kind::uninstall, input);
  end_change(input, out);
  settle_stop(out);
}

// Open calls of the code that goes are answered; responses that still come to it are only counted.
void canister_core::drop_code(core_effects& out) {
  for (auto& [_, context] : contexts_) {
    if (context.request && !context.answered) {
      answer(context,
             rejected(reject_code::canister_reject, "MX406",
                      fmt::format("Canister {} has been uninstalled", host_.self.to_text())),
             out);
    }
  }
  contexts_.clear();
  for (auto& [_, call] : calls_) call.context = 0;
  code_ = nullptr;
  install_failure_.clear();
  certified_.clear();
  timer_ns_ = 0;
  heap_bytes_ = 0;
  stable_bytes_ = 0;
  low_memory_ = low_hook::off;
  out.clears_body = true;
  out.forgets_space = true;
}

void canister_core::change(const lc::start&, change_input& input, core_effects& out) {
  record_change(input);
  run_ = lc::run_status::running;
  for (const auto& stop : stops_) {
    out.changes.push_back(
      {stop.token, rejected(reject_code::canister_error, "MX511",
                            fmt::format("canister {} was started again", host_.self.to_text()))});
  }
  stops_.clear();
  end_change(input, out);
}

void canister_core::change(const lc::stop&, change_input& input, core_effects& out) {
  record_change(input);
  if (run_ == lc::run_status::running) run_ = lc::run_status::stopping;
  finish_record(out);
  stops_.push_back({input.token, time_ns_ + limits::stop_timeout_ns});
  settle_stop(out);
}

void canister_core::settle_stop(core_effects& out) {
  if (run_ == lc::run_status::running || !contexts_.empty()) return;
  if (run_ == lc::run_status::stopping) ++version_;
  run_ = lc::run_status::stopped;
  for (const auto& stop : stops_) out.changes.push_back({stop.token, lc::done{}});
  stops_.clear();
}

void canister_core::change(const lc::remove&, change_input& input, core_effects& out) {
  if (run_ != lc::run_status::stopped) {
    return refuse_change(input, "MX510", "must be stopped before it can be deleted", out);
  }
  record_change(input);
  drop_code(out);
  spent_.value += balance_.value;
  balance_ = {};
  snapshots_.clear();
  life_ = life::removed;
  out.removed = true;
  end_change(input, out);
  while (!changes_.empty()) {
    refuse_change(changes_.front(), "MX301", "is not hosted here any more", out);
    changes_.pop_front();
  }
}

void canister_core::change(const lc::change_settings& what, change_input& input,
                           core_effects& out) {
  const auto& wanted = what.what;
  if (auto fault = fault_of(wanted); !fault.empty()) {
    return refuse_change(input, "MX408", "cannot be set so: " + fault, out);
  }
  // No update could run any more, the one that would raise it again among them.
  if (const auto limit = wanted.wasm_memory_limit.value_or(0); limit != 0 && limit < heap_bytes_) {
    return refuse_change(
      input, "MX539",
      fmt::format("has a heap of {} bytes already; its limit cannot be {}", heap_bytes_, limit),
      out);
  }
  record_change(input);
  lc::apply(wanted, settings_);
  if (wanted.controllers) note_change(lc::change::kind::controllers, input);
  renew_facts();
  watch_memory();
  trim_log();
  end_change(input, out);
}

void canister_core::change(const lc::deposit& what, change_input& input, core_effects& out) {
  record_change(input);
  if (charging_) balance_.value += what.amount.value;
  end_change(input, out);
}

void canister_core::change(const lc::delete_snapshot& what, change_input& input,
                           core_effects& out) {
  if (!snapshots_.contains(what.id)) {
    return refuse_change(input, "MX305", "has no such snapshot", out);
  }
  record_change(input);
  snapshots_.erase(what.id);
  end_change(input, out);
}

void canister_core::change(const lc::change_prices& what, change_input& input, core_effects& out) {
  record_change(input);
  charging_ = what.charging;
  prices_ = what.prices;
  renew_facts();
  end_change(input, out);
}

// -- changes with an execution -------------------------------------------------

void canister_core::change(const lc::install_code& what, change_input& input, core_effects& out) {
  moxzi_assert(input.code != nullptr);
  const bool is_upgrade = what.mode == lc::install_mode::upgrade;
  if (what.mode == lc::install_mode::install && code_) {
    return refuse_change(input, "MX538",
                         "has code already; reinstall or upgrade it, or uninstall it first", out);
  }
  if (is_upgrade && !code_) {
    return refuse_change(input, "MX537", "has no code that could be upgraded", out);
  }
  execution_input run;
  if (is_upgrade) {
    const auto keeps = keeps_heap(what.heap, code_->keeps_heap(), input.code->keeps_heap());
    if (!keeps) {
      return refuse_change(input, "MX504", "cannot be upgraded so: " + keeps.error().message, out);
    }
    run.keeps_heap = *keeps;
    run.skips_pre_upgrade = what.skip_pre_upgrade;
  }
  run.argument = what.argument;
  run.caller = input.sender.value_or(principal::anonymous());
  run.code = input.code;
  begin_change_execution(is_upgrade ? entry_kind::upgrade : entry_kind::init, std::move(input),
                         std::move(run), out);
}

void canister_core::change(const lc::take_snapshot& what, change_input& input, core_effects& out) {
  if (!code_) return refuse_change(input, "MX537", "has no code to keep", out);
  if (what.replace && !snapshots_.contains(*what.replace)) {
    return refuse_change(input, "MX305", "has no such snapshot", out);
  }
  if (!what.replace && snapshots_.size() >= limits::snapshots_max) {
    return refuse_change(input, "MX408",
                         fmt::format("has {} snapshots already; delete one, or name the one that "
                                     "the new one replaces",
                                     snapshots_.size()),
                         out);
  }
  begin_change_execution(entry_kind::take_snapshot, std::move(input), {}, out);
}

void canister_core::change(const lc::load_snapshot& what, change_input& input, core_effects& out) {
  const auto kept = snapshots_.find(what.id);
  if (kept == snapshots_.end()) {
    return refuse_change(input, "MX305", "has no such snapshot", out);
  }
  execution_input run;
  run.snapshot = kept->second.state;
  run.code = kept->second.state->code();
  begin_change_execution(entry_kind::load_snapshot, std::move(input), std::move(run), out);
}

void canister_core::begin_change_execution(entry_kind kind, change_input input,
                                           execution_input what, core_effects& out) {
  const auto instructions_max = limit_of(kind);
  const auto held = hold(instructions_max);
  if (!held) return refuse_change(input, "MX207", "is out of cycles", out);
  running_.emplace();
  running_->held = *held;
  begin_record(input, {}, instructions_max);
  running_->code = what.code;
  running_->change = std::move(input);
  what.kind = kind;
  what.instructions_max = instructions_max;
  execute(std::move(what), 0, out);
}

void canister_core::end_change_execution(execution_output output, core_effects& out) {
  const auto change = *std::move(running_->change);
  const bool is_installation = is<lc::install_code>(change);
  if (output.trapped) {
    apply(output, nullptr, out);
    auto why = rejection_of(*output.trapped);
    if (is_installation && !code_) install_failure_ = output.trapped->message;
    finish_record(out);
    out.changes.push_back({change.token, std::move(why)});
    return;
  }
  lc::answer answer = lc::done{};
  if (is_installation || is<lc::load_snapshot>(change)) {
    finish_new_code(change, output, out);
  } else {
    answer = finish_snapshot(change, output, out);
  }
  finish_record(out);
  out.changes.push_back({change.token, std::move(answer)});
  settle_stop(out);
}

// The new code's timer and certified data are those that it set by itself; a snapshot's come back.
void canister_core::finish_new_code(const change_input& change, execution_output& output,
                                    core_effects& out) {
  const auto* load = std::get_if<lc::load_snapshot>(&change.what);
  const bool is_upgrade = running_->kind == entry_kind::upgrade;
  code_ = running_->code;
  install_failure_.clear();
  timer_ns_ = 0;
  task_retry_ns_ = 0;
  if (!is_upgrade) certified_.clear();
  next_beat_ns_ = time_ns_ + limits::heartbeat_interval_ns;
  if (load != nullptr) {
    const auto& kept = snapshots_.at(load->id);
    certified_ = kept.certified;
    timer_ns_ = kept.timer_ns;
  }
  apply(output, nullptr, out);
  auto what = lc::change::kind::load;
  if (const auto* install = std::get_if<lc::install_code>(&change.what)) {
    constexpr lc::change::kind kinds[] = {lc::change::kind::install, lc::change::kind::reinstall,
                                          lc::change::kind::upgrade};
    what = kinds[static_cast<size_t>(install->mode)];
    out.forgets_space = install->mode == lc::install_mode::reinstall;
  }
  note_change(what, change, load != nullptr ? snapshots_.at(load->id).what : lc::snapshot{});
}

lc::answer canister_core::finish_snapshot(const change_input& change, execution_output& output,
                                          core_effects& out) {
  const auto& what = std::get<lc::take_snapshot>(change.what);
  running_->digest.add(output.state_digest);
  if (what.replace) snapshots_.erase(*what.replace);
  kept_snapshot kept;
  writer id;
  id.raw(host_.self.bytes());
  const auto number = ++snapshot_count_;
  for (int shift = 56; shift >= 0; shift -= 8) id.u8(static_cast<uint8_t>(number >> shift));
  kept.what = {id.take(), time_ns_, output.snapshot->bytes(), version_};
  kept.state = std::move(output.snapshot);
  kept.certified = certified_;
  kept.timer_ns = timer_ns_;
  std::vector<lc::snapshot> shown{kept.what};
  snapshots_.emplace(kept.what.id, std::move(kept));
  if (what.uninstall) {
    drop_code(out);
    ++version_;
    note_change(lc::change::kind::uninstall, change);
  }
  return shown;
}

// -- what follows --------------------------------------------------------------

void canister_core::note_change(lc::change::kind what, const change_input& from,
                                lc::snapshot snapshot) {
  lc::change entry;
  entry.origin = from.sender.value_or(principal::anonymous());
  entry.origin_version = from.sender_version;
  entry.what = what;
  if (code_) entry.module_hash = code_->hash();
  if (what == lc::change::kind::controllers) entry.controllers = settings_.controllers;
  entry.snapshot = std::move(snapshot);
  keep_change(std::move(entry));
}

void canister_core::keep_change(lc::change entry) {
  entry.time_ns = time_ns_;
  entry.version = version_;
  ++history_count_;
  history_.push_back(std::move(entry));
  if (history_.size() > limits::history_max) history_.pop_front();
}

uint64_t canister_core::history_bytes() const noexcept {
  uint64_t bytes = history_.size() * sizeof(lc::change);
  for (const auto& entry : history_) bytes += entry.controllers.size() * sizeof(principal);
  return bytes;
}

void canister_core::renew_facts() {
  auto facts = std::make_shared<actor_facts>();
  facts->controllers = settings_.controllers;
  facts->environment.assign(settings_.environment.begin(), settings_.environment.end());
  facts->subnet = host_.subnet;
  facts->root_key = host_.root_key;
  facts->charging = charging_;
  facts->prices = prices_;
  facts->callback_instructions_max = host_.update_instructions_max;
  facts_ = std::move(facts);
}

uint64_t canister_core::heap_limit() const noexcept {
  const auto own = settings_.wasm_memory_limit;
  return own == 0 ? host_.heap_bytes_max : std::min(own, host_.heap_bytes_max);
}

} // namespace moxzi::actors
