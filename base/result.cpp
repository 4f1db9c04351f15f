#include "base/result.hpp"

#include "base/assert.hpp"

namespace moxzi {

void throw_exception_from_error(const error& what, const boost::source_location& where) {
  assertion_failed("result has a value", where.file_name(), static_cast<int>(where.line()),
                   what.message);
}

namespace {

class category final : public std::error_category {
public:
  const char* name() const noexcept override {
    return "moxzi.base";
  }

  std::string message(int code) const override {
    switch (static_cast<base_errc>(code)) {
      case base_errc::truncated:
        return "input ends too early";
      case base_errc::malformed:
        return "malformed input";
      case base_errc::over_limit:
        return "over a limit";
      case base_errc::trailing:
        return "trailing bytes";
      case base_errc::io:
        return "input/output error";
      case base_errc::exception:
        return "a library threw";
    }
    return "unknown error";
  }
};

} // namespace

const std::error_category& base_category() noexcept {
  static const category instance;
  return instance;
}

} // namespace moxzi
