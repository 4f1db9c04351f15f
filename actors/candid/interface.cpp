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

namespace {

error over_limit() {
  return fail(candid_errc::over_limit,
              "the types cannot be compared: they make more than {} pairs or {} steps",
              subtype_checker::pairs_max, subtype_checker::steps_max);
}

} // namespace

result<void> check_compatible(const interface& now, const interface& old) {
  if (!old.service) return {};
  if (!now.service) return fail(candid_errc::incompatible, "there is no service any more");
  subtype_checker checker{*now.types, *old.types};
  switch (checker.compare(*now.service, *old.service)) {
    case subtype_checker::answer::yes:
      return {};
    case subtype_checker::answer::no:
      return fail(candid_errc::incompatible, "{}", checker.explain());
    case subtype_checker::answer::over_limit:
      break;
  }
  return over_limit();
}

result<std::optional<std::string>> lossy_place(const interface& now, const interface& old) {
  std::optional<std::string> nowhere;
  if (!old.service || !now.service) return nowhere;
  subtype_checker checker{*now.types, *old.types, subtype_checker::opt_rule::strict};
  switch (checker.compare(*now.service, *old.service)) {
    case subtype_checker::answer::yes:
      return nowhere;
    case subtype_checker::answer::no:
      return std::optional<std::string>{checker.explain()};
    case subtype_checker::answer::over_limit:
      break;
  }
  return over_limit();
}

} // namespace moxzi::candid
