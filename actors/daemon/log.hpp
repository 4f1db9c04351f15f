#pragma once

#include <memory>
#include <string>

#include <spdlog/spdlog.h>

namespace moxzi::actors {

/// The daemon's log on stderr, a line an event: `TIME LEVEL event key=value …`, or as JSON
/// `{"time":"…","level":"…","text":"event key=value …"}`.
std::shared_ptr<spdlog::logger> make_log(const std::string& level, bool as_json);

} // namespace moxzi::actors
