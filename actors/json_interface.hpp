#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace moxzi::candid {
struct interface;
}

namespace moxzi::actors {

/// An actor's methods as JSON: arguments in, results out, at the types of its Candid interface.
/// Immutable.
class json_interface {
public:
  /// `did` is the text of a `.did` file with a service; `origin` names it in messages.
  static result<std::shared_ptr<const json_interface>> make(std::string_view did,
                                                            std::string_view origin);
  ~json_interface();

  /// The methods in ascending order.
  const std::vector<std::string>& methods() const noexcept;
  bool has(std::string_view method) const noexcept;

  /// The Candid argument of `method` from the JSON array of its arguments. The method exists.
  result<byte_string> read_arguments(std::string_view method, std::string_view json) const;

  /// The JSON array of the results of `method` from its Candid reply. The method exists.
  result<std::string> write_results(std::string_view method, byte_view reply) const;

private:
  json_interface();

  std::shared_ptr<const candid::interface> interface_;
  std::vector<std::string> methods_;
};

} // namespace moxzi::actors
