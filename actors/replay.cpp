#include "actors/replay.hpp"

#include <future>
#include <iterator>
#include <memory>

#include "actors/host_error.hpp"

namespace moxzi::actors {

namespace {

execution_output run(actor_body& body, start_execution what) {
  auto ended = std::make_shared<std::promise<execution_output>>();
  auto output = ended->get_future();
  body.execute(std::move(what.input), std::move(what.may_call),
               [ended](execution_output result) { ended->set_value(std::move(result)); });
  return output.get();
}

template <class... Args>
error fail_at(const persist::record& at, host_errc code, fmt::format_string<Args...> format,
              Args&&... args) {
  return fail(code, "record {} (sequence {}): {}", at.number, at.sequence,
              fmt::format(format, std::forward<Args>(args)...));
}

// An installation's code, found by its hash.
result<void> find_code(recorded_input& input, const code_source& modules) {
  auto* change = std::get_if<change_input>(&input.input);
  if (change == nullptr || !std::holds_alternative<lifecycle::install_code>(change->what))
    return {};
  auto code = modules(change->module);
  if (!code) return code.error();
  change->code = *std::move(code);
  return {};
}

core_effects run_to_end(canister_core& core, core_effects effects, actor_body& body,
                        uint64_t time_ns) {
  std::vector<persist::record> records;
  for (;;) {
    for (const auto query : effects.ended_queries) body.end_query(query);
    if (effects.clears_body) body.clear();
    std::move(effects.records.begin(), effects.records.end(), std::back_inserter(records));
    if (!effects.execute) break;
    auto output = run(body, *std::move(effects.execute));
    effects = core.step(execution_ended{std::move(output)}, time_ns);
  }
  effects.records = std::move(records);
  return effects;
}

} // namespace

result<replay_summary> replay(const std::vector<persist::record>& records, core_settings settings,
                              actor_body& body, const code_source& modules) {
  const auto self = settings.self;
  canister_core core{std::move(settings)};
  replay_summary summary;
  for (const auto& recorded : records) {
    if (recorded.actor != self.bytes()) continue;
    // The device's records carry the owner's principal too; they are not the actor's inputs.
    if (recorded.kind >= persist::record_kind::device_params) continue;
    auto input = decode_payload(recorded);
    if (!input) return fail_at(recorded, host_errc::bad_record, "{}", input.error().message);
    if (auto found = find_code(*input, modules); !found) {
      return fail_at(recorded, host_errc::bad_record, "{}", found.error().message);
    }
    auto effects = core.replay(*std::move(input), recorded.time_ns);
    if (!effects) return fail_at(recorded, host_errc::bad_record, "{}", effects.error().message);
    effects = run_to_end(core, *std::move(effects), body, recorded.time_ns);
    if (effects->records.size() != 1) {
      return fail_at(recorded, host_errc::diverged, "it left {} records instead of one",
                     effects->records.size());
    }
    const auto& again = effects->records.front();
    if (again.number != recorded.number || again.digest != recorded.digest) {
      return fail_at(recorded, host_errc::diverged, "digest is {} as record {}, recorded was {}",
                     to_hex(again.digest), again.number, to_hex(recorded.digest));
    }
    ++summary.records;
    summary.instructions += again.instructions;
  }
  return summary;
}

} // namespace moxzi::actors
