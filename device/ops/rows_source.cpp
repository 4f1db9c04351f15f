#include "device/ops/rows.hpp"

namespace moxzi::device {

namespace {

constexpr std::string_view constant = "it is constant";

dtype type_or(const attribute& from, dtype otherwise) {
  auto given = std::get_if<int64_t>(&from);
  return given ? static_cast<dtype>(*given) : otherwise;
}

/// The least and the largest number of an integer type.
std::pair<int64_t, int64_t> range_of(dtype type) {
  switch (type) {
    case dtype::u8:
      return {0, UINT8_MAX};
    case dtype::i32:
      return {INT32_MIN, INT32_MAX};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

bool fits_in(dtype type, int64_t value) {
  auto [least, most] = range_of(type);
  return value >= least && value <= most;
}

register_type filled(const shape& dims, dtype type, const rule_context& c) {
  register_type out{type, stored_as(type), dims, {}};
  for (auto size : dims.sizes()) out.factors.push_back(c.fresh_axis(size));
  return out;
}

// -- scalar, full --------------------------------------------------------------

result<register_type> infer_full(const rule_context& c) {
  auto dims = checked_sizes("shape", c.list(0));
  if (!dims) return dims.error();
  auto type = type_or(c.attr(2), dtype::f32);
  if (auto ok = want_fitting("value", std::get<double>(c.attr(1)), type); !ok) return ok.error();
  return filled(*dims, type, c);
}

/// Each device makes its part.
std::vector<split_axis> split_full(const typed_call& call) {
  std::vector<split_axis> axes;
  for (int i = 0; i < static_cast<int>(call.result->dims.rank()); ++i)
    axes.push_back({{}, i, join::none, 0, i});
  return axes;
}

sample full_example(sampler& random) {
  std::vector<uint32_t> dims;
  for (auto size : random.dims(0, 4).sizes()) dims.push_back(static_cast<uint32_t>(size));
  auto value = static_cast<double>(random.below(100));
  if (is_float(random.type())) value -= 50.25;
  return {{}, {dims, value, static_cast<int64_t>(random.type())}};
}

wrong_sample wrong_full(sampler&) {
  return {{{}, {std::vector<uint32_t>{1}, 256.0, static_cast<int64_t>(dtype::u8)}},
          device_errc::dtype_mismatch};
}

// -- arange --------------------------------------------------------------------

result<register_type> infer_arange(const rule_context& c) {
  auto start = c.integer(0), end = c.integer(1);
  auto given = std::get_if<int64_t>(&c.attr(2));
  auto step = given ? *given : 1;
  auto type = type_or(c.attr(3), dtype::i64);
  if (type == dtype::boolean)
    return complain(device_errc::dtype_mismatch, "dtype is bool; a type of numbers wanted");
  if (step == 0) return complain(device_errc::shape_mismatch, "step is 0, which never gets to end");
  if ((step > 0) != (end >= start) && start != end)
    return complain(device_errc::shape_mismatch, "steps of {} from {} never get to {}", step, start,
                    end);
  // Differences of two i64 fit into u64.
  auto distance = step > 0 ? static_cast<uint64_t>(end) - static_cast<uint64_t>(start)
                           : static_cast<uint64_t>(start) - static_cast<uint64_t>(end);
  auto stride = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  auto count = distance / stride + (distance % stride != 0 ? 1 : 0);
  if (count > INT32_MAX)
    return complain(device_errc::shape_mismatch, "{} numbers from {} to {}; at most {}", count,
                    start, end, INT32_MAX);
  auto last = count > 0 ? start + static_cast<int64_t>(count - 1) * step : start;
  for (auto value : {start, last})
    if (count > 0 && is_integer(type) && !fits_in(type, value))
      return complain(device_errc::dtype_mismatch, "{} is no {}", value, name_of(type));
  return filled({static_cast<int64_t>(count)}, type, c);
}

sample arange_example(sampler& random) {
  auto start = random.below(20), step = 1 + random.below(3);
  return {{}, {start, start + random.below(20), step, static_cast<int64_t>(random.type())}};
}

wrong_sample wrong_arange(sampler&) {
  return {{{}, {int64_t{2}, int64_t{5}, int64_t{-1}, {}}}, device_errc::shape_mismatch};
}

// -- eye -----------------------------------------------------------------------

result<register_type> infer_eye(const rule_context& c) {
  shape dims{c.integer(0), c.integer(0)};
  if (auto ok = want_size(dims); !ok) return ok.error();
  return filled(dims, type_or(c.attr(1), dtype::f32), c);
}

sample eye_example(sampler& random) {
  return {{}, {random.size(), static_cast<int64_t>(random.type())}};
}

wrong_sample wrong_eye(sampler&) {
  return {{{}, {int64_t{70'000}, {}}}, device_errc::shape_mismatch};
}

cost writes(const typed_call& call) {
  return traffic(call, 0);
}

std::vector<row> numbers() {
  return {
    {
      .id = op::scalar,
      .name = "scalar",
      .sentence = "One number, f32, of no dimensions.",
      .reference = "torch.tensor",
      .fields = {{"value", field_kind::float64}},
      .form = field_form::bare,
      .runs = row_runs::pointwise,
      .takes = all_types,
      .infer = [](const rule_context& c) -> result<register_type> {
        return filled({}, dtype::f32, c);
      },
      .no_gradient = constant,
      .costs = writes,
      .pytorch = "torch.tensor(value)",
      .example = [](sampler& random) -> sample {
        return {{}, {static_cast<double>(random.below(9)) - 3.5}};
      },
      .wrong = [](sampler&) -> wrong_sample {
        return {{}, device_errc::undecodable};
      },
    },
    {
      .id = op::full,
      .name = "full",
      .sentence = "`value` everywhere; f32 unless `dtype` says otherwise.",
      .reference = "torch.full",
      .fields = {{"shape", field_kind::nat32s},
                 {"value", field_kind::float64},
                 {"dtype", field_kind::dtype, true}},
      .runs = row_runs::pointwise,
      .takes = all_types,
      .infer = infer_full,
      .no_gradient = constant,
      .split = split_full,
      .costs = writes,
      .pytorch = "torch.full(shape, value, dtype=dtype or torch.float32)",
      .example = full_example,
      .wrong = wrong_full,
    },
  };
}

std::vector<row> patterns() {
  return {
    {
      .id = op::arange,
      .name = "arange",
      .sentence =
        "start, start + step, …, without `end`; steps of 1 and i64 unless said otherwise.",
      .reference = "torch.arange",
      .fields = {{"start", field_kind::int64},
                 {"end", field_kind::int64},
                 {"step", field_kind::int64, true},
                 {"dtype", field_kind::dtype, true}},
      .takes = number_types,
      .infer = infer_arange,
      .no_gradient = constant,
      .costs = writes,
      .pytorch = "torch.arange(start, end, step or 1, dtype=dtype or torch.int64)",
      .example = arange_example,
      .wrong = wrong_arange,
    },
    {
      .id = op::eye,
      .name = "eye",
      .sentence = "The unit matrix [n, n]; f32 unless `dtype` says otherwise.",
      .reference = "torch.eye",
      .fields = {{"n", field_kind::nat32}, {"dtype", field_kind::dtype, true}},
      .takes = all_types,
      .infer = infer_eye,
      .no_gradient = constant,
      .costs = writes,
      .pytorch = "torch.eye(n, dtype=dtype or torch.float32)",
      .example = eye_example,
      .wrong = wrong_eye,
    },
  };
}

} // namespace

std::vector<row> source_rows() {
  std::vector<row> rows{
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
  for (auto group : {numbers, patterns})
    for (auto& more : group()) rows.push_back(std::move(more));
  return rows;
}

} // namespace moxzi::device
