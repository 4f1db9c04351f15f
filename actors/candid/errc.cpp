#include "actors/candid/errc.hpp"

#include <fmt/format.h>

#include "base/bytes.hpp"

namespace moxzi::candid {

namespace {

class category final : public std::error_category {
public:
  const char* name() const noexcept override {
    return "moxzi.candid";
  }

  std::string message(int code) const override {
    switch (static_cast<candid_errc>(code)) {
      case candid_errc::malformed:
        return "not a Candid message";
      case candid_errc::truncated:
        return "Candid message ends too early";
      case candid_errc::over_limit:
        return "Candid message over a limit";
      case candid_errc::trailing:
        return "trailing bytes";
      case candid_errc::mismatch:
        return "value does not fit its type";
      case candid_errc::syntax:
        return "syntax error";
      case candid_errc::unknown_name:
        return "unknown name";
      case candid_errc::incompatible:
        return "incompatible interface";
    }
    return "unknown error";
  }
};

} // namespace

const std::error_category& candid_category() noexcept {
  static const category instance;
  return instance;
}

std::string excerpt(std::string_view text, size_t bytes_max) {
  auto shown = text.substr(0, bytes_max);
  for (int i = 0; i < 3 && !shown.empty() && !is_utf8(shown); ++i) shown.remove_suffix(1);
  if (!is_utf8(shown)) return "(no UTF-8)";
  return shown.size() < text.size() ? std::string{shown} + "…" : std::string{shown};
}

std::string counted(size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

} // namespace moxzi::candid
