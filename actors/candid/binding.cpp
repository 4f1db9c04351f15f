#include "actors/candid/binding.hpp"

namespace moxzi::candid {

void binder::define(std::string_view name, type_ref type) {
  if (name.empty()) return;
  const auto defined = types_->define(name, type);
  moxzi_assert(defined.has_value(), "{}", name);
}

void binder::add_method(std::string_view name, const std::vector<type_ref>& arguments,
                        const std::vector<type_ref>& results, uint8_t annotations) {
  const auto func = types_->declare();
  types_->set_func(func, arguments, results, annotations);
  methods_.push_back({std::string{name}, func});
}

interface binder::finish() {
  const auto service = types_->declare();
  const auto made = types_->set_service(service, std::move(methods_));
  moxzi_assert(made.has_value());
  return make_interface(std::move(types_), service);
}

} // namespace moxzi::candid
