// Random requests: written and read again, they are the same.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "actors/management/device_interface.hpp"
#include "device/ops/table.hpp"

using namespace moxzi;
using namespace moxzi::actors::management;
using device::field_kind;

namespace {

// -- equality, which the requests do not need themselves ----------------------

bool same(const device::initializer& x, const device::initializer& y) {
  if (x.index() != y.index()) return false;
  if (const auto* normal = std::get_if<device::init_normal>(&x)) {
    return normal->deviation == std::get<device::init_normal>(y).deviation;
  }
  if (const auto* uniform = std::get_if<device::init_uniform>(&x)) {
    const auto& other = std::get<device::init_uniform>(y);
    return uniform->low == other.low && uniform->high == other.high;
  }
  if (const auto* constant = std::get_if<device::init_constant>(&x)) {
    return constant->value == std::get<device::init_constant>(y).value;
  }
  if (const auto* cut = std::get_if<device::init_trunc_normal>(&x)) {
    const auto& other = std::get<device::init_trunc_normal>(y);
    return cut->deviation == other.deviation && cut->cut == other.cut;
  }
  if (const auto* xavier = std::get_if<device::init_xavier_uniform>(&x)) {
    return xavier->gain == std::get<device::init_xavier_uniform>(y).gain;
  }
  if (const auto* xavier = std::get_if<device::init_xavier_normal>(&x)) {
    return xavier->gain == std::get<device::init_xavier_normal>(y).gain;
  }
  if (const auto* kaiming = std::get_if<device::init_kaiming_uniform>(&x)) {
    return kaiming->slope == std::get<device::init_kaiming_uniform>(y).slope;
  }
  if (const auto* kaiming = std::get_if<device::init_kaiming_normal>(&x)) {
    return kaiming->slope == std::get<device::init_kaiming_normal>(y).slope;
  }
  if (const auto* orthogonal = std::get_if<device::init_orthogonal>(&x)) {
    return orthogonal->gain == std::get<device::init_orthogonal>(y).gain;
  }
  if (std::holds_alternative<device::init_eye>(x)) return true;
  return std::get<device::init_data>(x).contents == std::get<device::init_data>(y).contents;
}

bool same(const device::param_spec& x, const device::param_spec& y) {
  return x.name == y.name && x.dims == y.dims && same(x.init, y.init) && x.type == y.type
         && x.existing == y.existing && x.frozen == y.frozen && x.seed == y.seed;
}

bool same(const device::optimizer_spec& x, const device::optimizer_spec& y) {
  return x.name == y.name && x.params == y.params && x.lr == y.lr && x.beta1 == y.beta1
         && x.beta2 == y.beta2 && x.eps == y.eps && x.weight_decay == y.weight_decay
         && x.kind == y.kind && x.schedule == y.schedule && x.amsgrad == y.amsgrad
         && x.no_decay == y.no_decay && x.keep_state == y.keep_state;
}

bool same(const device::run_request& x, const device::run_request& y) {
  if (x.train.has_value() != y.train.has_value()) return false;
  if (x.train
      && (x.train->loss != y.train->loss || x.train->optimizer != y.train->optimizer
          || x.train->clip != y.train->clip || x.train->lr != y.train->lr
          || x.train->also != y.train->also || x.train->accumulate != y.train->accumulate
          || x.train->skip_nonfinite != y.train->skip_nonfinite
          || x.train->clip_value != y.train->clip_value)) {
    return false;
  }
  return x.inputs == y.inputs && *x.code == *y.code && x.scalars == y.scalars
         && x.tensors == y.tensors && x.seed == y.seed;
}

// -- random requests ----------------------------------------------------------

std::string name() {
  return *rc::gen::elementOf(std::vector<std::string>{"", "w", "überlang", "層"});
}

std::vector<std::string> names() {
  std::vector<std::string> all(*rc::gen::inRange<size_t>(0, 4));
  for (auto& one : all) one = name();
  return all;
}

double number() {
  return *rc::gen::elementOf(std::vector<double>{0.0, 0.1, -3.5, 1e-300, 1.7e308});
}

std::vector<uint32_t> numbers() {
  return *rc::gen::container<std::vector<uint32_t>>(rc::gen::arbitrary<uint32_t>());
}

device::tensor tensor() {
  const auto last = static_cast<int>(device::elem::boolean);
  return {*rc::gen::arbitrary<std::string>(),
          static_cast<device::elem>(*rc::gen::inRange(0, last + 1)), numbers()};
}

device::initializer initializer() {
  return *rc::gen::elementOf(std::vector<device::initializer>{
    device::init_normal{number()}, device::init_uniform{number(), number()},
    device::init_constant{number()}, device::init_trunc_normal{number(), number()},
    device::init_xavier_uniform{number()}, device::init_xavier_normal{number()},
    device::init_kaiming_uniform{number()}, device::init_kaiming_normal{number()},
    device::init_orthogonal{number()}, device::init_eye{}, device::init_data{tensor()}});
}

device::param_spec param() {
  return {
    name(),
    numbers(),
    initializer(),
    *rc::gen::element(device::dtype::f32, device::dtype::f64),
    *rc::gen::element(device::if_exists::replace, device::if_exists::keep, device::if_exists::fail),
    *rc::gen::arbitrary<bool>(),
    *rc::gen::arbitrary<bool>() ? std::optional{*rc::gen::arbitrary<uint64_t>()} : std::nullopt};
}

device::lr_schedule schedule() {
  const auto count = [] { return *rc::gen::arbitrary<uint64_t>(); };
  return *rc::gen::elementOf(std::vector<device::lr_schedule>{
    device::schedule_constant{}, device::schedule_warmup{count()},
    device::schedule_cosine{count(), count(), number()},
    device::schedule_linear{count(), count(), number()}, device::schedule_step{count(), number()}});
}

device::optimizer_spec optimizer() {
  const auto last = static_cast<int>(device::optimizer_kind::muon);
  return {.name = name(),
          .params = names(),
          .lr = number(),
          .beta1 = number(),
          .beta2 = number(),
          .eps = number(),
          .weight_decay = number(),
          .kind = static_cast<device::optimizer_kind>(*rc::gen::inRange(0, last + 1)),
          .schedule = schedule(),
          .amsgrad = *rc::gen::arbitrary<bool>(),
          .no_decay = names(),
          .keep_state = *rc::gen::arbitrary<bool>()};
}

device::attribute attribute(const device::field& f) {
  if (f.optional && *rc::gen::arbitrary<bool>()) return {};
  switch (f.kind) {
    case field_kind::boolean:
      return *rc::gen::arbitrary<bool>();
    case field_kind::nat32:
      return int64_t{*rc::gen::arbitrary<uint32_t>()};
    case field_kind::int32:
      return int64_t{*rc::gen::arbitrary<int32_t>()};
    case field_kind::int64:
    case field_kind::nat64:
      return *rc::gen::arbitrary<int64_t>();
    case field_kind::float64:
      return number();
    case field_kind::text:
      return name();
    case field_kind::nat32s:
      return numbers();
    case field_kind::dtype:
      return int64_t{*rc::gen::inRange(0, static_cast<int>(device::dtype::boolean) + 1)};
    case field_kind::distribution:
      if (*rc::gen::arbitrary<bool>()) return number();
      return *rc::gen::inRange<int64_t>(0, 2);
    default:
      return *rc::gen::inRange<int64_t>(0, static_cast<int64_t>(f.choices.size()));
  }
}

/// Any public row, with any numbers: whether they make sense is not the interface's question.
device::operation operation() {
  std::vector<const device::row*> rows;
  for (const auto& row : device::table()) {
    if (!row.internal()) rows.push_back(&row);
  }
  const auto& row = **rc::gen::elementOf(rows);
  device::operation made{row.id, {}, {}};
  for (const auto& f : row.fields) {
    if (!device::is_register(f.kind)) {
      made.attributes.push_back(attribute(f));
    } else if (f.kind != field_kind::regs) {
      made.operands.push_back(*rc::gen::arbitrary<uint32_t>());
    } else {
      for (const auto x : numbers()) made.operands.push_back(x);
    }
  }
  return made;
}

device::run_request run() {
  device::run_request made;
  made.inputs.resize(*rc::gen::inRange<size_t>(0, 3));
  for (auto& input : made.inputs) input = tensor();
  device::program code(*rc::gen::inRange<size_t>(0, 20));
  for (auto& one : code) one = operation();
  made.code = std::make_shared<device::program>(std::move(code));
  if (*rc::gen::arbitrary<bool>()) {
    made.train.emplace(
      device::train_spec{*rc::gen::arbitrary<uint32_t>(), name(), {}, {}, names()});
    if (*rc::gen::arbitrary<bool>()) made.train->clip = number();
    if (*rc::gen::arbitrary<bool>()) made.train->lr = number();
  }
  made.scalars = numbers();
  made.tensors = numbers();
  if (*rc::gen::arbitrary<bool>()) made.seed = *rc::gen::arbitrary<uint64_t>();
  return made;
}

template <class T>
T read_back(device_interface& reader, std::string_view method, const T& request) {
  auto got = reader.decode(method, encode_argument(request));
  RC_ASSERT(got.has_value());
  return std::get<T>(std::move(*got));
}

} // namespace

