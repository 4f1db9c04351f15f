#include "actors/replay.hpp"

#include <future>
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

} // namespace

result<replay_summary> replay(const std::vector<persist::record>& records, core_settings settings,
                              actor_body& body) {
  const auto self = settings.self;
  canister_core core{std::move(settings), body};
  replay_summary summary;
  for (const auto& recorded : records) {
    if (recorded.actor != self.bytes()) continue;
    // The device's records carry the owner's principal too; they are not the actor's inputs.
    if (recorded.kind > persist::record_kind::heartbeat) continue;
    auto input = decode_payload(recorded);
    if (!input) return fail_at(recorded, host_errc::bad_record, "{}", input.error().message);
    auto effects = core.replay(*std::move(input), recorded.time_ns);
    if (!effects) return fail_at(recorded, host_errc::bad_record, "{}", effects.error().message);
    while (effects->execute) {
      auto output = run(body, *std::move(effects->execute));
      effects = core.step(execution_ended{std::move(output)}, recorded.time_ns);
    }
    if (!effects->record) {
      return fail_at(recorded, host_errc::diverged, "the installation failed: {}",
                     core.install_failure());
    }
    if (effects->record->number != recorded.number || effects->record->digest != recorded.digest) {
      return fail_at(recorded, host_errc::diverged, "digest is {} as record {}, recorded was {}",
                     to_hex(effects->record->digest), effects->record->number,
                     to_hex(recorded.digest));
    }
    ++summary.records;
    summary.instructions += effects->record->instructions;
  }
  return summary;
}

} // namespace moxzi::actors
