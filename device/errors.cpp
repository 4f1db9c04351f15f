#include "device/errors.hpp"

namespace moxzi::device {

namespace {

class category_of_device final : public std::error_category {
public:
  const char* name() const noexcept override {
    return "moxzi.device";
  }
  std::string message(int code) const override {
    return code_text(static_cast<device_errc>(code));
  }
};

} // namespace

const std::error_category& device_category() noexcept {
  static const category_of_device instance;
  return instance;
}

std::string code_text(device_errc code) {
  return fmt::format("MXD{:03}", static_cast<int>(code));
}

bool is_transient(device_errc code) noexcept {
  switch (code) {
    case device_errc::fetch_failed:
    case device_errc::out_of_memory:
    case device_errc::device_failed:
      return true;
    default:
      return false;
  }
}

error at(device_errc code, std::string_view where, std::string_view what) {
  return error{make_error_code(code), fmt::format("{}: {}: {}", code_text(code), where, what)};
}

} // namespace moxzi::device