TEST(device_interface_property, what_is_written_is_read_the_same) {
  device_interface reader;
  EXPECT_TRUE(rc::check("params", [&] {
    params_request params(*rc::gen::inRange<size_t>(0, 5));
    for (auto& one : params) one = param();
    const auto back = read_back(reader, "moxzi_device_params", params);
    RC_ASSERT(std::equal(params.begin(), params.end(), back.begin(), back.end(),
                         [](const auto& x, const auto& y) { return same(x, y); }));
  }));
  EXPECT_TRUE(rc::check("optimizer", [&] {
    const auto made = optimizer();
    RC_ASSERT(same(read_back(reader, "moxzi_device_optimizer", made), made));
  }));
  EXPECT_TRUE(rc::check("run", [&] {
    const auto made = run();
    RC_ASSERT(same(read_back(reader, "moxzi_device_run", made), made));
    RC_ASSERT(same(read_back(reader, "moxzi_device_run", made), made));
  }));
  const auto count = []() -> std::optional<uint64_t> {
    if (*rc::gen::arbitrary<bool>()) return std::nullopt;
    return *rc::gen::arbitrary<uint64_t>();
  };
  EXPECT_TRUE(rc::check("read", [&] {
    const device::read_request made{names(), count(), count()};
    RC_ASSERT(read_back(reader, "moxzi_device_read", made) == made);
  }));
  EXPECT_TRUE(rc::check("write", [&] {
    write_request made(*rc::gen::inRange<size_t>(0, 4));
    for (auto& one : made) one = {name(), tensor(), count()};
    RC_ASSERT(read_back(reader, "moxzi_device_write", made) == made);
  }));
  EXPECT_TRUE(rc::check("delete", [&] {
    const device::delete_request made{names(), names(), names(), *rc::gen::arbitrary<bool>()};
    RC_ASSERT(read_back(reader, "moxzi_device_delete", made) == made);
  }));
  EXPECT_TRUE(rc::check("rename", [&] {
    rename_request made(*rc::gen::inRange<size_t>(0, 4));
    for (auto& one : made) one = {name(), name()};
    RC_ASSERT(read_back(reader, "moxzi_device_rename", made) == made);
  }));
}
