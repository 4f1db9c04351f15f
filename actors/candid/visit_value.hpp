#pragma once

#include "actors/candid/float_text.hpp"
#include "actors/candid/types.hpp"
#include "actors/candid/value.hpp"

namespace moxzi::candid {

/// Calls the function of `out` for the form of a type with what the value holds: what the printers
/// of values have in common.
template <class Printer>
void visit_value(Printer& out, const type_table& types, type_ref type, const value& v) {
  switch (types.kind_of(type)) {
    case kind::boolean:
      return out.boolean(v.as_boolean());
    case kind::nat:
    case kind::integer:
      return out.whole(type, v.as_whole());
    case kind::nat8:
    case kind::nat16:
    case kind::nat32:
    case kind::nat64:
      return out.whole(type, integer::from_uint64(v.as_fixed_nat()));
    case kind::int8:
    case kind::int16:
    case kind::int32:
    case kind::int64:
      return out.whole(type, integer::from_int64(v.as_fixed_int()));
    case kind::float32:
      return out.floating(type, float_text(v.as_float32()));
    case kind::float64:
      return out.floating(type, float_text(v.as_float64()));
    case kind::text:
      return out.text(v.as_string());
    case kind::principal:
    case kind::service:
      return out.reference(type, v.as_principal());
    case kind::func:
      return out.func(v.as_func());
    case kind::opt:
      return v.is_null() ? out.no_value(type) : out.some(type, v.as_some());
    case kind::vec:
      return types.is_blob(type) ? out.blob(v.as_string()) : out.vec(type, v.as_list());
    case kind::record:
      return out.record(type, v.as_list());
    case kind::variant:
      return out.variant(types.fields(type)[v.as_position()], type, v.as_payload());
    default: // null, reserved
      return out.null();
  }
}

} // namespace moxzi::candid
