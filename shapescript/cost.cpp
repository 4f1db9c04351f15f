#include "shapescript/cost.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "device/ops/table.hpp"
#include "device/optimizer.hpp"
#include "device/plan.hpp"

namespace shapescript {

namespace device = moxzi::device;

std::vector<uint32_t> device_functions(const typed_tree& program) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < program.functions.size(); ++i) {
    const auto& f = program.functions[i];
    if (f.module != 0 || f.host || f.decl->is_extern || f.has_errors) continue;
    const auto on_device = [](const type& t) {
      return is_tensor(t) || is(t, base_type::record) || is(t, base_type::model)
             || is(t, base_type::tuple);
    };
    const bool computes =
      on_device(f.result)
      || std::any_of(f.parameters.begin(), f.parameters.end(),
                     [&](const parameter_info& p) { return on_device(p.what); });
    if (computes) out.push_back(i);
  }
  std::sort(out.begin(), out.end(), [&](uint32_t x, uint32_t y) {
    return program.functions[x].decl->where.begin < program.functions[y].decl->where.begin;
  });
  return out;
}

namespace {

// The number in `batches(64)`, if all of a program's are one.
std::optional<int64_t> batch_size(const typed_tree& program) {
  std::set<int64_t> found;
  const auto& file = *program.modules[0];
  const auto& tree = file.program.program;
  for (const auto& node : tree.exprs) {
    if (node.kind != expr_kind::call || tree.at(node.left).kind != expr_kind::name) continue;
    if (file.text.text(tree.at(node.left).name) != "batches" || node.arguments.empty()) continue;
    const auto& what = program.type_of(0, node.arguments.back().value);
    if (what.value)
      if (const auto number = what.value->number()) found.insert(*number);
  }
  return found.size() == 1 ? std::optional{*found.begin()} : std::nullopt;
}

// One function, lowered for all examples or for those of one device.
class costing {
public:
  costing(const typed_tree& program, uint32_t function, const cost_options& options)
      : program_(program), f_(program.functions[function]) {
    out_.function = function;
    out_.devices = program.devices.count;
    choose_sizes(options);
    options_.values = options.values;
  }

  function_cost run() {
    auto made = lower(program_, out_.function, options_);
    if (auto* fault = std::get_if<lowering_fault>(&made)) {
      out_.fault = *fault;
      return std::move(out_);
    }
    out_.code = std::move(std::get<lowered>(made));
    split();
    if (out_.fault) return std::move(out_);
    gather_lines();
    count_work();
    count_memory();
    return std::move(out_);
  }

private:
  void choose_sizes(const cost_options& options) {
    const auto otherwise = batch_size(program_).value_or(batch_default);
    std::vector<symbol> all = f_.given;
    all.insert(all.end(), f_.only_in_result.begin(), f_.only_in_result.end());
    if (f_.owner != no_index) {
      const auto& dims = program_.models[f_.owner].dims;
      all.insert(all.end(), dims.begin(), dims.end());
    }
    const auto fitting = fitting_sizes(options, otherwise);
    for (const auto one : all) {
      const auto& info = program_.symbols[one];
      const auto found = options.sizes.find(info.name);
      const auto chosen = fitting.find(one);
      const auto size = found != options.sizes.end() ? found->second
                        : chosen != fitting.end()    ? chosen->second
                                                     : otherwise;
      if (options_.sizes.emplace(info.name, size).second) out_.sizes.emplace_back(info.name, size);
      if (info.batch) batch_.insert(info.name);
    }
  }

  // The least sizes from there on that the function's divisions leave whole, of the axes in them.
  std::map<symbol, int64_t> fitting_sizes(const cost_options& options, int64_t from) const {
    constexpr int64_t tries_max = 4096;
    auto needs = f_.needs;
    if (f_.owner != no_index) {
      const auto& model = program_.models[f_.owner];
      needs.insert(needs.end(), model.needs.begin(), model.needs.end());
    }
    std::map<symbol, int64_t> sizes;
    for (const auto& need : needs)
      for (const auto one : need.size.symbols())
        if (!options.sizes.contains(program_.symbols[one].name)) sizes[one] = from;
    const auto size_of = [&](symbol one) -> size_form {
      const auto given = options.sizes.find(program_.symbols[one].name);
      return given != options.sizes.end() ? given->second : sizes.at(one);
    };
    for (auto size = from; size < from + tries_max; ++size) {
      for (auto& [one, chosen] : sizes) chosen = size;
      const bool fits = std::all_of(needs.begin(), needs.end(), [&](const size_need& need) {
        const auto number = need.size.replace(size_of).number();
        return number && (need.kind == size_need::exact || *number >= 1);
      });
      if (fits) return sizes;
    }
    return {};
  }

