#include "actors/json_interface.hpp"

#include <utility>

#include "actors/candid/did_parser.hpp"
#include "actors/candid/interface.hpp"
#include "actors/host_error.hpp"

namespace moxzi::actors {

json_interface::json_interface() = default;
json_interface::~json_interface() = default;

result<std::shared_ptr<const json_interface>> json_interface::make(std::string_view did,
                                                                   std::string_view origin) {
  auto parsed = candid::parse_did(did);
  if (!parsed) {
    return fail(host_errc::bad_interface, "{}:{}", origin, parsed.error().message);
  }
  if (!parsed->service) {
    return fail(host_errc::bad_interface, "{}: no service in this file", origin);
  }
  std::shared_ptr<json_interface> made{new json_interface};
  for (const auto& method : parsed->methods) made->methods_.push_back(method.name);
  made->interface_ = std::make_shared<const candid::interface>(*std::move(parsed));
  return std::shared_ptr<const json_interface>{std::move(made)};
}

const std::vector<std::string>& json_interface::methods() const noexcept {
  return methods_;
}

bool json_interface::has(std::string_view method) const noexcept {
  return interface_->find(method) != nullptr;
}

const candid::method_type* json_interface::find(std::string_view method) const noexcept {
  return interface_->find(method);
}

} // namespace moxzi::actors
