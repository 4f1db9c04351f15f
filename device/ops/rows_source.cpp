#include "device/ops/rows.hpp"

namespace moxzi::device {

std::vector<row> source_rows() {
  return {
    {
      .id = op::input,
      .name = "input",
      .sentence = "The tensor sent as input of this number; integers compute as i64, floats as "
                  "f32.",
      .reference = "the interface",
      .fields = {{"number", field_kind::nat32}},
      .form = field_form::bare,
      .runs = row_runs::bound,
      .infer = [](const rule_context& c) { return c.input(c.integer(0)); },
      .no_gradient = "an input has no gradient",
    },
    {
      .id = op::param,
      .name = "param",
      .sentence = "The parameter of this name, as it is before the step.",
      .reference = "the interface",
      .fields = {{"name", field_kind::text}},
      .form = field_form::bare,
      .runs = row_runs::bound,
      .infer = [](const rule_context& c) { return c.parameter(c.text(0)); },
      .no_gradient = "a parameter's gradient is what training asks for",
    },
  };
}

} // namespace moxzi::device
