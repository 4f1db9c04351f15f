#include "actors/host_error.hpp"

#include <string>

namespace moxzi::actors {

namespace {

class host_category_impl final : public std::error_category {
public:
  const char* name() const noexcept override {
    return "host";
  }
  std::string message(int code) const override {
    switch (static_cast<host_errc>(code)) {
      case host_errc::diverged:
        return "a replayed execution differs from its record";
      case host_errc::bad_record:
        return "a record does not follow from those before it";
      case host_errc::bad_interface:
        return "an interface cannot be used";
      case host_errc::bad_module:
        return "a module cannot be hosted";
    }
    return "unknown host error";
  }
};

} // namespace

const std::error_category& host_category() noexcept {
  static const host_category_impl category;
  return category;
}

} // namespace moxzi::actors
