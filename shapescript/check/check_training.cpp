#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

type checker::training_rule(const builtin& what, call_site& site, matched& m) {
  switch (what.how) {
    case rule::dropout: {
      auto& x = *m.slots[0];
      if (!need_float(x) || !need_number(m.slots[1])) return {};
      if (m.slots[2] != nullptr
          && !need(*m.slots[2], is(type_of(*m.slots[2]), base_type::generator), "E0403",
                   "an `Rng`"))
        return {};
      auto out = x.what;
      if (out.known != refinement::nonneg && out.known != refinement::none)
        out.known = refinement::nonneg;
      return out;
    }
    case rule::stop_gradient:
      return m.slots[0]->what;
    case rule::wrap: {
      const auto& f = m.slots[0]->what;
      if (!need(*m.slots[0], is(f, base_type::function), "E0509", "a function")) return {};
      if (what.name == "checkpoint" && f.declaration != no_index)
        device_roots_.push_back({f.declaration, m.slots[0]->where, module_, function_});
      return f;
    }
    case rule::scan:
      return scan_rule(site, m);
    case rule::map:
      return map_rule(site, m);
    case rule::gradient:
      return gradient_rule(what, site, m);
    case rule::update:
      return update_rule(m);
    case rule::optimizer:
      return optimizer_rule(what, m);
    case rule::clip_norm: {
      auto& g = *m.slots[0];
      const bool fine = is(g.what, base_type::gradient) || is_float_tensor(g.what);
      if (!need(g, fine, "E0503", "a gradient") || !need_number(m.slots[1])) return {};
      auto out = scalar_of(base_type::tuple);
      out.parts = {plain(g.what), tensor_of({}, dtype::f32, refinement::nonneg)};
      return out;
    }
    case rule::accumulate: {
      auto& a = *m.slots[0];
      auto& b = *m.slots[1];
      const bool fine = is(a.what, base_type::gradient) || is_float_tensor(a.what);
      if (!need(a, fine, "E0503", "a gradient")) return {};
      if (same(a.what, b.what)) return plain(a.what);
      auto& d = report(
        "E1104", b.where,
        fmt::format("`{}` and `{}` are gradients of different things", show(a.what), show(b.what)),
        fmt::format("`{}`", show(b.what)));
      mark(d, a.where, fmt::format("`{}`", show(a.what)));
      return {};
    }
    case rule::schedule: {
      for (auto* one : m.slots)
        if (!need_number(one)) return {};
      return scalar_of(base_type::real);
    }
    default:
      return {};
  }
}

uint32_t checker::function_argument(call_argument& one) {
  const auto& f = type_of(one);
  if (!need(one, is(f, base_type::function), "E0509", "the name of a function")) return no_index;
  if (f.declaration != no_index)
    device_roots_.push_back({f.declaration, one.where, module_, function_});
  return f.declaration;
}

// `value_and_grad(f, x, rest...)`: the value of `f(x, rest...)` and the gradient of x.
type checker::gradient_rule(const builtin& what, call_site& site, matched& m) {
  auto& function = *m.slots[0];
  auto& x = *m.slots[1];
  const auto index = function_argument(function);
  const auto gradient = [&](const type& of) {
    auto out = of;
    if (is(of, base_type::model))
      out.base = base_type::gradient;
    else
      out = plain(of);
    out.literal = false;
    return out;
  };
  if (index == no_index) return {};
  const auto& f = functions_[index];
  const auto& value = f.result;
  if (is_poison(value)) return {};
  if (!is_float_tensor(value) || !value.axes.empty()) {
    auto& d = report(
      "E1101", function.where,
      fmt::format("`{}` is differentiated, but returns {}", text(function.where), quote(value)),
      fmt::format("returns {}", quote(value)));
    if (f.module == module_ && !f.decl->results.empty())
      mark(d,
           {t().at(f.decl->results.front()).where.begin, t().at(f.decl->results.back()).where.end},
           "declared here");
    d.notes.push_back("a gradient is of one number: the function returns `[]` or `[] NonNeg`");
    return {};
  }
  // A number is differentiated where the function takes it as a tensor.
  const bool number = is_scalar(x.what) && !f.parameters.empty() && is_scalar(f.parameters[0].what);
  if (number || (!is(x.what, base_type::model) && !is_float_tensor(as_tensor(x.what)))) {
    report("E1102", x.where,
           fmt::format("`{}` cannot be differentiated: it is {}", text(x.where), quote(x.what)),
           "neither a model nor a float tensor");
    return {};
  }
  call_site inner{site.where, function.where, {}, pattern_id::none};
  inner.arguments.push_back(x);
  for (auto* one : m.rest) inner.arguments.push_back(*one);
  const auto result = call_function(index, inner, nullptr);
  if (is_poison(result)) return {};
  if (what.name == "grad") return gradient(as_tensor(x.what));
  auto out = scalar_of(base_type::tuple);
  out.parts = {result, gradient(as_tensor(x.what))};
  return out;
}

