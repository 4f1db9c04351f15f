#include <algorithm>
#include <utility>

#include "shapescript/lower/lowering.hpp"

// Calls of `extern fn`: each device's worker makes them on its own examples, between two parts of
// the program.

namespace shapescript {

value lowering::call_python(uint32_t index, const std::vector<value>& arguments,
                            lowering_frame& sizes) {
  if (failed()) return {};
  const auto& f = program_.functions[index];
  lowered_python call;
  call.function = index;
  call.origin = origin();
  for (size_t i = 0; i < arguments.size(); ++i)
    if (is_tensor(f.parameters[i].what)) call.arguments.push_back(tensor(arguments[i]));
  const std::string name{program_.modules[f.module]->text.text(f.decl->name)};
  auto out = python_result(f.result, name, sizes, call);
  if (!failed()) out_.python.push_back(std::move(call));
  return out;
}

value lowering::python_result(const type& what, const std::string& name, lowering_frame& sizes,
                              lowered_python& call) {
  value out;
  if (is(what, base_type::tuple)) {
    out.base = base_type::tuple;
    for (const auto& part : what.parts) out.parts.push_back(python_result(part, name, sizes, call));
    return out;
  }
  auto* caller = std::exchange(frame_, &sizes);
  const auto made = sizes_of(what.axes);
  frame_ = caller;
  if (made && made->size() > moxzi::device::rank_max) {
    fail(where_, fmt::format("`{}` gives more than {} axes", name, moxzi::device::rank_max));
    return out;
  }
  if (!is_tensor(what) || !made) {
    fail(where_, fmt::format("the sizes of what `{}` gives are not known", name));
    return out;
  }
  const auto type = lowered_dtype(what.element);
  lowered_input in{
    name, {moxzi::device::stored_as(type), moxzi::device::shape(*made)}, uint32_t{0}, false, {}};
  const auto at = add_input(std::move(in));
  call.results.push_back(at);
  return as_value(cast(at, type));
}

// Whether the gradient of the loss depends on what Python makes of the targets.
bool lowering::flows_through_python(reg loss, const std::vector<std::vector<reg>>& targets) {
  if (out_.python.empty()) return false;
  const auto& code = out_.code.code;
  std::vector<bool> reached(code.size()), lost(code.size());
  for (const auto& all : targets)
    for (const auto at : all) reached[at] = true;
  for (reg i = 0; i < code.size(); ++i) {
    if (code[i].id == op::detach) continue;
    for (const auto x : code[i].operands) {
      if (x == no_register) continue;
      if (reached[x]) reached[i] = true;
      if (lost[x]) lost[i] = true;
    }
    for (const auto& call : out_.python) {
      if (std::find(call.results.begin(), call.results.end(), i) == call.results.end()) continue;
      for (const auto x : call.arguments)
        if (reached[x] || lost[x]) lost[i] = true;
    }
  }
  return lost[loss];
}

} // namespace shapescript
