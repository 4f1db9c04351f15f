#include "base/limits.hpp"
#include "device/ops/rows.hpp"

namespace moxzi::device {

namespace {

result<register_type> infer_store(const rule_context& c) {
  auto length = c.text(0).size();
  if (length < 1 || length > limits::device_name_bytes_max)
    return complain(device_errc::invalid_value, "a name of {} bytes; 1 to {} wanted", length,
                    limits::device_name_bytes_max);
  return c.operand(0);
}

/// The result is x, looked at.
row writing(op id, std::string_view name, std::string_view sentence, row_writes writes) {
  return {
    .id = id,
    .name = name,
    .sentence = sentence,
    .reference = "the interface",
    .fields = {{"x", field_kind::reg}, {"name", field_kind::text}},
    .runs = row_runs::view,
    .pure = false,
    .writes = writes,
    .infer = infer_store,
    .gradient = [](gradient_context& g) { g.give(0, g.upstream()); },
    .split = [](const typed_call& call) { return leading_axes(call.result->dims.rank(), 1); },
    .costs = [](const typed_call& call) { return traffic(call, 0); },
    .look = [](const typed_call&, const shape& strides) -> std::optional<look> {
      return look{0, strides};
    },
    .pytorch = "x",
  };
}

result<register_type> infer_assign(const rule_context& c) {
  auto& x = c.operand(0);
  if (x.type != dtype::f32 && x.type != dtype::f64)
    return complain(device_errc::dtype_mismatch, "x is {}; parameters are f32 or f64", x.text());
  auto to = c.parameter(c.text(0));
  if (!to) return to.error();
  if (auto ok = want_same_type("x", x, "the parameter", *to); !ok) return ok.error();
  if (to->dims != x.dims)
    return complain(device_errc::shape_mismatch, "x is {}, but parameter \"{}\" is {}",
                    to_string(x.dims), c.text(0), to_string(to->dims));
  return x;
}

} // namespace

std::vector<row> stored_rows() {
  row value{
    .id = op::value,
    .name = "value",
    .sentence = "The stored value of this name, as it is before the run.",
    .reference = "the interface",
    .fields = {{"name", field_kind::text}},
    .form = field_form::bare,
    .runs = row_runs::bound,
    .takes = all_types,
    .reads_values = 1,
    .infer = [](const rule_context& c) { return c.value(c.text(0)); },
    .no_gradient = "a stored value has no gradient",
  };
  auto store = writing(op::store, "store",
                       "x, which becomes the stored value of this name when the run succeeds.",
                       row_writes::value);
  store.takes = all_types;
  store.wrong = [](sampler& random) -> wrong_sample {
    return {{{random.tensor({2})}, {std::string()}}, device_errc::invalid_value};
  };
  store.example = [](sampler& random) -> sample {
    return {{random.tensor(random.dims(0, 4))}, {std::string("stored")}};
  };
  auto assign = writing(op::assign, "assign",
                        "x, which becomes the contents of the parameter of this name, of the same "
                        "shape and type, when the run succeeds.",
                        row_writes::parameter);
  assign.takes = {dtype::f32, dtype::f64};
  assign.infer = infer_assign;
  // The walk's operand is itself a parameter.
  assign.example = [](sampler& random) -> sample {
    return {{random.tensor(random.dims(0, 4))}, {std::string("p0")}};
  };
  assign.wrong = [](sampler& random) -> wrong_sample {
    return {{{random.tensor({2})}, {std::string("nobody")}}, device_errc::unknown_parameter};
  };
  return {value, store, assign};
}

} // namespace moxzi::device
