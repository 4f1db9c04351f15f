#pragma once

#include <gtest/gtest.h>

#include "actors/lifecycle.hpp"
#include "tests/actors/core_driver.hpp"

namespace moxzi::actors::testing {

inline const principal owner = principal::of_actor("owner");
inline const principal stranger = principal::of_actor("stranger");

/// An actor that has `owner` as its controller.
inline create_input owned() {
  create_input created;
  created.settings.controllers = {owner};
  return created;
}

inline lifecycle::status status_of(core_driver& actor) {
  return std::get<lifecycle::status>(actor.changes.at(actor.ask(lifecycle::read_status{})));
}

/// Its records replay on a fresh body.
inline void expect_replays(const core_driver& actor) {
  core_settings settings;
  settings.self = actor.self;
  script_body fresh;
  fresh.entries = actor.body.entries;
  const auto outcome = replay(actor.records, settings, fresh, source_of(fresh));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->records, actor.records.size());
}

} // namespace moxzi::actors::testing
