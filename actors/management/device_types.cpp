#include "actors/management/device_types.hpp"

#include <utility>

#include "actors/management/forms.hpp"
#include "device/optimizer.hpp"

namespace moxzi::actors::management {

namespace {

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

/// A tag without payload for an alternative of a `std::variant`.
template <class T, class A>
candid::choice<T> empty_alternative(std::string_view name, std::string_view note = {}) {
  return {std::string{name},
          std::nullopt,
          [](candid::value) { return T{A{}}; },
          [](const T& x) { return std::holds_alternative<A>(x); },
          [](writer&, const T&) {},
          std::string{note}};
}

/// Initializers of one number.
template <class A>
candid::choice<device::initializer> number_alternative(std::string_view name, double A::*where,
                                                       std::string_view note = {}) {
  return alternative<device::initializer>(name, only(where, float64_form()), note);
}

form<device::initializer> init_form(declarations& in, const form<device::tensor>& contents) {
  using device::init_trunc_normal;
  using device::init_uniform;
  using device::initializer;
  auto range = record_of<init_uniform>(in, {},
                                       {bound("lo", &init_uniform::low, float64_form()),
                                        bound("hi", &init_uniform::high, float64_form())});
  auto truncated =
    record_of<init_trunc_normal>(in, {},
                                 {bound("std", &init_trunc_normal::deviation, float64_form()),
                                  bound("cut", &init_trunc_normal::cut, float64_form())});
  return variant_of<initializer>(
    in, "Init",
    {number_alternative("normal", &device::init_normal::deviation,
                        "Mean 0, this standard deviation."),
     alternative<initializer>("uniform", std::move(range), "From `lo` to below `hi`."),
     alternative<initializer>("trunc_normal", std::move(truncated),
                              "Mean 0, without what is beyond -`cut` and `cut`."),
     shorthand<initializer>("zeros", device::init_constant{0}),
     shorthand<initializer>("ones", device::init_constant{1}),
     number_alternative("constant", &device::init_constant::value),
     number_alternative("xavier_uniform", &device::init_xavier_uniform::gain,
                        "Times this gain, as torch.nn.init has it; 2 dimensions or more."),
     number_alternative("xavier_normal", &device::init_xavier_normal::gain),
     number_alternative("kaiming_uniform", &device::init_kaiming_uniform::slope,
                        "By fan_in, for a leaky relu of this slope: 0 for relu."),
     number_alternative("kaiming_normal", &device::init_kaiming_normal::slope),
     number_alternative("orthogonal", &device::init_orthogonal::gain,
                        "Rows or columns, whichever are fewer, orthogonal and of this length."),
     empty_alternative<initializer, device::init_eye>("eye", "Ones on the diagonal of a matrix."),
     alternative<initializer>("data", only(&device::init_data::contents, contents),
                              "These contents, of the parameter's shape.")},
    "How a parameter is filled.");
}

/// A schedule with a warm-up and an end.
template <class S>
form<S> ending_form(declarations& in) {
  return record_of<S>(in, {},
                      {bound("warmup", &S::warmup, candid::nat64_form()),
                       bound("total", &S::total, candid::nat64_form()),
                       bound("floor", &S::floor, float64_form())});
}

form<device::lr_schedule> schedule_form(declarations& in) {
  using device::lr_schedule;
  using device::schedule_step;
  using device::schedule_warmup;
  auto warmup = record_of<schedule_warmup>(
    in, {}, {bound("steps", &schedule_warmup::steps, candid::nat64_form())});
  auto step = record_of<schedule_step>(in, {},
                                       {bound("every", &schedule_step::every, candid::nat64_form()),
                                        bound("gamma", &schedule_step::gamma, float64_form())});
  return variant_of<lr_schedule>(
    in, "Schedule",
    {empty_alternative<lr_schedule, device::schedule_constant>("constant"),
     alternative<lr_schedule>("warmup", std::move(warmup), "From lr / steps up to lr."),
     alternative<lr_schedule>("cosine", ending_form<device::schedule_cosine>(in),
                              "A warm-up, then half a cosine down to the learning rate `floor`, "
                              "reached after `total` steps."),
     alternative<lr_schedule>("linear", ending_form<device::schedule_linear>(in),
                              "The same with a straight line."),
     alternative<lr_schedule>("step", std::move(step), "Times `gamma` after every so many steps.")},
    "The learning rate over the steps.");
}

form<device::optimizer_kind> kind_form(declarations& in) {
  std::vector<std::pair<std::string_view, device::optimizer_kind>> tags;
  for (size_t i = 0; i <= static_cast<size_t>(device::optimizer_kind::muon); ++i) {
    const auto kind = static_cast<device::optimizer_kind>(i);
    tags.emplace_back(device::name_of(kind), kind);
  }
  return enum_of(in, "OptKind", std::move(tags),
                 "As in torch.optim. adamw, lion, adafactor and muon take the decay from the "
                 "parameter, the others add it to the gradient.");
}

} // namespace

// -- declarations -------------------------------------------------------------

void device_types::declare_params(declarations& in, const form<device::tensor>& contents,
                                  const form<device::dtype>& type) {
  using device::if_exists;
  using device::param_spec;
  auto init = init_form(in, contents);
  auto existing = enum_of<if_exists>(
    in, {},
    {{"replace", if_exists::replace}, {"keep", if_exists::keep}, {"fail", if_exists::fail}});
  auto param = record_of<param_spec>(
    in, "Param",
    {bound("name", &param_spec::name, text_form(), "1 to 128 bytes."),
     bound("shape", &param_spec::dims, vec_of(in, nat32_form()), "At most 8 dimensions."),
     bound("init", &param_spec::init, std::move(init)),
     bound_or_default(in, "dtype", &param_spec::type, type,
                      "One of those that `moxzi_device_info` lists; null = f32."),
     bound_or_default(in, "if_exists", &param_spec::existing, std::move(existing),
                      "null = replace"),
     bound_or_default(in, "frozen", &param_spec::frozen, candid::boolean_form(),
                      "Takes no gradient and no optimizer; null = false."),
     bound("seed", &param_spec::seed, opt_of(in, candid::nat64_form()),
           "The same seed and name give the same contents anywhere; null = a fresh draw.")},
    "A parameter to make.");
  params = vec_of(in, std::move(param));
}

void device_types::declare_optimizer(declarations& in, const form<device::optimizer_kind>& kind) {
  using device::optimizer_spec;
  auto schedule = schedule_form(in);
  optimizer = record_of<optimizer_spec>(
    in, "Optimizer",
    {bound("name", &optimizer_spec::name, text_form()),
     bound("params", &optimizer_spec::params, vec_of(in, text_form())),
     bound("lr", &optimizer_spec::lr, float64_form()),
     bound("beta1", &optimizer_spec::beta1, float64_form(),
           "sgd, nesterov, rmsprop, muon: the momentum."),
     bound("beta2", &optimizer_spec::beta2, float64_form(), "rmsprop: alpha."),
     bound("eps", &optimizer_spec::eps, float64_form()),
     bound("weight_decay", &optimizer_spec::weight_decay, float64_form()),
     bound_or_default(in, "kind", &optimizer_spec::kind, kind, "null = adamw"),
     bound_or_default(in, "schedule", &optimizer_spec::schedule, std::move(schedule),
                      "null = constant"),
     bound_or_default(in, "amsgrad", &optimizer_spec::amsgrad, candid::boolean_form(),
                      "adamw, adam: divide by the largest second moment so far; null = false"),
     bound_or_default(in, "no_decay", &optimizer_spec::no_decay, vec_of(in, text_form()),
                      "Those of `params` that have no weight decay; null = none."),
     bound_or_default(in, "keep_state", &optimizer_spec::keep_state, candid::boolean_form(),
                      "true: keep state and step counts if the name exists; null = false")},
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
                      "More optimizers, stepped by the same gradients."),
     bound_or_default(in, "accumulate", &train_spec::accumulate, candid::boolean_form(),
                      "true: add the gradients to those gathered and take no step; null = false"),
     bound_or_default(in, "skip_nonfinite", &train_spec::skip_nonfinite, candid::boolean_form(),
                      "true: take no step if a gradient is NaN or infinite; null = false"),
     bound("clip_value", &train_spec::clip_value, opt_of(in, float64_form()),
           "Bound of each element, before the norm is taken.")},
    "Makes a run a training step.");
  run = record_of<run_request>(
    in, "Run",
    {bound("inputs", &run_request::inputs, vec_of(in, contents)),
     bound("program", &run_request::code, program),
     bound("train", &run_request::train, opt_of(in, std::move(train))),
     bound("scalars", &run_request::scalars, vec_of(in, reg_form()),
           "Registers of one element to answer as numbers."),
     bound("tensors", &run_request::tensors, vec_of(in, reg_form()), "Registers to answer whole."),
     bound("seed", &run_request::seed, opt_of(in, candid::nat64_form()),
           "Of random numbers; null = others in each run.")},
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
       "skipped", opt_of(in, candid::boolean_form()),
       [](const run_result& x) -> const auto& { return x.reply->skipped; },
       "Whether a gradient was NaN or infinite; only with `skip_nonfinite`."),
     computed<run_result>(
       "nanos", candid::nat64_form(), [](const run_result& x) -> const auto& { return x.nanos; },
       "Device time.")},
    "What a run answers. Values are those before the training step.");
}

