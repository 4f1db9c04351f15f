#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace moxzi::candid {
struct interface;
struct method_type;
} // namespace moxzi::candid

namespace moxzi::actors {

/// An actor's methods with the types of its Candid interface, for reading and writing calls of
/// them. Immutable.
class json_interface {
public:
  /// `did` is the text of a `.did` file with a service; `origin` names it in messages.
  static result<std::shared_ptr<const json_interface>> make(std::string_view did,
                                                            std::string_view origin);
  ~json_interface();

  /// The methods in ascending order.
  const std::vector<std::string>& methods() const noexcept;
  bool has(std::string_view method) const noexcept;

  /// The types of a method; null: there is none of this name.
  const candid::method_type* find(std::string_view method) const noexcept;

private:
  json_interface();

  std::shared_ptr<const candid::interface> interface_;
  std::vector<std::string> methods_;
};

} // namespace moxzi::actors
