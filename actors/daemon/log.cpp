#include "actors/daemon/log.hpp"

#include <utility>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/reject.hpp"

namespace moxzi::actors {

namespace {

/// The event as a JSON string.
class quoted_text final : public spdlog::custom_flag_formatter {
public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& to) override {
    const auto text = json_quote({message.payload.data(), message.payload.size()});
    to.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<quoted_text>();
  }
};

} // namespace

std::shared_ptr<spdlog::logger> make_log(const std::string& level, bool as_json) {
  auto log =
    std::make_shared<spdlog::logger>("moxzid", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  if (as_json) {
    formatter->add_flag<quoted_text>('Q').set_pattern(
      R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","text":%Q})");
  } else {
    formatter->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v");
  }
  log->set_formatter(std::move(formatter));
  log->set_level(spdlog::level::from_str(level));
  log->flush_on(spdlog::level::info);
  return log;
}

} // namespace moxzi::actors
