#include "device/caf_error.hpp"

#include <utility>

namespace moxzi::device {

namespace {

constexpr auto category = caf::atom("moxzi_dev");

} // namespace

caf::error make_error(device_errc code, std::string text) {
  if (text.empty()) text = code_text(code);
  return {static_cast<uint8_t>(code), category, caf::make_message(std::move(text))};
}

caf::error caf_error(const error& what) {
  if (what.code.category() != device_category())
    return make_error(device_errc::device_failed, what.message);
  return make_error(static_cast<device_errc>(what.code.value()), what.message);
}

std::string text_of(const caf::error& what) {
  if (what && what.category() == category && what.context().match_elements<std::string>())
    return what.context().get_as<std::string>(0);
  return caf::to_string(what);
}

} // namespace moxzi::device
