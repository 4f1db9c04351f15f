#include "shapescript/lower/lowering.hpp"

namespace shapescript {

namespace {

moxzi::device::elem sent_as(dtype type) {
  using to = moxzi::device::elem;
  switch (type) {
    case dtype::f64:
      return to::f64;
    case dtype::f16:
      return to::f16;
    case dtype::bf16:
      return to::bf16;
    case dtype::i8:
      return to::i8;
    case dtype::i16:
      return to::i16;
    case dtype::i32:
      return to::i32;
    case dtype::i64:
      return to::i64;
    case dtype::u8:
      return to::u8;
    case dtype::boolean:
      return to::boolean;
    default:
      return to::f32;
  }
}

} // namespace

// Sizes of the axes that the parameters bring in.
void lowering::choose_sizes(const function_info& f) {
  const auto choose = [&](symbol one, const std::string& name) {
    if (const auto found = options_.sizes.find(name); found != options_.sizes.end())
      frame_->sizes[one] = found->second;
    else if (options_.other_size)
      frame_->sizes[one] = *options_.other_size;
    else
      fail(f.decl->name, fmt::format("the size of `{}` is not given", name));
  };
  for (const auto one : f.given) choose(one, program_.symbols[one].name);
  for (const auto one : f.only_in_result) choose(one, program_.symbols[one].name);
  if (f.owner == no_index) return;
  for (const auto one : program_.models[f.owner].dims) choose(one, program_.symbols[one].name);
}

value lowering::parameter(const parameter_info& p, uint32_t place) {
  (void)place;
  const std::string name{p.name};
  value out;
  switch (p.what.base) {
    case base_type::tensor:
    case base_type::record:
      return input_of(p.what, name);
    case base_type::model:
      return model_value(p.what, name);
    case base_type::optimizer:
      out.base = base_type::optimizer;
      out.declaration = p.what.declaration;
      out.text = name;
      out.count = static_cast<int64_t>(out_.updates.size());
      return out;
    case base_type::integer:
    case base_type::real:
    case base_type::boolean:
    case base_type::text:
      return host_parameter(p);
    case base_type::generator:
      out.base = base_type::generator;
      return out;
    case base_type::gradient:
      return gradient_value(p.what, name);
    case base_type::function:
      fail(p.where,
           fmt::format("`{}` is a function, which is known where this one is called", name));
      return out;
    default:
      fail(p.where,
           fmt::format("`{}` is `{}`, which no device takes", name, program_.show(p.what)));
      return out;
  }
}

value lowering::host_parameter(const parameter_info& p) {
  value out;
  out.base = p.what.base;
  const auto found = options_.values.find(p.name);
  if (found != options_.values.end()) {
    const auto* whole = std::get_if<int64_t>(&found->second);
    const auto* real = std::get_if<double>(&found->second);
    const auto* truth = std::get_if<bool>(&found->second);
    const auto* words = std::get_if<std::string>(&found->second);
    const bool fits = p.what.base == base_type::integer   ? whole != nullptr
                      : p.what.base == base_type::real    ? whole != nullptr || real != nullptr
                      : p.what.base == base_type::boolean ? truth != nullptr
                                                          : words != nullptr;
    if (!fits)
      fail(p.where, fmt::format("`{}` is `{}`, and the value given for it is not", p.name,
                                program_.show(p.what)));
    if (whole != nullptr) {
      out.integer = *whole;
      out.real = static_cast<double>(*whole);
    }
    if (real != nullptr) out.real = *real;
    if (truth != nullptr) out.flag = *truth;
    if (words != nullptr) out.text = *words;
    return out;
  }
  const auto& f = program_.functions[frame_->function];
  const auto& written = f.decl->parameters[static_cast<size_t>(&p - f.parameters.data())];
  if (written.initial != expr_id::none) return expression(written.initial);
  if (p.what.base == base_type::boolean || p.what.base == base_type::text) {
    fail(p.where, fmt::format("the program depends on `{}`, which is known when it runs", p.name));
    return out;
  }
  const bool whole = p.what.base == base_type::integer;
  auto as_type = tensor_of({}, whole ? dtype::i64 : dtype::f32);
  out.at = input_of(as_type, std::string{p.name}).at;
  return out;
}

value lowering::input_of(const type& what, const std::string& name) {
  if (is(what, base_type::record)) {
    value out;
    out.base = base_type::record;
    out.declaration = what.declaration;
    const auto& record = program_.records[what.declaration];
    const auto& text = program_.modules[record.module]->text;
    for (size_t i = 0; i < record.fields.size(); ++i) {
      auto field = record.fields[i];
      field.axes.insert(field.axes.begin(), what.axes.begin(), what.axes.end());
      const auto inner = fmt::format("{}.{}", name, text.text(record.decl->fields[i].name));
      out.parts.push_back(input_of(field, inner));
      if (failed()) return out;
      if (what.axes.empty()) continue;
      out_.inputs.back().batch = 0;
      out_.inputs.back().examples = true;
    }
    return out;
  }
  const auto sizes = sizes_of(what.axes, name);
  if (failed()) return {};
  lowered_input in{name, {sent_as(what.element), moxzi::device::shape(sizes)}, {}, false, {}};
  for (const auto& one : what.axes) in.axes.push_back(one.name);
  // A tensor lies as its callers' does: along the examples where they are split.
  for (uint32_t i = 0; i < what.axes.size() && !in.batch; ++i)
    if (const auto lone = what.axes[i].size.lone(); lone && program_.symbols[*lone].batch)
      in.batch = i;
  auto out = as_value(cast(add_input(std::move(in)), lowered_dtype(what.element)));
  for (uint32_t i = 0; i < what.axes.size(); ++i)
    for (const auto& split : program_.devices.split)
      if (what.axes[i].name == split) out_.split_dims.try_emplace(out.at, i);
  return out;
}

reg lowering::add_input(lowered_input what) {
  out_.code.where.inputs.push_back(what.what);
  out_.inputs.push_back(std::move(what));
  return emit(op::input, {}, {static_cast<int64_t>(out_.inputs.size() - 1)});
}

// -- models --------------------------------------------------------------------

std::map<symbol, int64_t> lowering::model_sizes(uint32_t model,
                                                const std::vector<int64_t>& dims) const {
  std::map<symbol, int64_t> out;
  const auto& info = program_.models[model];
  for (size_t i = 0; i < info.dims.size() && i < dims.size(); ++i) out[info.dims[i]] = dims[i];
  return out;
}

// A model, or what is of its shape.
value lowering::shaped_as_model(base_type base, const type& what, const std::string& path) {
  value out;
  out.base = base;
  out.declaration = what.declaration;
  out.text = path;
  for (const auto& one : what.dims) out.dims.push_back(number_of(one, where_));
  return out;
}

value lowering::model_value(const type& what, const std::string& path) {
  auto out = shaped_as_model(base_type::model, what, path);
  if (failed()) return out;
  each_tensor(out.declaration, out.dims, path, [this](member_kind kind, lowered_tensor one) {
    auto& where = out_.code.where;
    (kind == member_kind::param ? where.parameters : where.values)[one.name] = one.what;
    (kind == member_kind::param ? out_.parameters : out_.buffers).push_back(std::move(one));
  });
  return out;
}

// A gradient that is given: an input for each of the model's parameters.
value lowering::gradient_value(const type& what, const std::string& path) {
  auto out = shaped_as_model(base_type::gradient, what, path);
  if (failed()) return out;
  each_tensor(out.declaration, out.dims, path, [&](member_kind kind, const lowered_tensor& one) {
    if (kind != member_kind::param) return;
    lowered_input in{one.name, {one.what.storage, one.what.dims}, {}, true, one.axes};
    out.gradients[one.name] = cast(add_input(std::move(in)), one.what.type);
  });
  return out;
}

// All parameters and buffers of a model and its layers, by their paths.
void lowering::each_tensor(uint32_t model, const std::vector<int64_t>& dims,
                           const std::string& path, const tensor_visitor& use) {
  if (++depth_ > lowered_depth_max) fail(where_, "these models are nested too deeply");
  auto before = std::exchange(frame_->sizes, model_sizes(model, dims));
  for (const auto& one : program_.models[model].members) {
    if (failed()) break;
    const auto inner = fmt::format("{}.{}", path, one.name);
    if (one.kind == member_kind::layer) {
      const bool several = is(one.what, base_type::layers);
      const auto& layer = several ? one.what.parts[0] : one.what;
      std::vector<int64_t> sizes;
      for (const auto& size : layer.dims) sizes.push_back(number_of(size, where_));
      const auto count = several && one.count ? number_of(*one.count, where_) : 1;
      for (int64_t i = 0; i < count && !failed(); ++i)
        each_tensor(layer.declaration, sizes, several ? fmt::format("{}.{}", inner, i) : inner,
                    use);
      continue;
    }
    const auto sizes = sizes_of(one.what.axes, inner);
    if (failed()) break;
    const auto type = lowered_dtype(one.what.element);
    lowered_tensor tensor{
      inner, {type, moxzi::device::stored_as(type), moxzi::device::shape(sizes), {}}, {}};
    for (const auto& axis : one.what.axes) tensor.axes.push_back(axis.name);
    if (!take_step()) break;
    use(one.kind, std::move(tensor));
  }
  frame_->sizes = std::move(before);
  --depth_;
}

// -- results -------------------------------------------------------------------

void lowering::need_results(const value& what) {
  if (what.base == base_type::tuple || what.base == base_type::record) {
    for (const auto& one : what.parts) need_results(one);
    return;
  }
  for (const auto& [path, at] : what.gradients) out_.returned_gradients.push_back(at);
  if (what.base == base_type::gradient || what.base == base_type::model) return;
  out_.results.push_back(tensor(what));
  out_.result_origin = origin();
}

} // namespace shapescript
