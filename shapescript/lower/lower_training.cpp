#include <cmath>
#include <numbers>

#include "device/gradient.hpp"
#include "shapescript/lower/lower_slots.hpp"

namespace shapescript {

value lowering::training_builtin(const builtin& what, call_slots& m, const type& known) {
  switch (what.how) {
    case rule::dropout:
      return dropout(m);
    case rule::stop_gradient: {
      auto out = argument(*m.all[0]);
      if (out.at != no_register) out.at = emit(op::detach, {out.at});
      return out;
    }
    case rule::wrap: {
      auto out = argument(*m.all[0]);
      if (what.name == "eval")
        out.evaluated = true;
      else
        out.remade = true;
      return out;
    }
    case rule::scan:
    case rule::map:
      return repeated(what, m, known);
    case rule::gradient:
      return gradient(what, m);
    case rule::update:
      return update(m);
    case rule::clip_norm:
      return clip(m);
    case rule::accumulate:
      return accumulate(m, known);
    case rule::schedule:
      return schedule(what, m);
    default:
      fail(m.where, fmt::format("`{}` is made in the controller", what.name));
      return {};
  }
}

value lowering::dropout(call_slots& m) {
  const auto x = register_of(*m.all[0]);
  const auto p = number(m.all[1], 0.1);
  // As the identity it is no operation.
  if (!frame_->trains || failed()) return as_value(x);
  return as_value(emit(op::dropout, {x}, {p, {}}));
}

// -- gradients -----------------------------------------------------------------

// `value_and_grad(f, x, rest...)`: f's operations, then those of the gradient.
value lowering::gradient(const builtin& what, call_slots& m) {
  const auto f = argument(*m.all[0]);
  auto x = argument(*m.all[1]);
  if (failed()) return {};
  if (f.declaration == no_index) {
    fail(m.where, "a function of the program is differentiated");
    return {};
  }
  lowered_argument of;
  of.id = m.all[1]->id;
  of.ready = true;
  reg target = no_register;
  if (x.base != base_type::model) {
    // A register of its own, so that other uses of x do not count.
    const auto at =
      tensor(x, moxzi::device::is_float(kind(tensor(x))) ? std::optional<moxzi::device::dtype>{}
                                                         : moxzi::device::dtype::f32);
    std::vector<uint32_t> shape;
    for (const auto size : dims(at).sizes()) shape.push_back(static_cast<uint32_t>(size));
    target = emit(op::reshape, {at}, {shape});
    x = as_value(target);
  }
  of.what = x;
  std::vector<lowered_argument> arguments{of};
  for (auto* one : m.rest) {
    argument(*one);
    arguments.push_back(*one);
  }
  const auto readers = std::exchange(readers_, {});
  const auto result = call_function(f.declaration, arguments, nullptr, !f.evaluated);
  auto read = std::exchange(readers_, readers);
  for (const auto& [path, at] : read)
    readers_[path].insert(readers_[path].end(), at.begin(), at.end());
  if (failed()) return {};
  const auto loss = tensor(result);
  std::vector<std::string> paths;
  std::vector<std::vector<reg>> targets;
  if (target != no_register) {
    paths.emplace_back();
    targets.push_back({target});
  } else {
    for (const auto& one : out_.parameters) {
      if (!one.name.starts_with(x.text + ".")) continue;
      paths.push_back(one.name);
      targets.push_back(read[one.name]);
    }
  }
  if (flows_through_python(loss, targets)) {
    fail(m.where, "no gradient flows back through an `extern fn`: it is Python; use "
                  "`stop_gradient` on what it is given");
    return {};
  }
  const auto said = of.id == expr_id::none ? std::string_view{} : text(t().at(of.id).where);
  return differentiated(what, loss, x, paths, targets, said);
}

value lowering::differentiated(const builtin& what, reg loss, const value& x,
                               const std::vector<std::string>& paths,
                               const std::vector<std::vector<reg>>& targets, std::string_view of) {
  // One walk makes all that follow one another.
  std::vector<std::vector<reg>> terms;
  for (const auto& readers : targets) {
    terms.emplace_back();
    for (const auto at : readers) terms.back().push_back(emit(op::grad, {loss, at}));
  }
  if (failed()) return {};
  value g;
  g.base = target_base(x);
  g.declaration = x.declaration;
  g.dims = x.dims;
  g.text = x.text;
  const auto here = origin();
  for (size_t i = 0; i < paths.size(); ++i) {
    const bool of_model = x.base == base_type::model;
    reg at = no_register;
    for (const auto term : terms[i]) at = at == no_register ? term : emit(op::add, {at, term});
    if (at == no_register) {
      // Nothing depends on it.
      const auto& type = out_.code.where.parameters[paths[i]];
      at = constant(0, type.type, {type.dims.sizes().begin(), type.dims.sizes().end()});
    }
    if (of_model)
      out_.gradients.push_back({at, here, paths[i].substr(x.text.size() + 1), paths[i]});
    else
      out_.gradients.push_back({at, here, std::string{of}, {}});
    if (of_model)
      g.gradients[paths[i]] = at;
    else
      g.at = at;
  }
  if (what.name == "grad") return g;
  value out;
  out.base = base_type::tuple;
  out.parts = {as_value(loss), g};
  return out;
}

// Each `grad` becomes the operations that it stands for.
void lowering::expand_gradients() {
  auto made = moxzi::device::differentiate(out_.code, 0, {});
  if (!made) {
    fail_gradient(made.error().message);
    return;
  }
  out_.code = std::move(made->code);
  const auto move = [&](reg& x) {
    if (x != no_register) x = made->at(x);
  };
  for (auto& x : out_.results) move(x);
  for (auto& x : out_.returned_gradients) move(x);
  for (auto& one : out_.gradients) move(one.at);
  for (auto& one : out_.updates) {
    for (auto& [path, x] : one.gradients) move(x);
    move(one.lr_input);
  }
  for (auto& [id, x] : out_.registers) move(x);
  for (auto& [id, all] : out_.groups)
    for (auto& one : all) move(one.at);
  std::set<reg> values;
  for (const auto x : out_.values) values.insert(made->at(x));
  out_.values = std::move(values);
  out_.gradient_of = std::move(made->gradient_of);
  for (auto& call : out_.python) {
    for (auto& x : call.arguments) move(x);
    for (auto& x : call.results) move(x);
  }
  std::map<reg, uint32_t> split;
  for (const auto& [x, dim] : out_.split_dims) split.try_emplace(made->at(x), dim);
  out_.split_dims = std::move(split);
}

// The first gradient that can't be made is the one to blame.
void lowering::fail_gradient(const std::string& message) {
  auto& code = out_.code.code;
  for (reg i = 0; i < code.size(); ++i) {
    if (code[i].id != op::grad) continue;
    auto before = out_.code;
    before.code.resize(i + 1);
    before.types.resize(i + 1);
    before.seconds.resize(i + 1);
    before.origins.resize(i + 1);
    if (moxzi::device::differentiate(std::move(before), 0, {})) continue;
    const auto& from = out_.origins[out_.code.origins[i]];
    fault_ = lowering_fault{from.module, from.where, message};
    return;
  }
  fail(line_, message);
}

base_type lowering::target_base(const value& x) {
  return x.base == base_type::model ? base_type::gradient : base_type::tensor;
}

// -- steps ---------------------------------------------------------------------

value lowering::update(call_slots& m) {
  const auto model = argument(*m.all[0]);
  const auto optimizer = argument(*m.all[1]);
  const auto g = argument(*m.all[2]);
  if (failed()) return {};
  lowered_update out;
  out.optimizer = optimizer.text;
  out.kind = type_of(*m.all[1]).name;
  out.model = type_of(*m.all[1]).declaration;
  // The gradient's paths are those of the model that it is of.
  for (const auto& [path, at] : g.gradients)
    out.gradients[model.text + path.substr(g.text.size())] = at;
  if (m.all[3] != nullptr) {
    const auto& lr = argument(*m.all[3]);
    if (lr.at != no_register)
      out.lr_input = lr.at;
    else
      out.lr = number(m.all[3], 0);
  }
  for (const auto& [path, at] : out.gradients) {
    if (written_.contains(path)) fail(m.where, fmt::format("`{}` is changed twice", path));
    stepped_.insert(path);
  }
  out_.updates.push_back(std::move(out));
  return {};
}

// clip_norm(g, max=1.0): all of g times max / norm where the norm is above max, and the norm.
value lowering::clip(call_slots& m) {
  auto g = argument(*m.all[0]);
  const auto most = number(m.all[1], 1);
  std::vector<reg*> parts;
  if (g.base == base_type::gradient)
    for (auto& [path, at] : g.gradients) parts.push_back(&at);
  else
    parts.push_back(&g.at);
  reg sum = no_register;
  for (const auto* at : parts) {
    const auto squares =
      emit(op::sum, {emit(op::square, {cast(*at, moxzi::device::dtype::f32)})}, {{}, {}});
    sum = sum == no_register ? squares : emit(op::add, {sum, squares});
  }
  if (sum == no_register) sum = constant(0, moxzi::device::dtype::f32);
  const auto norm = emit(op::sqrt, {sum});
  // As torch.nn.utils.clip_grad_norm_ does.
  const auto above = emit(op::add_scalar, {norm}, {1e-6});
  const auto share = emit(op::mul_scalar, {emit(op::reciprocal, {above})}, {most});
  const auto factor = emit(op::clamp, {share}, {{}, 1.0});
  for (auto* at : parts) *at = emit(op::mul, {*at, cast(factor, kind(*at))});
  value out;
  out.base = base_type::tuple;
  out.parts = {g, as_value(norm)};
  return out;
}

value lowering::accumulate(call_slots& m, const type& known) {
  (void)known;
  auto x = argument(*m.all[0]);
  const auto y = argument(*m.all[1]);
  if (failed()) return {};
  if (x.base != base_type::gradient) return as_value(emit(op::add, {tensor(x), tensor(y)}));
  for (auto& [path, at] : x.gradients) {
    const auto other = y.gradients.find(y.text + path.substr(x.text.size()));
    if (other != y.gradients.end()) at = emit(op::add, {at, other->second});
  }
  return x;
}

// Learning rates of a step that is known; `s` steps were taken before.
value lowering::schedule(const builtin& what, call_slots& m) {
  value out;
  out.base = base_type::real;
  if (what.name == "constant") {
    out.real = number(m.all[0], 0);
    return out;
  }
  const auto step = number(m.all[0], 0);
  const auto total = number(m.all[1], 1);
  const auto warmup = number(m.all[2], 0);
  const auto peak = number(m.all[3], 0);
  const auto floor = number(m.all[4], 0);
  if (step < warmup) {
    out.real = peak * (step + 1) / warmup;
    return out;
  }
  const auto share = total > warmup ? std::min(1.0, (step - warmup) / (total - warmup)) : 1.0;
  out.real = what.name == "cosine"
               ? floor + (peak - floor) * (1 + std::cos(std::numbers::pi * share)) / 2
               : peak + (floor - peak) * share;
  return out;
}

// -- scan, map -----------------------------------------------------------------

// A function along an axis, one call for each of its places.
value lowering::repeated(const builtin& what, call_slots& m, const type& known) {
  const bool scans = what.how == rule::scan;
  const auto f = argument(*m.all[0]);
  auto& source = *m.all[scans ? 2 : 1];
  const auto xs = argument(source);
  auto slice_type = type_of(source);
  const auto over = places(*m.all.back(), slice_type);
  if (failed()) return {};
  const auto dim = static_cast<int64_t>(over.at(0));
  const auto count = number_of(slice_type.axes[over[0]].size, m.where);
  slice_type.axes.erase(slice_type.axes.begin() + dim);
  // What a slice is: of a tensor, or of each field of a record.
  const auto slice_at = [&](int64_t i) {
    auto one = xs;
    if (xs.parts.empty()) one = as_value(emit(op::select, {tensor(xs)}, {dim, i}));
    for (auto& field : one.parts) field = as_value(emit(op::select, {tensor(field)}, {dim, i}));
    return one;
  };
  value carried;
  if (scans) carried = argument(*m.all[1]);
  const auto& carried_type = scans ? type_of(*m.all[1]) : known;
  auto made = scans ? carried_type : known;
  if (!scans && !made.axes.empty()) made.axes.erase(made.axes.begin());
  std::vector<std::vector<reg>> rows;
  bool pair = false;
  for (int64_t i = 0; i < count && !failed(); ++i) {
    lowered_argument slice;
    slice.ready = true;
    slice.known = &slice_type;
    slice.what = slice_at(i);
    std::vector<lowered_argument> arguments;
    if (scans) {
      arguments.emplace_back();
      arguments.back().ready = true;
      arguments.back().known = &carried_type;
      arguments.back().what = carried;
    }
    arguments.push_back(std::move(slice));
    auto result = call_value(f, nullptr, arguments, made, m.where);
    if (failed()) return {};
    pair = scans && result.base == base_type::tuple && result.parts.size() == 2;
    if (scans) carried = pair ? result.parts[0] : result;
    if (!scans || pair) rows.push_back({tensor(scans ? result.parts[1] : result)});
  }
  if (scans && !pair) return carried;
  std::vector<reg> parts;
  for (const auto& one : rows) parts.push_back(one[0]);
  auto stacked = as_value(emit(op::stack, std::move(parts), {int64_t{0}}));
  if (!scans) return stacked;
  value out;
  out.base = base_type::tuple;
  out.parts = {carried, stacked};
  return out;
}

} // namespace shapescript
