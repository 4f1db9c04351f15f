#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/candid/types.hpp"
#include "base/result.hpp"

namespace moxzi::candid {

/// A method of a service, ready for reading and writing its messages.
struct method_type {
  std::string name;
  tuple_type arguments;
  tuple_type results;
  uint8_t annotations = 0; ///< a set of `annotation`

  /// May be called as a query.
  bool is_query() const noexcept {
    return (annotations & (query | composite_query)) != 0;
  }
  bool is_oneway() const noexcept {
    return (annotations & oneway) != 0;
  }
};

/// What a `.did` file says: types, and possibly a service with the arguments of its constructor.
struct interface {
  std::shared_ptr<const type_table> types;
  std::optional<type_ref> service;
  std::string service_name;
  bool has_constructor = false;        ///< the service was given as `(arguments) -> …`
  tuple_type init;                     ///< empty unless `has_constructor`
  std::vector<std::string> init_names; ///< of its arguments; empty for those without
  std::vector<method_type> methods;    ///< in ascending order of names

  /// The method of this name, or null.
  const method_type* find(std::string_view name) const noexcept;
};

/// The interface of a service of a table; `service` is a `service` entry or nothing.
interface make_interface(std::shared_ptr<const type_table> types, std::optional<type_ref> service,
                         std::vector<type_ref> init = {});

/// Can every caller that was written for `old` go on with `now`? Fails with the first place (in the
/// order of `old`), why not, and how many more there are; or with `over_limit` if the types are too
/// entangled to be compared.
result<void> check_compatible(const interface& now, const interface& old);

/// Where `check_compatible` only succeeds because what does not fit reads as null (the lenient rule
/// for `opt`): a description of the first such place and how many more there are, or nothing. Fails
/// with `over_limit`.
result<std::optional<std::string>> lossy_place(const interface& now, const interface& old);

} // namespace moxzi::candid
