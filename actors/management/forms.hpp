#pragma once

#include "actors/candid/binding.hpp"

/// The words in which the types of the management canister are declared. For its sources only.
namespace moxzi::actors::management {

using candid::alternative;
using candid::blob_form;
using candid::boolean_form;
using candid::bound;
using candid::bound_or_default;
using candid::choice;
using candid::computed;
using candid::declarations;
using candid::enum_of;
using candid::float64_form;
using candid::form;
using candid::func_form;
using candid::nat32_form;
using candid::nat64_form;
using candid::nat_form;
using candid::only;
using candid::opt_of;
using candid::principal_form;
using candid::record_of;
using candid::shorthand;
using candid::tag;
using candid::text_form;
using candid::typed_text;
using candid::variant_of;
using candid::vec_of;

} // namespace moxzi::actors::management
