#include <utility>

#include "actors/build/files.hpp"
#include "actors/build/manifest_file.hpp"
#include "actors/daemon/keeper.hpp"
#include "base/reject.hpp"

// What a SIGHUP does: the manifest is read again; what has changed is upgraded, what is new is
// started. What it no longer names goes on until the daemon ends.
namespace moxzi::actors {

void keeper_state::reload() {
  auto manifest = read_manifest(setup_.manifest);
  if (!manifest) {
    setup_.log->error("manifest_refused reason={}", json_quote(manifest.error().message));
    return;
  }
  setup_.log->info("manifest_read actors={}", manifest->actors.size());
  setup_.defaults.environment = public_ids(*manifest);
  for (const auto& entry : manifest->actors) {
    const auto known = kept_.find(entry.name);
    if (known == kept_.end()) {
      begin(entry);
    } else {
      change(known->second, entry);
    }
  }
}

// An actor that the manifest names for the first time.
void keeper_state::begin(const manifest_actor& entry) {
  const auto failed = [log = setup_.log, name = entry.name](const std::string& why) {
    log->error("start_failed actor={} reason={}", name, json_quote(why));
  };
  load(entry, [this, failed](const result<loaded_actor>& loaded) {
    if (!loaded) return failed(loaded.error().message);
    auto create = creation_of(*loaded, setup_.defaults);
    create.token = ++tokens_;
    create.reply_to = caf::actor_cast<manager_actor>(self_);
    asked_.emplace(create.token, [this, failed, actor = *loaded](lifecycle::answer& created) {
      if (const auto* why = std::get_if<rejection>(&created)) return failed(why->message);
      install(actor, lifecycle::install_mode::install, true,
              [this, failed, actor](lifecycle::answer& installed) {
                if (const auto* why = std::get_if<rejection>(&installed))
                  return failed(why->message);
                setup_.log->info("started actor={} id={}", actor.name, actor.id.to_text());
                if (!actor.entry.starts)
                  ask(actor.id, true, lifecycle::stop{}, [](lifecycle::answer&) {});
              });
    });
    self_->send(setup_.supervisor, std::move(create));
  });
}

void keeper_state::change(kept_actor& known, const manifest_actor& entry) {
  const auto id = entry.id.value_or(principal::of_actor(entry.name));
  if (id != known.id) {
    setup_.log->error(
      "upgrade_refused actor={} reason=\"its id has changed; that needs a new start\"", entry.name);
    return;
  }
  known.entry = entry;
  if (auto settings = settings_of(entry, setup_.defaults); settings != known.settings) {
    known.settings = settings;
    ask(id, true, lifecycle::change_settings{std::move(settings)},
        [log = setup_.log, name = entry.name](lifecycle::answer& answer) {
          if (const auto* why = std::get_if<rejection>(&answer))
            log->error("settings_refused actor={} reason={}", name, json_quote(why->message));
        });
  }
  upgrade(known);
}

// Puts the module in place if its file has changed.
void keeper_state::upgrade(const kept_actor& known) {
  const auto& entry = known.entry;
  const auto failed = [log = setup_.log, name = entry.name](const std::string& why) {
    log->error("upgrade_failed actor={} reason={}", name, json_quote(why));
  };
  const auto wasm = read_module(entry);
  if (!wasm) return failed(wasm.error().message);
  if (sha256(*wasm) == known.file) return;
  if (entry.upgrade == upgrade_policy::never) {
    setup_.log->info("upgrade_left actor={} reason=\"its manifest entry says never\"", entry.name);
    return;
  }
  const auto mode = entry.upgrade == upgrade_policy::reinstall ? lifecycle::install_mode::reinstall
                                                               : lifecycle::install_mode::upgrade;
  load(entry, [this, failed, mode](const result<loaded_actor>& loaded) {
    if (!loaded) return failed(loaded.error().message);
    install(*loaded, mode, true,
            [log = setup_.log, failed, name = loaded->name](lifecycle::answer& answer) {
              if (const auto* why = std::get_if<rejection>(&answer)) return failed(why->message);
              log->info("upgraded actor={}", name);
            });
  });
}

} // namespace moxzi::actors
