#include "actors/management/device_types.hpp"

#include <utility>

namespace moxzi::actors::management {

namespace {

using device::elem;

/// A register's number; `Reg` for readers.
form<device::reg> reg_form() {
  auto made = nat32_form();
  made.text = "Reg";
  return made;
}

template <class E>
form<E> enum_of(declarations& in, std::string_view name,
                std::vector<std::pair<std::string_view, E>> tags, std::string_view note = {}) {
  std::vector<choice<E>> choices;
  for (const auto& [tag, meaning] : tags) choices.push_back(plain(tag, meaning));
  return variant_of(in, name, std::move(choices), note);
}

form<elem> elem_form(declarations& in) {
  std::vector<std::pair<std::string_view, elem>> tags;
  for (size_t i = 0; i <= static_cast<size_t>(elem::boolean); ++i) {
    const auto type = static_cast<elem>(i);
    tags.emplace_back(device::name_of(type), type);
  }
  return enum_of(in, "Elem", std::move(tags),
                 "How the elements of a tensor lie in its data, little-endian.");
}

form<device::tensor> tensor_form(declarations& in) {
  return record_of<device::tensor>(
    in, "Tensor",
    {field("data", &device::tensor::data, blob_form(in), "Row-major, without gaps."),
     field("elem", &device::tensor::type, elem_form(in)),
     field("shape", &device::tensor::dims, vec_of(in, nat32_form()))},
    "A tensor as it travels.");
}

choice<device::initializer> constant_tag(std::string_view name, double number) {
  return {std::string{name},
          candid::kind::null,
          {},
          [number](candid::value) { return device::init_constant{number}; },
          [](const device::initializer&) { return false; }, // written as `constant`
          [](writer&, const device::initializer&) {},
          {}};
}

form<device::initializer> init_form(declarations& in, const form<device::tensor>& contents) {
  using device::init_uniform;
  using device::initializer;
  // An alternative of one field is written as the field alone.
  const auto single = [&in]<class A, class M>(M A::*where, const form<M>& how) {
    return form<A>{how.type, how.text,
                   [where, from = how.read](candid::value v) {
                     A made;
                     made.*where = from(std::move(v));
                     return made;
                   },
                   [where, to = how.append](writer& out, const A& x) { to(out, x.*where); }};
  };
  auto range = record_of<init_uniform>(in, {},
                                       {field("lo", &init_uniform::low, float64_form()),
                                        field("hi", &init_uniform::high, float64_form())});
  return variant_of<initializer>(
    in, "Init",
    {alternative<initializer>("normal", single(&device::init_normal::deviation, float64_form()),
                              "Mean 0, this standard deviation."),
     alternative<initializer>("uniform", std::move(range), "From `lo` to below `hi`."),
     constant_tag("zeros", 0), constant_tag("ones", 1),
     alternative<initializer>("constant", single(&device::init_constant::value, float64_form())),
     alternative<initializer>("data", single(&device::init_data::contents, contents),
                              "These contents, of the parameter's shape.")},
    "How a parameter is filled.");
}

} // namespace

// -- declarations -------------------------------------------------------------

void device_types::declare_params(declarations& in, const form<device::tensor>& contents) {
  using device::dtype;
  using device::if_exists;
  using device::param_spec;
  auto init = init_form(in, contents);
  auto type = enum_of<dtype>(in, {}, {{"f32", dtype::f32}, {"f64", dtype::f64}});
  auto existing = enum_of<if_exists>(
    in, {},
    {{"replace", if_exists::replace}, {"keep", if_exists::keep}, {"fail", if_exists::fail}});
  auto param = record_of<param_spec>(
    in, "Param",
    {field("name", &param_spec::name, text_form(), "1 to 128 bytes."),
     field("shape", &param_spec::dims, vec_of(in, nat32_form()), "At most 8 dimensions."),
     field("init", &param_spec::init, std::move(init)),
     field_or_default(in, "dtype", &param_spec::type, std::move(type), "null = f32"),
     field_or_default(in, "if_exists", &param_spec::existing, std::move(existing),
                      "null = replace"),
     field_or_default(in, "frozen", &param_spec::frozen, boolean_form(),
                      "Takes no gradient and no optimizer; null = false.")},
    "A parameter to make.");
  params = vec_of(in, std::move(param));
}

void device_types::declare_optimizer(declarations& in) {
  using device::optimizer_kind;
  using device::optimizer_spec;
  auto kind = enum_of<optimizer_kind>(
    in, "OptKind", {{"adamw", optimizer_kind::adamw}, {"adam", optimizer_kind::adam}},
    "`adamw` takes the decay from the parameter, `adam` adds it to the gradient.");
  optimizer = record_of<optimizer_spec>(
    in, "Optimizer",
    {field("name", &optimizer_spec::name, text_form()),
     field("params", &optimizer_spec::params, vec_of(in, text_form())),
     field("lr", &optimizer_spec::lr, float64_form()),
     field("beta1", &optimizer_spec::beta1, float64_form()),
     field("beta2", &optimizer_spec::beta2, float64_form()),
     field("eps", &optimizer_spec::eps, float64_form()),
     field("weight_decay", &optimizer_spec::weight_decay, float64_form()),
     field_or_default(in, "kind", &optimizer_spec::kind, std::move(kind), "null = adamw"),
     field_or_default(in, "keep_state", &optimizer_spec::keep_state, boolean_form(),
                      "true: keep moments and step counts if the name exists; null = false")},
    "An optimizer over parameters of the caller.");
}

void device_types::declare_program(declarations& in) {
  op_.emplace(in, device::table());
  const auto type = in.types().vec(op_->type());
  program = {type, "vec Op",
             [op = &*op_](candid::value list) -> std::shared_ptr<const device::program> {
               if (list.is_null()) return nullptr;
               auto made = std::make_shared<device::program>();
               made->reserve(list.as_list().size());
               for (auto& item : list.as_list()) made->push_back(op->read(std::move(item)));
               return made;
             },
             [op = &*op_](writer& out, const std::shared_ptr<const device::program>& code) {
               out.count(code->size());
               for (const auto& operation : *code) op->append(out, operation);
             }};
}

void device_types::declare_run(declarations& in, const form<device::tensor>& contents) {
  using device::run_request;
  using device::train_spec;
  auto train = record_of<train_spec>(
    in, "Train",
    {field("loss", &train_spec::loss, reg_form(), "A register of one floating-point number."),
     field("optimizer", &train_spec::optimizer, text_form()),
     field("clip", &train_spec::clip, opt_of(in, float64_form()),
           "Bound of the L2 norm of all gradients together."),
     field("lr", &train_spec::lr, opt_of(in, float64_form()), "For this step only."),
     field_or_default(in, "also", &train_spec::also, vec_of(in, text_form()),
                      "More optimizers, stepped by the same gradients.")},
    "Makes a run a training step.");
  run = record_of<run_request>(
    in, "Run",
    {field("inputs", &run_request::inputs, vec_of(in, contents)),
     field("program", &run_request::code, program),
     field("train", &run_request::train, opt_of(in, std::move(train))),
     field("scalars", &run_request::scalars, vec_of(in, reg_form()),
           "Registers of one element to answer as numbers."),
     field("tensors", &run_request::tensors, vec_of(in, reg_form()), "Registers to answer whole.")},
    "One run of a program.");
  const auto answer = [](auto name, auto how, auto get, std::string_view note) {
    return member<run_result>{
      name,
      how.type,
      how.text,
      [](candid::value, run_result&) {},
      [to = how.append, get](writer& out, const run_result& x) { to(out, get(x)); },
      std::string{note}};
  };
  result = record_of<run_result>(
    in, "RunResult",
    {answer("scalars", vec_of(in, float64_form()),
            [](const run_result& x) -> const auto& { return x.reply->scalars; }, {}),
     answer("tensors", vec_of(in, contents),
            [](const run_result& x) -> const auto& { return x.reply->tensors; }, {}),
     answer(
       "grad_norm", opt_of(in, float64_form()),
       [](const run_result& x) -> const auto& { return x.reply->grad_norm; },
       "Before clipping; only with `clip`."),
     answer(
       "step", opt_of(in, nat64_form()),
       [](const run_result& x) -> const auto& { return x.reply->step; },
       "How many steps the optimizer has taken, this one included; only with `train`."),
     answer(
       "nanos", nat64_form(), [](const run_result& x) -> const auto& { return x.nanos; },
       "Device time.")},
    "What a run answers. Values are those before the training step.");
}

void device_types::declare_service(declarations& in) {
  const method methods[] = {
    {"moxzi_device_params", "Makes parameters, all or none.", params.type, params.text, {}, {}},
    {"moxzi_device_optimizer",
     "Makes an optimizer, or replaces the one of this name.",
     optimizer.type,
     optimizer.text,
     {},
     {}},
    {"moxzi_device_run", "Runs a program, as a training step if `train` is given.", run.type,
     run.text, result.type, result.text},
  };
  auto& types = in.types();
  std::vector<candid::method> entries;
  std::string lines;
  for (const auto& m : methods) {
    const auto func = types.declare();
    std::vector<candid::type_ref> results;
    if (m.result) results.push_back(*m.result);
    types.set_func(func, {&m.argument, 1}, results, 0);
    entries.push_back({m.name, func});
    lines += fmt::format("  // {}\n  {} : ({}) -> ({});\n", m.note, m.name, m.argument_text,
                         m.result_text);
  }
  const auto actor = types.declare();
  const auto done = types.set_service(actor, std::move(entries));
  moxzi_assert(done.has_value(), "a method is declared twice");
  text_ = fmt::format("{}\nservice : {{\n{}}};\n", in.text(), lines);
  service = candid::make_interface(std::make_shared<candid::type_table>(types), actor);
}

device_types::device_types() {
  declarations in;
  in.alias("Reg", "nat32",
           "A register: the position, in the program, of the operation that makes "
           "it.");
  const auto contents = tensor_form(in);
  declare_params(in, contents);
  declare_optimizer(in);
  declare_program(in);
  declare_run(in, contents);
  declare_service(in);
}

const device_types& device_types::get() {
  static const device_types instance;
  return instance;
}

std::string device_types::text() const {
  return "// The device's methods of the management canister, aaaaa-aa.\n"
         "//\n"
         "// Made from actors/management/device_types.cpp and the table of operations, "
         "device/ops/:\n"
         "// a test fails when it differs. Later versions only add: optional fields, tags, "
         "methods.\n"
         "// Errors are rejects whose text begins with MXD and a number.\n\n"
         + text_;
}

} // namespace moxzi::actors::management