// `update(mut m, mut opt, g)`: all three are of one model.
type checker::update_rule(matched& m) {
  auto& model = *m.slots[0];
  auto& state = *m.slots[1];
  auto& g = *m.slots[2];
  if (!need(model, is(model.what, base_type::model), "E0403", "a model")) return {};
  const auto of_model = [&](const type& what) {
    return what.declaration == model.what.declaration && what.dims == model.what.dims;
  };
  const auto stranger = [&](call_argument& one, const char* code, std::string_view wanted) {
    auto& d = report(code, one.where,
                     fmt::format("`{}` is `{}`, but {} of `{}` is needed", text(one.where),
                                 show(one.what), wanted, show(model.what)),
                     fmt::format("`{}`", show(one.what)));
    mark(d, model.where, fmt::format("`{}`", show(model.what)));
  };
  if (!is(state.what, base_type::optimizer) || !of_model(state.what)) {
    stranger(state, "E1105", "the optimizer");
    return scalar_of(base_type::none);
  }
  if (!is(g.what, base_type::gradient) || !of_model(g.what)) {
    stranger(g, "E1104", "the gradient");
    return scalar_of(base_type::none);
  }
  check_mut({"m", {}, {}, true, false}, model);
  check_mut({"opt", {}, {}, true, false}, state);
  call_site both{{}, {}, {model, state}, pattern_id::none};
  check_aliases(both);
  if (m.slots[3] != nullptr) need_number(m.slots[3]);
  return scalar_of(base_type::none);
}

type checker::optimizer_rule(const builtin& what, matched& m) {
  auto& model = *m.slots[0];
  if (!need(model, is(model.what, base_type::model), "E0403", "a model")) return {};
  for (size_t i = 1; i < m.slots.size(); ++i) {
    const bool flag = what.name == "sgd" && i == 3; // nesterov
    if (flag ? !need_flag(m.slots[i]) : !need_number(m.slots[i])) return {};
  }
  auto out = model.what;
  out.base = base_type::optimizer;
  out.name = what.name == "adamw"  ? "AdamW"
             : what.name == "adam" ? "Adam"
             : what.name == "sgd"  ? "Sgd"
                                   : "Lion";
  return out;
}

