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

/// The first place, and how many more there are.
std::string places_text(const subtype_checker::findings& found) {
  if (found.places == 1) return found.first;
  return fmt::format("{}; and {}", found.first, counted(found.places - 1, "more place"));
}

} // namespace

result<void> check_compatible(const interface& now, const interface& old) {
  if (!old.service) return {};
  if (!now.service) return fail(candid_errc::incompatible, "there is no service any more");
  subtype_checker checker{*now.types, *old.types};
  const auto found = checker.survey(*now.service, *old.service);
  if (found.places > 0) return fail(candid_errc::incompatible, "{}", places_text(found));
  if (found.over_limit) return over_limit();
  return {};
}

result<std::optional<std::string>> lossy_place(const interface& now, const interface& old) {
  std::optional<std::string> nowhere;
  if (!old.service || !now.service) return nowhere;
  subtype_checker checker{*now.types, *old.types, subtype_checker::opt_rule::strict};
  const auto found = checker.survey(*now.service, *old.service);
  if (found.places > 0) return std::optional<std::string>{places_text(found)};
  if (found.over_limit) return over_limit();
  return nowhere;
}

} // namespace moxzi::candid