void device_types::declare_methods(declarations& in) const {
  in.add_method("moxzi_device_params", "Makes parameters, all or none.", {params}, {});
  in.add_method("moxzi_device_optimizer", "Makes an optimizer, or replaces the one of this name.",
                {optimizer}, {});
  in.add_method("moxzi_device_run", "Runs a program, as a training step if `train` is given.",
                {run}, {result});
  in.add_method("moxzi_device_read", "Reads parameters, in the order of the names.", {read},
                {contents});
  in.add_method("moxzi_device_write",
                "Replaces contents, all or none; optimizers keep what they remember.", {write}, {});
  in.add_method("moxzi_device_delete", "Forgets all that is named, or nothing.", {remove}, {});
  in.add_method("moxzi_device_rename",
                "Renames parameters, all at once or none; optimizers go on with them.", {rename},
                {});
  in.add_method("moxzi_device_list", "What the caller has.", {}, {listing});
  in.add_method("moxzi_device_info", "What the device is.", {}, {description});
}

device_types::device_types() {
  declarations in;
  in.alias("Reg", "nat32",
           "A register: the position, in the program, of the operation that makes it.");
  const auto contents = tensor_form(in);
  const auto type = declare_dtype(in);
  declare_params(in, contents, type);
  const auto kind = kind_form(in);
  declare_optimizer(in, kind);
  declare_program(in);
  declare_run(in, contents);
  declare_contents(in, contents);
  declare_facts(in, type, kind);
  declare_methods(in);
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
