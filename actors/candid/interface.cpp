#include "actors/candid/interface.hpp"

#include <algorithm>

#include "actors/candid/errc.hpp"
#include "actors/candid/subtype.hpp"

namespace moxzi::candid {

const method_type* interface::find(std::string_view name) const noexcept {
  const auto at =
    std::lower_bound(methods.begin(), methods.end(), name,
                     [](const method_type& m, std::string_view wanted) { return m.name < wanted; });
  return at != methods.end() && at->name == name ? &*at : nullptr;
}

interface make_interface(std::shared_ptr<const type_table> types, std::optional<type_ref> service,
                         std::vector<type_ref> init) {
  interface made;
  made.types = types;
  made.service = service;
  made.init = make_tuple_type(types, std::move(init));
  if (!service) return made;
  const auto list = [](std::span<const type_ref> all) {
    return std::vector<type_ref>{all.begin(), all.end()};
  };
  for (const auto& m : types->methods(*service)) {
    made.methods.push_back({.name = m.name,
                            .arguments = make_tuple_type(types, list(types->arguments(m.type))),
                            .results = make_tuple_type(types, list(types->results(m.type))),
                            .annotations = types->annotations(m.type)});
  }
  return made;
}

result<void> check_compatible(const interface& now, const interface& old) {
  if (!old.service) return {};
  if (!now.service) return fail(candid_errc::incompatible, "there is no service any more");
  subtype_checker checker{*now.types, *old.types};
  if (checker.check(*now.service, *old.service)) return {};
  return fail(candid_errc::incompatible, "{}", checker.explain());
}

std::optional<std::string> lossy_place(const interface& now, const interface& old) {
  if (!old.service || !now.service) return std::nullopt;
  subtype_checker checker{*now.types, *old.types, subtype_checker::opt_rule::strict};
  if (checker.check(*now.service, *old.service)) return std::nullopt;
  return checker.explain();
}

} // namespace moxzi::candid