// `scan(f, init, xs, over=n)`: acc = f(acc, x) along the axis.
type checker::scan_rule(call_site& site, matched& m) {
  function_argument(*m.slots[0]);
  auto& init = *m.slots[1];
  auto& xs = *m.slots[2];
  if (!is(m.slots[0]->what, base_type::function)) return {};
  if (!need(xs, is_tensor(xs.what), "E0503", "a tensor")) return {};
  const auto place = one_axis(*m.slots[3], xs.what);
  if (!place) return {};
  const auto over = xs.what.axes[*place];
  crossing(m.slots[3]->where, "scan", over);
  call_site inner{site.where, m.slots[0]->where, {init, xs}, pattern_id::none};
  inner.arguments[0].what = plain(as_tensor(init.what));
  auto& slice = inner.arguments[1].what;
  slice.axes.erase(slice.axes.begin() + static_cast<std::ptrdiff_t>(*place));
  if (slice.known == refinement::prob && bound_by(slice, over)) slice.known = refinement::unit;
  for (auto& one : inner.arguments) one.name = {};
  static const builtin scan{"scan", "", rule::scan, work::device};
  auto out = call_step(scan, *m.slots[0], inner);
  if (is_poison(out)) return {};
  const auto& carried = is(out, base_type::tuple) && out.parts.size() == 2 ? out.parts[0] : out;
  const auto fit = fits(plain(carried), inner.arguments[0].what);
  if (fit != misfit::none) {
    auto* d = report_misfit(fit, carried, inner.arguments[0].what, m.slots[0]->where, "E0403",
                            "what is carried along");
    mark_operand(*d, init.where, inner.arguments[0].what);
    const auto index = m.slots[0]->what.declaration;
    if (index == no_index || functions_[index].module != module_) return {};
    const auto& decl = *functions_[index].decl;
    if (!decl.results.empty())
      mark(*d, t().at(decl.results.front()).where, fmt::format("`{}` gives this", text(decl.name)));
    return {};
  }
  if (is(out, base_type::tuple) && out.parts.size() == 2 && is_tensor(out.parts[1]))
    out.parts[1].axes.insert(out.parts[1].axes.begin(), over);
  return out;
}

// `map(f, xs, over=n)` on a tensor, `data |> map(f)` on a dataset.
type checker::map_rule(call_site& site, matched& m) {
  auto& first = *m.slots[0];
  if (is(first.what, base_type::dataset) || is(first.what, base_type::batches)) {
    static const builtin stage{"map", "data f", rule::stage, work::host};
    host_work(site.where, "`map` of a dataset");
    const auto out = stage_rule(stage, site, first);
    const auto& f = type_of(*m.slots[1]);
    if (is_poison(out) || is(f, base_type::python)) return out;
    if (!need(*m.slots[1], is(f, base_type::function), "E0509", "a function")) return {};
    if (f.declaration == no_index && !f.name.empty()) {
      report("E0403", m.slots[1]->where,
             fmt::format("`{}` takes no record, and `map` gives it one", f.name),
             "a function of a record is needed");
      return {};
    }
    if (f.declaration == no_index) return out;
    auto record = scalar_of(base_type::record);
    record.declaration = out.declaration;
    call_site inner{site.where, m.slots[1]->where, {first}, pattern_id::none};
    inner.arguments[0].what = record;
    const auto result = call_function(f.declaration, inner, nullptr);
    if (is_poison(result)) return {};
    if (!is(result, base_type::record)) {
      report("E0903", m.slots[1]->where,
             fmt::format("`map` makes records of records, and this returns `{}`", show(result)),
             fmt::format("returns `{}`", show(result)));
      return {};
    }
    auto mapped = out;
    mapped.declaration = result.declaration;
    return mapped;
  }
  auto& xs = *m.slots[1];
  device_work(site.where, "`map`");
  function_argument(first);
  if (!is(first.what, base_type::function)) return {};
  const bool sliced =
    is_tensor(xs.what) || (is(xs.what, base_type::record) && !xs.what.axes.empty());
  if (!need(xs, sliced, "E0503", "a tensor or a batch of records")) return {};
  if (m.slots[2] == nullptr) {
    report("E0603", site.callee, "`map` needs `over`", "`over=` is missing");
    return {};
  }
  const auto place = one_axis(*m.slots[2], xs.what);
  if (!place) return {};
  const auto over = xs.what.axes[*place];
  call_site inner{site.where, first.where, {xs}, pattern_id::none};
  auto& slice = inner.arguments[0].what;
  slice.axes.erase(slice.axes.begin() + static_cast<std::ptrdiff_t>(*place));
  if (slice.known == refinement::prob && bound_by(slice, over)) slice.known = refinement::unit;
  static const builtin map{"map", "", rule::map, work::device};
  auto out = call_step(map, first, inner);
  if (is_poison(out)) return {};
  if (is_scalar(out)) out = as_tensor(out);
  if (!is_tensor(out)) {
    report("E0503", first.where,
           fmt::format("`map` makes a tensor, and this returns {}", quote(out)),
           fmt::format("returns {}", quote(out)));
    return {};
  }
  out.axes.insert(out.axes.begin(), over);
  return out;
}

} // namespace shapescript
