#include "shapescript/lower/cost.hpp"

#include <algorithm>

#include "device/ops/table.hpp"
#include "shapescript/lower/costing.hpp"

namespace shapescript {

namespace device = moxzi::device;

bool runs_on_devices(const typed_tree& program, uint32_t function) {
  const auto& f = program.functions[function];
  if (f.host || f.decl->is_extern || f.has_errors) return false;
  const auto on_device = [](const type& t) {
    return is_tensor(t) || is(t, base_type::record) || is(t, base_type::model)
           || is(t, base_type::tuple);
  };
  return on_device(f.result)
         || std::any_of(f.parameters.begin(), f.parameters.end(),
                        [&](const parameter_info& p) { return on_device(p.what); });
}

std::vector<uint32_t> device_functions(const typed_tree& program) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < program.functions.size(); ++i)
    if (program.functions[i].module == 0 && runs_on_devices(program, i)) out.push_back(i);
  std::sort(out.begin(), out.end(), [&](uint32_t x, uint32_t y) {
    return program.functions[x].decl->where.begin < program.functions[y].decl->where.begin;
  });
  return out;
}

int64_t function_cost::memory_bytes() const noexcept {
  return parameter_bytes + buffer_bytes + state_bytes + input_bytes + activation_bytes;
}

namespace {

std::vector<symbol> axes_of(const typed_tree& program, const function_info& f) {
  auto all = f.given;
  all.insert(all.end(), f.only_in_result.begin(), f.only_in_result.end());
  if (f.owner != no_index) {
    const auto& dims = program.models[f.owner].dims;
    all.insert(all.end(), dims.begin(), dims.end());
  }
  return all;
}

std::vector<size_need> needs_of(const typed_tree& program, const function_info& f) {
  auto all = f.needs;
  if (f.owner != no_index) {
    const auto& model = program.models[f.owner];
    all.insert(all.end(), model.needs.begin(), model.needs.end());
  }
  return all;
}

class costing {
public:
  costing(const typed_tree& program, uint32_t function, const cost_options& options)
      : program_(program) {
    out_.function = function;
    out_.devices = program.devices.count;
    options_.values = options.values;
    size_choice sizes{program, options};
    sizes.fit(needs_of(program, program.functions[function]));
    for (const auto one : axes_of(program, program.functions[function])) {
      const auto& name = program.symbols[one].name;
      const auto size = sizes.size_of(one);
      if (options_.sizes.emplace(name, size).second) out_.sizes.emplace_back(name, size);
    }
  }

  function_cost run() {
    auto made = lower(program_, out_.function, options_);
    if (auto* fault = std::get_if<lowering_fault>(&made)) {
      out_.fault = *fault;
      return std::move(out_);
    }
    out_.code = std::move(std::get<lowered>(made));
    auto how = split_request_of(program_, out_.code);
    do out_.split = device::split_over(out_.code.code, how);
    while (how.devices > 1 && place_python(how));
    if (out_.fault) return std::move(out_);
    out_.sent_bytes = out_.split.bytes();
    out_.lines = lines_of(program_, out_.code, out_.split);
    count_work();
    count_memory(program_, how, out_);
    return std::move(out_);
  }

private:
  // What Python gives lies as what it is given does, and each device has whole examples of it.
  // True if that is not what was asked for.
  bool place_python(device::split_request& how) {
    bool changed = false;
    for (const auto& call : out_.code.python) {
      device::placement given;
      for (const auto x : call.arguments) {
        const auto& place = out_.split.places[x];
        if (place.how != device::placed::split) continue;
        if (place.dim == 0)
          given = place;
        else if (!out_.fault)
          fail(call.origin, "Python is given whole examples, and these are split");
      }
      for (const auto x : call.results) {
        const auto n = std::get<int64_t>(out_.code.code.code[x].attributes[0]);
        auto& place = how.inputs[static_cast<size_t>(n)];
        changed = changed || !(place == given);
        place = given;
      }
    }
    return changed && !out_.fault;
  }

  void fail(uint32_t origin, std::string message) {
    const auto& from = out_.code.origins[origin];
    out_.fault = lowering_fault{from.module, from.where, std::move(message)};
  }

  void count_work() {
    const auto& code = out_.code.code;
    for (device::reg i = 0; i < code.code.size(); ++i) {
      const auto& what = code.code[i];
      const auto* how = device::find_row(what.id);
      if (how->costs == nullptr) continue;
      std::vector<const device::register_type*> operands;
      for (const auto x : what.operands)
        operands.push_back(x == device::no_register ? nullptr : &code.types[x]);
      const auto one = how->costs({operands, &code.types[i], what.attributes});
      out_.flops += one.flops;
      out_.device_flops += one.flops * out_.split.shares[i];
    }
  }

  const typed_tree& program_;
  lowering_options options_;
  function_cost out_;
};

} // namespace

std::vector<std::string> axis_names(const typed_tree& program) {
  std::vector<std::string> out;
  for (const auto function : device_functions(program))
    for (const auto one : axes_of(program, program.functions[function]))
      if (std::find(out.begin(), out.end(), program.symbols[one].name) == out.end())
        out.push_back(program.symbols[one].name);
  return out;
}

function_cost cost_of(const typed_tree& program, uint32_t function, const cost_options& options) {
  return costing{program, function, options}.run();
}

} // namespace shapescript
