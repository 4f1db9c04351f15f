#include "actors/management/device_types.hpp"

#include <utility>

namespace moxzi::actors::management {

namespace {

using candid::alternative;
using candid::bound;
using candid::bound_or_default;
using candid::computed;
using candid::declarations;
using candid::enum_of;
using candid::float64_form;
using candid::form;
using candid::nat32_form;
using candid::only;
using candid::opt_of;
using candid::record_of;
using candid::shorthand;
using candid::text_form;
using candid::vec_of;
using device::elem;

/// A register's number; `Reg` for readers.
form<device::reg> reg_form() {
  auto made = nat32_form();
  made.text = "Reg";
  return made;
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

form<device::shared_bytes> contents_form(declarations& in) {
  const auto blob = candid::blob_form(in);
  auto read = [from = blob.read](candid::value v) {
    return device::shared_bytes{from(std::move(v))};
  };
  auto append = [](writer& out, const device::shared_bytes& x) { out.bytes(x); };
  return {blob, std::move(read), std::move(append)};
}

form<device::tensor> tensor_form(declarations& in) {
  return record_of<device::tensor>(
    in, "Tensor",
    {bound("data", &device::tensor::data, contents_form(in), "Row-major, without gaps."),
     bound("elem", &device::tensor::type, elem_form(in)),
     bound("shape", &device::tensor::dims, vec_of(in, nat32_form()))},
    "A tensor as it travels.");
}

form<device::initializer> init_form(declarations& in, const form<device::tensor>& contents) {
  using device::init_uniform;
  using device::initializer;
  auto range = record_of<init_uniform>(in, {},
                                       {bound("lo", &init_uniform::low, float64_form()),
                                        bound("hi", &init_uniform::high, float64_form())});
  return variant_of<initializer>(
    in, "Init",
    {alternative<initializer>("normal", only(&device::init_normal::deviation, float64_form()),
                              "Mean 0, this standard deviation."),
     alternative<initializer>("uniform", std::move(range), "From `lo` to below `hi`."),
     shorthand<initializer>("zeros", device::init_constant{0}),
     shorthand<initializer>("ones", device::init_constant{1}),
     alternative<initializer>("constant", only(&device::init_constant::value, float64_form())),
     alternative<initializer>("data", only(&device::init_data::contents, contents),
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
    {bound("name", &param_spec::name, text_form(), "1 to 128 bytes."),
     bound("shape", &param_spec::dims, vec_of(in, nat32_form()), "At most 8 dimensions."),
     bound("init", &param_spec::init, std::move(init)),
     bound_or_default(in, "dtype", &param_spec::type, std::move(type), "null = f32"),
     bound_or_default(in, "if_exists", &param_spec::existing, std::move(existing),
                      "null = replace"),
     bound_or_default(in, "frozen", &param_spec::frozen, candid::boolean_form(),
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
    {bound("name", &optimizer_spec::name, text_form()),
     bound("params", &optimizer_spec::params, vec_of(in, text_form())),
     bound("lr", &optimizer_spec::lr, float64_form()),
     bound("beta1", &optimizer_spec::beta1, float64_form()),
     bound("beta2", &optimizer_spec::beta2, float64_form()),
     bound("eps", &optimizer_spec::eps, float64_form()),
     bound("weight_decay", &optimizer_spec::weight_decay, float64_form()),
     bound_or_default(in, "kind", &optimizer_spec::kind, std::move(kind), "null = adamw"),
     bound_or_default(in, "keep_state", &optimizer_spec::keep_state, candid::boolean_form(),
                      "true: keep moments and step counts if the name exists; null = false")},
    "An optimizer over parameters of the caller.");
}

void device_types::declare_program(declarations& in) {
  op_.emplace(in, device::table());
  const auto type = in.types().vec(op_->type());
  program = {{type, "vec Op"},
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
    {bound("loss", &train_spec::loss, reg_form(), "A register of one floating-point number."),
     bound("optimizer", &train_spec::optimizer, text_form()),
     bound("clip", &train_spec::clip, opt_of(in, float64_form()),
           "Bound of the L2 norm of all gradients together."),
     bound("lr", &train_spec::lr, opt_of(in, float64_form()), "For this step only."),
     bound_or_default(in, "also", &train_spec::also, vec_of(in, text_form()),
                      "More optimizers, stepped by the same gradients.")},
    "Makes a run a training step.");
  run = record_of<run_request>(
    in, "Run",
    {bound("inputs", &run_request::inputs, vec_of(in, contents)),
     bound("program", &run_request::code, program),
     bound("train", &run_request::train, opt_of(in, std::move(train))),
     bound("scalars", &run_request::scalars, vec_of(in, reg_form()),
           "Registers of one element to answer as numbers."),
     bound("tensors", &run_request::tensors, vec_of(in, reg_form()), "Registers to answer whole.")},
    "One run of a program.");
  result = record_of<run_result>(
    in, "RunResult",
    {computed<run_result>(
       "scalars", vec_of(in, float64_form()),
       [](const run_result& x) -> const auto& { return x.reply->scalars; }),
     computed<run_result>(
       "tensors", vec_of(in, contents),
       [](const run_result& x) -> const auto& { return x.reply->tensors; }),
     computed<run_result>(
       "grad_norm", opt_of(in, float64_form()),
       [](const run_result& x) -> const auto& { return x.reply->grad_norm; },
       "Before clipping; only with `clip`."),
     computed<run_result>(
       "step", opt_of(in, candid::nat64_form()),
       [](const run_result& x) -> const auto& { return x.reply->step; },
       "How many steps the optimizer has taken, this one included; only with `train`."),
     computed<run_result>(
       "nanos", candid::nat64_form(), [](const run_result& x) -> const auto& { return x.nanos; },
       "Device time.")},
    "What a run answers. Values are those before the training step.");
}

device_types::device_types() {
  declarations in;
  in.alias("Reg", "nat32",
           "A register: the position, in the program, of the operation that makes it.");
  const auto contents = tensor_form(in);
  declare_params(in, contents);
  declare_optimizer(in);
  declare_program(in);
  declare_run(in, contents);
  in.add_method("moxzi_device_params", "Makes parameters, all or none.", {params}, {});
  in.add_method("moxzi_device_optimizer", "Makes an optimizer, or replaces the one of this name.",
                {optimizer}, {});
  in.add_method("moxzi_device_run", "Runs a program, as a training step if `train` is given.",
                {run}, {result});
  service = in.service();
  text_ = in.text();
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