  device::split_request request(const lowered& code) const {
    const auto& devices = program_.devices;
    device::split_request how;
    how.devices = static_cast<uint32_t>(devices.count);
    const auto of_parameter = [&](const std::vector<std::string>& axes) -> device::placement {
      for (uint32_t i = 0; i < axes.size(); ++i)
        if (std::find(devices.split.begin(), devices.split.end(), axes[i]) != devices.split.end())
          return {device::placed::split, i};
      if (devices.shard_params) return {device::placed::sharded};
      return {};
    };
    if (devices.count < 2) return how;
    for (const auto& one : code.inputs) {
      how.inputs.emplace_back();
      if (one.batch) how.inputs.back() = {device::placed::split, *one.batch};
      if (one.gradient) how.inputs.back() = of_parameter(one.axes);
    }
    for (const auto& one : code.parameters)
      if (const auto place = of_parameter(one.axes); place.how != device::placed::whole)
        how.parameters[one.name] = place;
    how.wanted = code.split_dims;
    for (const auto& one : code.gradients)
      how.needs.push_back({one.at, one.origin, devices.shard_params && !one.name.empty()});
    for (const auto one : code.results) how.needs.push_back({one, code.result_origin});
    for (const auto& call : code.python)
      for (const auto one : call.arguments) how.needs.push_back({one, call.origin});
    return how;
  }

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

  void split() {
    auto how = request(out_.code);
    do out_.split = device::split_over(out_.code.code, how);
    while (how.devices > 1 && place_python(how));
    out_.sent_bytes = out_.split.bytes();
    for (const auto& one : out_.code.parameters) {
      const auto bytes = one.what.dims.elements() * device::size_of(one.what.storage);
      out_.parameter_bytes += on_one(bytes, how, one.name);
    }
    for (const auto& step : out_.code.updates)
      for (const auto& [path, at] : step.gradients) {
        device::optimizer_spec spec;
        spec.kind = step.kind == "Sgd"    ? device::optimizer_kind::sgd
                    : step.kind == "Lion" ? device::optimizer_kind::lion
                    : step.kind == "Adam" ? device::optimizer_kind::adam
                                          : device::optimizer_kind::adamw;
        const auto& type = out_.code.code.types[at];
        for (const auto& part : device::layout_of(spec, type.dims))
          out_.state_bytes +=
            on_one(part.dims.elements() * device::size_of(type.storage), how, path);
      }
  }

  // The bytes of a parameter, or of something like it, on the device with most.
  int64_t on_one(int64_t bytes, const device::split_request& how, const std::string& path) const {
    const auto found = how.parameters.find(path);
    const auto n = static_cast<int64_t>(program_.devices.count);
    if (found == how.parameters.end() || found->second.how == device::placed::whole) return bytes;
    return (bytes + n - 1) / n;
  }

  // -- lines -------------------------------------------------------------------

  std::string name_of(const device::collective& one) const {
    for (const auto& g : out_.code.gradients)
      if (g.at == one.what) return g.name.empty() ? "the gradient" : g.name;
    const auto& results = out_.code.results;
    if (std::find(results.begin(), results.end(), one.what) != results.end()) return "the result";
    const auto& what = out_.code.code.code[one.what];
    if (what.id == device::op::param) return std::get<std::string>(what.attributes[0]);
    if (what.id == device::op::input)
      return out_.code.inputs[static_cast<size_t>(std::get<int64_t>(what.attributes[0]))].name;
    const auto& from = out_.code.origins[out_.code.code.origins[one.what]];
    return fmt::format("`{}`", shortened(program_.modules[from.module]->text.text(from.where)));
  }

