#include "shapescript/lower/lower.hpp"

#include <algorithm>

#include "device/ops/table.hpp"
#include "shapescript/lower/lowering.hpp"

namespace shapescript {

std::variant<lowered, lowering_fault> lower(const typed_tree& program, uint32_t function,
                                            const lowering_options& options) {
  return lowering{program, options}.run(function);
}

lowering::lowering(const typed_tree& program, const lowering_options& options)
    : program_(program), options_(options) {
  // nop
}

std::variant<lowered, lowering_fault> lowering::run(uint32_t function) {
  const auto& f = program_.functions[function];
  lowering_frame frame;
  frame.function = function;
  frame.module = f.module;
  frame.trains = options_.trains;
  frame_ = outer_ = &frame;
  out_.code.where.trains = options_.trains;
  line_ = where_ = f.decl->name;
  if (f.host || f.decl->is_extern)
    fail(f.decl->name, f.decl->is_extern ? "its body is Python" : "it runs in the controller");
  choose_sizes(f);
  open_.push_back(function);
  for (uint32_t i = 0; i < f.parameters.size() && !failed(); ++i)
    frame.locals[f.parameters[i].name] = parameter(f.parameters[i], i);
  if (!failed()) run_block(f.decl->body);
  if (!failed() && frame.result) need_results(*frame.result);
  if (!failed()) expand_gradients();
  if (failed()) return *fault_;
  return std::move(out_);
}

// -- faults --------------------------------------------------------------------

void lowering::fail(span where, std::string message) {
  if (!failed()) fault_ = lowering_fault{frame_->module, where, std::move(message)};
}

// -- sizes ---------------------------------------------------------------------

std::optional<int64_t> lowering::sum_of(const size_sum& sum) const {
  if (sum.too_large()) return std::nullopt;
  int64_t all = 0;
  for (const auto& term : sum.terms()) {
    int64_t product = term.factor;
    for (const auto one : term.symbols) {
      const auto found = frame_->sizes.find(one);
      if (found == frame_->sizes.end() || __builtin_mul_overflow(product, found->second, &product))
        return std::nullopt;
    }
    if (__builtin_add_overflow(all, product, &all)) return std::nullopt;
  }
  return all;
}

std::optional<int64_t> lowering::size_of(const size_form& size) const {
  const auto over = sum_of(size.over());
  const auto under = sum_of(size.under());
  if (!over || !under || *under == 0 || *over % *under != 0) return std::nullopt;
  return *over / *under;
}

// Why a size has no value here.
std::string lowering::no_size(const size_form& size) const {
  const auto over = sum_of(size.over());
  const auto under = sum_of(size.under());
  const auto written = program_.show(size);
  if (!over || !under) return fmt::format("the size `{}` is not known here", written);
  return fmt::format("the size `{}` is not exact: {} / {}", written, *over, *under);
}

int64_t lowering::number_of(const size_form& size, span where) {
  const auto number = size_of(size);
  if (!number) fail(where, no_size(size));
  return number.value_or(1);
}

std::optional<std::vector<int64_t>> lowering::sizes_of(const std::vector<axis>& axes) const {
  std::vector<int64_t> out;
  for (const auto& one : axes) {
    const auto size = size_of(one.size);
    if (!size) return std::nullopt;
    out.push_back(*size);
  }
  return out;
}

// The same of a value that has a name, which has no program if they are not known.
std::vector<int64_t> lowering::sizes_of(const std::vector<axis>& axes, const std::string& name) {
  std::vector<int64_t> out;
  for (const auto& one : axes) {
    const auto size = size_of(one.size);
    if (!size) fail(where_, fmt::format("{}, in `{}`", no_size(one.size), name));
    out.push_back(size.value_or(1));
  }
  if (out.size() > moxzi::device::rank_max)
    fail(where_, fmt::format("`{}` has more than {} axes", name, moxzi::device::rank_max));
  return out;
}

// A name that stands for a size: given by the call, of the function's scope, or a dim.
std::optional<int64_t> lowering::size_named(std::string_view name) const {
  if (const auto found = frame_->named_sizes.find(name); found != frame_->named_sizes.end())
    return found->second;
  const auto& scope = program_.functions[frame_->function].scope;
  if (const auto found = scope.find(name); found != scope.end())
    if (const auto size = size_of(found->second)) return size;
  const auto& names = program_.modules[frame_->module]->names;
  if (const auto found = names.find(name);
      found != names.end() && found->second.kind == entity::dim)
    return program_.dims[found->second.index].value;
  return std::nullopt;
}

// The axis that a word means, as the checker finds it.
std::optional<size_t> lowering::axis_called(std::string_view word, const std::vector<axis>& axes,
                                            std::optional<size_form> size) const {
  axis meant{std::string{word}, {}};
  const auto& scope = program_.functions[frame_->function].scope;
  const auto& names = program_.modules[frame_->module]->names;
  if (size)
    meant.size = *size;
  else if (const auto own = scope.find(word); own != scope.end())
    meant.size = own->second;
  else if (const auto dim = names.find(word); dim != names.end() && dim->second.kind == entity::dim)
    meant.size = size_form{program_.dims[dim->second.index].value};
  return find_axis(axes, meant);
}

// `2*n` against 6, `n/2` against 3: what n is.
void lowering::bind_size(const size_form& size, int64_t have) {
  const auto under = sum_of(size.under());
  int64_t whole = 0;
  if (!under || __builtin_mul_overflow(have, *under, &whole)) return;
  std::optional<symbol> unknown;
  int64_t factor = 0; // of the unknown
  int64_t rest = 0;
  for (const auto& term : size.over().terms()) {
    int64_t product = term.factor;
    bool open = false;
    for (const auto one : term.symbols) {
      const auto found = frame_->sizes.find(one);
      if (found != frame_->sizes.end()) {
        product *= found->second;
      } else if (open || (unknown && *unknown != one)) {
        return;
      } else {
        unknown = one;
        open = true;
      }
    }
    if (open)
      factor += product;
    else
      rest += product;
  }
  if (unknown && factor != 0 && (whole - rest) % factor == 0)
    frame_->sizes[*unknown] = (whole - rest) / factor;
}

void lowering::bind_sizes(const type& want, const value& have) {
  if (is_tensor(want) && have.at != no_register) {
    const auto& sizes = dims(have.at);
    for (size_t i = 0; i < want.axes.size() && i < sizes.rank(); ++i)
      bind_size(want.axes[i].size, sizes[i]);
  }
  if (is(want, base_type::record) && !have.parts.empty() && have.parts[0].at != no_register) {
    const auto& sizes = dims(have.parts[0].at);
    for (size_t i = 0; i < want.axes.size() && i < sizes.rank(); ++i)
      bind_size(want.axes[i].size, sizes[i]);
  }
  for (size_t i = 0; i < want.dims.size() && i < have.dims.size(); ++i)
    bind_size(want.dims[i], have.dims[i]);
}

// -- operations ----------------------------------------------------------------

uint32_t lowering::origin() {
  const operation_origin here{frame_->module, where_, line_};
  if (!out_.origins.empty()) {
    const auto& back = out_.origins.back();
    if (back.module == here.module && back.where == here.where && back.line == here.line)
      return static_cast<uint32_t>(out_.origins.size() - 1);
  }
  out_.origins.push_back(here);
  return static_cast<uint32_t>(out_.origins.size() - 1);
}

reg lowering::emit(op id, std::vector<reg> operands, std::vector<attribute> attributes) {
  if (failed()) return no_register;
  if (out_.code.code.size() >= lowered_operations_max) {
    fail(where_, fmt::format("the program has more than {} operations", lowered_operations_max));
    return no_register;
  }
  operation what{id, std::move(operands), std::move(attributes)};
  const auto* how = moxzi::device::find_row(id);
  if (how->settle != nullptr) how->settle(what, frame_->trains);
  auto made = moxzi::device::append(out_.code, std::move(what), origin());
  if (made) return *made;
  fail(where_, made.error().message);
  return no_register;
}

const moxzi::device::shape& lowering::dims(reg x) const {
  static const moxzi::device::shape none;
  return x < out_.code.types.size() ? out_.code.types[x].dims : none;
}

moxzi::device::dtype lowering::kind(reg x) const {
  return x < out_.code.types.size() ? out_.code.types[x].type : moxzi::device::dtype::f32;
}

reg lowering::reshape(reg x, const std::vector<int64_t>& sizes) {
  const auto have = dims(x).sizes();
  if (std::equal(have.begin(), have.end(), sizes.begin(), sizes.end())) return x;
  std::vector<uint32_t> to;
  for (const auto one : sizes) to.push_back(static_cast<uint32_t>(one));
  return emit(op::reshape, {x}, {std::move(to)});
}

reg lowering::permute(reg x, const std::vector<uint32_t>& order) {
  if (std::is_sorted(order.begin(), order.end())) return x;
  return emit(op::permute, {x}, {order});
}

reg lowering::cast(reg x, moxzi::device::dtype to) {
  if (failed() || kind(x) == to) return x;
  return emit(op::cast, {x}, {static_cast<int64_t>(to)});
}

reg lowering::constant(double number, moxzi::device::dtype type,
                       const std::vector<int64_t>& sizes) {
  if (sizes.empty() && type == moxzi::device::dtype::f32) return emit(op::scalar, {}, {number});
  std::vector<uint32_t> to;
  for (const auto one : sizes) to.push_back(static_cast<uint32_t>(one));
  return emit(op::full, {}, {std::move(to), number, static_cast<int64_t>(type)});
}

reg lowering::tensor(const value& what, std::optional<moxzi::device::dtype> type) {
  if (failed()) return no_register;
  if (what.at != no_register) return type ? cast(what.at, *type) : what.at;
  using moxzi::device::dtype;
  switch (what.base) {
    case base_type::integer:
      return constant(static_cast<double>(what.integer), type.value_or(dtype::i64));
    case base_type::real:
      return constant(what.real, type.value_or(dtype::f32));
    case base_type::boolean:
      return constant(what.flag ? 1 : 0, type.value_or(dtype::boolean));
    default:
      fail(where_, "a tensor is needed here");
      return no_register;
  }
}

value lowering::as_value(reg at) const {
  value out;
  out.base = base_type::tensor;
  out.at = at;
  return out;
}

moxzi::device::dtype lowered_dtype(dtype type) noexcept {
  using to = moxzi::device::dtype;
  switch (type) {
    case dtype::f32:
      return to::f32;
    case dtype::f64:
      return to::f64;
    case dtype::f16:
      return to::f16;
    case dtype::bf16:
      return to::bf16;
    case dtype::i8:
    case dtype::i16:
    case dtype::i32:
      return to::i32;
    case dtype::i64:
      return to::i64;
    case dtype::u8:
      return to::u8;
    case dtype::boolean:
      return to::boolean;
  }
  return to::f32;
}

// What the function's own expressions stand for.
void lowering::note_value(expr_id id, const type& known, const value& what) {
  if (failed() || frame_ != outer_) return;
  if (what.base == base_type::tensor && what.at != no_register) out_.registers[id] = what.at;
  std::vector<lowered_part> parts;
  std::vector<std::string> around;
  for (const auto& one : known.axes) around.push_back(one.name);
  if (what.base == base_type::record) note_fields(what, {}, around, parts);
  if (what.base == base_type::gradient)
    for (const auto& [path, at] : what.gradients) {
      const auto& all = out_.parameters;
      const auto found = std::find_if(all.begin(), all.end(),
                                      [&](const lowered_tensor& one) { return one.name == path; });
      parts.push_back({path.substr(std::min(what.text.size() + 1, path.size())), at,
                       found == all.end() ? std::vector<std::string>{} : found->axes});
    }
  if (!parts.empty()) out_.groups[id] = std::move(parts);
}

// The fields of a record, those of records in it too; before its own axes are those around it.
void lowering::note_fields(const value& what, const std::string& path,
                           const std::vector<std::string>& around,
                           std::vector<lowered_part>& out) const {
  const auto& record = program_.records[what.declaration];
  const auto& file = program_.modules[record.module]->text;
  for (size_t i = 0; i < what.parts.size() && i < record.fields.size(); ++i) {
    const auto& field = record.fields[i];
    const auto name = path + std::string{file.text(record.decl->fields[i].name)};
    auto axes = around;
    const auto rank = what.parts[i].at == no_register ? 0 : dims(what.parts[i].at).rank();
    // The axes of the batch, where the type does not say them.
    if (axes.empty() && rank > field.axes.size()) axes.resize(rank - field.axes.size());
    for (const auto& one : field.axes) axes.push_back(one.name);
    if (what.parts[i].base == base_type::record)
      note_fields(what.parts[i], name + ".", axes, out);
    else if (what.parts[i].at != no_register)
      out.push_back({name, what.parts[i].at, std::move(axes)});
  }
}

// What was made is what the checker said it would be.
void lowering::expect(expr_id id, const type& known, value& have) {
  if (failed() || !is_tensor(known)) return;
  if (have.base != base_type::tensor) have = as_value(tensor(have, lowered_dtype(known.element)));
  if (!known.literal) have.at = cast(have.at, lowered_dtype(known.element));
  if (failed()) return;
  const auto sizes = sizes_of(known.axes);
  const auto made = dims(have.at).sizes();
  if (sizes && !std::equal(made.begin(), made.end(), sizes->begin(), sizes->end())) {
    fail(t().at(id).where,
         fmt::format("the program makes {} of this, and the check says `{}`",
                     moxzi::device::to_string(dims(have.at)), program_.show(known)));
    return;
  }
  out_.values.insert(have.at);
  for (uint32_t i = 0; i < known.axes.size(); ++i)
    for (const auto& name : program_.devices.split)
      if (known.axes[i].name == name) out_.split_dims.try_emplace(have.at, i);
}

} // namespace shapescript
