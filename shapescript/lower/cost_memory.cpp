#include <algorithm>
#include <set>

#include "device/optimizer.hpp"
#include "device/split_plan.hpp"
#include "shapescript/lower/costing.hpp"

namespace shapescript {

namespace device = moxzi::device;

namespace {

device::optimizer_kind kind_of(std::string_view optimizer) {
  if (optimizer == "Sgd") return device::optimizer_kind::sgd;
  if (optimizer == "Lion") return device::optimizer_kind::lion;
  return optimizer == "Adam" ? device::optimizer_kind::adam : device::optimizer_kind::adamw;
}

// Which momenta the program gives its `sgd` of a model.
struct momenta {
  bool none = false;
  bool some = false;
};

momenta momenta_of(const typed_tree& program, uint32_t model) {
  momenta out;
  for (uint32_t module = 0; module < program.modules.size(); ++module) {
    const auto& file = *program.modules[module];
    const auto& tree = file.program.program;
    for (uint32_t i = 0; i < tree.exprs.size(); ++i) {
      const auto& node = tree.exprs[i];
      const auto& made = program.type_of(module, expr_id{i});
      if (node.kind != expr_kind::call || !is(made, base_type::optimizer)) continue;
      if (made.name != "Sgd" || made.declaration != model) continue;
      const auto callee = tree.at(node.left);
      if (callee.kind != expr_kind::name || file.text.text(callee.name) != "sgd") continue;
      const argument* momentum = nullptr;
      constexpr size_t place = 2; // sgd(m, lr, momentum)
      for (size_t k = 0; k < node.arguments.size(); ++k) {
        const auto name = file.text.text(node.arguments[k].name);
        if (name == "momentum" || (name.empty() && k == place)) momentum = &node.arguments[k];
      }
      if (momentum == nullptr) {
        out.none = true;
        continue;
      }
      const auto& given = program.type_of(module, momentum->value);
      const auto whole = given.value ? given.value->number() : std::nullopt;
      const auto& written = given.numbers;
      const bool zero = whole == 0 || (written && written->low == 0 && written->high == 0);
      const bool known = whole || (written && (zero || written->low > 0));
      out.none = out.none || zero || !known;
      out.some = out.some || !zero;
    }
  }
  // Nobody makes one here: it may be either.
  if (!out.none && !out.some) return {true, true};
  return out;
}

class counting {
public:
  counting(const typed_tree& program, const device::split_request& how, function_cost& cost)
      : program_(program), how_(how), cost_(cost) {
    // nop
  }

  void run() {
    const auto& code = cost_.code;
    for (const auto& one : code.parameters)
      cost_.parameter_bytes += held(one.what.dims, one.what.storage, parameter(one.name));
    for (const auto& one : code.buffers)
      cost_.buffer_bytes += held(one.what.dims, one.what.storage, {});
    for (size_t i = 0; i < code.inputs.size(); ++i) {
      const auto& what = code.inputs[i].what;
      cost_.input_bytes +=
        held(what.dims, what.type, i < how_.inputs.size() ? how_.inputs[i] : device::placement{});
    }
    count_states();
    count_values();
  }

private:
  int64_t held(const device::shape& dims, device::elem type, const device::placement& place) const {
    return device::elements_held(dims, place, how_.devices) * device::size_of(type);
  }

  device::placement parameter(const std::string& path) const {
    const auto found = how_.parameters.find(path);
    return found == how_.parameters.end() ? device::placement{} : found->second;
  }

  // An optimizer has one state of each parameter, however often it steps.
  void count_states() {
    std::set<std::pair<std::string, std::string>> seen;
    for (const auto& step : cost_.code.updates) {
      device::optimizer_spec spec;
      spec.kind = kind_of(step.kind);
      momenta sgd;
      if (spec.kind == device::optimizer_kind::sgd) {
        sgd = momenta_of(program_, step.model);
        spec.beta1 = sgd.some ? 0.9 : 0;
      }
      for (const auto& [path, at] : step.gradients) {
        if (!seen.emplace(step.optimizer, path).second) continue;
        const auto& type = cost_.code.code.types[at];
        int64_t bytes = 0;
        for (const auto& part : device::layout_of(spec, type.dims))
          bytes += held(part.dims, type.storage, parameter(path));
        cost_.state_bytes += bytes;
        if (sgd.some && sgd.none) cost_.momentum_bytes += bytes;
      }
    }
  }

  void count_values() {
    const auto& code = cost_.code;
    device::split_results wanted{code.results, {}};
    const auto keep = [&](const std::vector<device::reg>& all) {
      wanted.kept.insert(wanted.kept.end(), all.begin(), all.end());
    };
    keep(code.returned_gradients);
    for (const auto& call : code.python) keep(call.arguments);
    for (const auto& step : code.updates) {
      auto& all = wanted.consumed.emplace_back();
      for (const auto& [path, at] : step.gradients) all.push_back(at);
    }
    // A gradient that nothing steps by is made all the same.
    if (code.updates.empty())
      for (const auto& one : code.gradients) wanted.kept.push_back(one.at);
    cost_.activation_bytes =
      static_cast<int64_t>(device::arena_bytes(code.code, cost_.split, how_.devices, wanted));
  }

  const typed_tree& program_;
  const device::split_request& how_;
  function_cost& cost_;
};

} // namespace

void count_memory(const typed_tree& program, const device::split_request& how,
                  function_cost& cost) {
  counting{program, how, cost}.run();
}

} // namespace shapescript