  void gather_lines() {
    struct group {
      line_traffic traffic;
      std::vector<std::string> names;
      bool gradients = false;
      bool parameters = false;
    };
    std::map<uint32_t, std::vector<group>> lines; // by where a line begins
    for (const auto& one : out_.split.sent) {
      const auto& origin = out_.code.origins[one.origin];
      auto& groups = lines[origin.line.begin];
      spans_[origin.line.begin] = origin.line;
      const bool gradient = std::any_of(out_.code.gradients.begin(), out_.code.gradients.end(),
                                        [&](const lowered_need& g) { return g.at == one.what; });
      const bool parameter = out_.code.code.code[one.what].id == device::op::param;
      const std::string type{device::name_of(one.type)};
      auto place = std::find_if(groups.begin(), groups.end(), [&](const group& g) {
        return g.traffic.kind == one.kind && g.traffic.type == type && g.gradients == gradient
               && g.parameters == parameter;
      });
      if (place == groups.end())
        place =
          groups.insert(groups.end(), group{{one.kind, {}, type, 0, 0}, {}, gradient, parameter});
      place->traffic.elements += one.elements;
      place->traffic.bytes += one.bytes();
      auto name = name_of(one);
      if (std::find(place->names.begin(), place->names.end(), name) == place->names.end())
        place->names.push_back(std::move(name));
    }
    for (auto& [begin, groups] : lines) {
      line_cost line{spans_[begin], {}};
      for (auto& one : groups) {
        if (one.gradients) in_order(one.names);
        const bool named = one.gradients && one.names[0] != "the gradient";
        one.traffic.what =
          (named ? one.names.size() > 1 ? "the gradients of " : "the gradient of " : "")
          + listed(one.names);
        line.sent.push_back(std::move(one.traffic));
      }
      out_.lines.push_back(std::move(line));
    }
  }

  // The gradients' names in the order of the model.
  void in_order(std::vector<std::string>& names) const {
    const auto place = [&](const std::string& name) {
      const auto& all = out_.code.gradients;
      return std::find_if(all.begin(), all.end(),
                          [&](const lowered_need& g) { return g.name == name; });
    };
    std::stable_sort(names.begin(), names.end(),
                     [&](const auto& x, const auto& y) { return place(x) < place(y); });
  }

  static std::string listed(const std::vector<std::string>& names) {
    constexpr size_t names_max = 4;
    if (names.size() > names_max)
      return fmt::format("{}, {} and {} others", names[0], names[1], names.size() - 2);
    std::string out;
    for (size_t i = 0; i < names.size(); ++i)
      out += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    return out;
  }

  // -- work and memory ---------------------------------------------------------

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

  // The plan of the largest part: the same function with that device's examples alone.
  void count_memory() {
    auto options = options_;
    const auto n = static_cast<int64_t>(program_.devices.count);
    for (auto& [name, size] : options.sizes)
      if (batch_.contains(name)) size = (size + n - 1) / n;
    const bool same = options.sizes == options_.sizes;
    auto part = same ? std::variant<lowered, lowering_fault>{out_.code}
                     : lower(program_, out_.function, options);
    // A size that the program cannot be cut to: all of it is counted.
    auto& code = std::holds_alternative<lowered>(part) ? std::get<lowered>(part) : out_.code;
    device::plan_request wanted;
    wanted.results = code.results;
    for (const auto& one : code.gradients) wanted.results.push_back(one.at);
    for (const auto& call : code.python)
      wanted.results.insert(wanted.results.end(), call.arguments.begin(), call.arguments.end());
    out_.activation_bytes =
      static_cast<int64_t>(device::make_plan({code.code, {}}, wanted).arena_bytes);
  }

  const typed_tree& program_;
  const function_info& f_;
  lowering_options options_;
  std::set<std::string, std::less<>> batch_;
  std::map<uint32_t, span> spans_;
  function_cost out_;
};

} // namespace

function_cost cost_of(const typed_tree& program, uint32_t function, const cost_options& options) {
  return costing{program, function, options}.run();
}

} // namespace shapescript
