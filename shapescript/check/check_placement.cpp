#include <algorithm>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

namespace {

bool is_dataset(const parameter_info& p) {
  return is(p.what, base_type::dataset) || is(p.what, base_type::batches);
}

bool takes_dataset(const function_info& f) {
  return std::any_of(f.parameters.begin(), f.parameters.end(), is_dataset);
}

// Calls into Python make a controller function, but for those that were reported.
void count_python(function_info& f) {
  for (const auto call : f.python_calls) {
    if (!(f.host_site == span{}) && f.host_site.begin <= call.begin) continue;
    f.host_site = call;
    f.host_what = "a call into Python";
  }
}

} // namespace

// Which functions run in the controller and which on the workers, and what follows from it.
void checker::place_functions() {
  report_host_in_device();
  spread_batches();
  answer_questions();
  // A function that calls a controller function is one.
  std::vector<std::vector<uint32_t>> callers(functions_.size());
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < functions_.size(); ++i) {
    auto& f = functions_[i];
    count_python(f);
    for (const auto& edge : f.calls) callers[edge.callee].push_back(i);
    if (!(f.host_site == span{})) {
      f.host = true;
      open.push_back(i);
    }
  }
  while (!open.empty()) {
    const auto index = open.back();
    open.pop_back();
    for (const auto caller : callers[index]) {
      if (std::exchange(functions_[caller].host, true)) continue;
      open.push_back(caller);
    }
  }
  settle_late_reports();
  report_device_in_host();
  report_recursion();
}

void checker::report_host_in_device() {
  // What is differentiated, scanned or mapped runs on the workers, with all it calls.
  std::vector<uint32_t> open;
  std::vector<bool> on_device(functions_.size(), false);
  std::vector<device_root> because(functions_.size());
  for (const auto& root : device_roots_) {
    if (on_device[root.function]) continue;
    on_device[root.function] = true;
    because[root.function] = {root.function, root.where, root.module};
    open.push_back(root.function);
  }
  while (!open.empty()) {
    const auto index = open.back();
    open.pop_back();
    for (const auto& edge : functions_[index].calls) {
      if (on_device[edge.callee]) continue;
      on_device[edge.callee] = true;
      because[edge.callee] = {edge.callee, edge.where, functions_[index].module, index};
      open.push_back(edge.callee);
    }
  }
  for (uint32_t i = 0; i < functions_.size(); ++i) {
    auto& f = functions_[i];
    if (!on_device[i]) continue;
    count_python(f);
    module_ = f.module;
    // In an imported file, where the program's own functions lead to it.
    auto way = because[i];
    while (f.module != 0 && way.module != 0 && way.caller != no_index) way = because[way.caller];
    const bool ours = f.module != 0 && way.module == 0;
    if (!(f.host_site == span{}) && ours) {
      module_ = 0;
      auto& d = report("E1801", way.where,
                       fmt::format("{} in `{}` is host work, but this runs on the devices",
                                   f.host_what, modules_[f.module]->text.text(f.decl->name)),
                       "leads to work of the controller");
      d.help.push_back("return the value, and do this in the function that calls for it");
    } else if (!(f.host_site == span{})) {
      auto& d = report("E1801", f.host_site,
                       fmt::format("{} is host work, but `{}` runs on the devices", f.host_what,
                                   text(f.decl->name)),
                       "runs in the controller");
      if (because[i].module == f.module) mark(d, because[i].where, "so it is a device function");
      d.help.push_back("return the value, and do this in the function that calls for it");
    }
    // It was reported: its callers are what they are without it.
    for (auto& one : f.questions)
      one.said |= one.kind == split_question::python && one.call == f.host_site;
    f.host_site = {};
    f.python_calls.clear();
  }
}

// What is wrong only in one kind of function, now that it is known which kind each is.
void checker::settle_late_reports() {
  for (auto& one : late_) {
    auto& f = functions_[one.function];
    module_ = f.module;
    const bool widens = one.kind == late_report::widened;
    if (widens && !f.host) continue;
    if (f.host) {
      // One place is one mistake: of device work within it that work is it.
      const bool exact = f.device_site == one.where;
      const bool inside = !(f.device_site == span{}) && one.where.begin <= f.device_site.begin
                          && f.device_site.end <= one.where.end;
      if (exact) f.device_site = {};
      if (one.follows || (inside && !exact)) continue;
    }
    if (!widens) explain_condition(one.what, f.host, one.number);
    if (widens)
      one.what.help.push_back(one.number.empty()
                                ? "fetch the number, by `float(...)`"
                                : fmt::format("fetch the number: `float({})`", one.number));
    deliver(std::move(one.what));
  }
}

void checker::report_device_in_host() {
  // A function that passes a dataset to another, which is reported for taking it.
  const auto takes = [&](uint32_t callee, const function_info& f) {
    const auto& g = functions_[callee];
    return &g != &f && !g.host && !g.decl->is_extern && takes_dataset(g);
  };
  const auto passes_on = [&](const function_info& f) {
    const auto index = static_cast<uint32_t>(&f - functions_.data());
    return std::any_of(f.calls.begin(), f.calls.end(),
                       [&](const call_edge& one) { return takes(one.callee, f); })
           || std::any_of(device_roots_.begin(), device_roots_.end(), [&](const device_root& one) {
                return one.caller == index && takes(one.function, f);
              });
  };
  for (auto& f : functions_) {
    module_ = f.module;
    const auto name = text(f.decl->name);
    // A part that cannot be read may be the head of another function.
    const bool unsure = f.has_errors && has_syntax_error(f.decl->where);
    if (f.host && !unsure && !(f.device_site == span{})) {
      auto& d = report(
        "E1803", f.device_site,
        fmt::format("{} is device work, but `{}` is a controller function", f.device_what, name),
        "runs on the devices");
      const bool apart =
        f.host_site.end <= f.device_site.begin || f.device_site.end <= f.host_site.begin;
      if (apart) mark(d, f.host_site, fmt::format("{} runs in the controller", f.host_what));
      if (!f.device_number.empty())
        d.help.push_back(fmt::format("`float({})` is a host number, with which the controller may "
                                     "compute",
                                     f.device_number));
      d.help.push_back("move the device work into a function of its own, and call it here");
    }
    const bool reported =
      passes_on(f)
      || std::any_of(f.questions.begin(), f.questions.end(), [](const split_question& one) {
           return one.said && one.kind == split_question::python;
         });
    if (f.host || f.has_errors || reported || f.decl->is_extern || f.decl->broken) continue;
    for (const auto& p : f.parameters) {
      if (!is_dataset(p)) continue;
      auto& d = report("E1804", p.where,
                       fmt::format("`{}` takes a dataset, but does no controller work", name),
                       fmt::format("`{}`", show(p.what)));
      const auto& record = records_[p.what.declaration];
      d.notes.push_back(
        fmt::format("datasets live in the controller; a device function takes a batch, as in "
                    "`batch: [b] {}`",
                    modules_[record.module]->text.text(record.decl->name)));
      break;
    }
  }
}

namespace {

// A device function with tensors: host arithmetic on numbers alone may be recursive.
bool computes(const function_info& f) {
  const auto on_device = [](const type& t) {
    return is_tensor(t) || is(t, base_type::record) || is(t, base_type::model)
           || is(t, base_type::tuple) || is_poison(t);
  };
  return !f.host
         && (!(f.device_site == span{}) || on_device(f.result)
             || std::any_of(f.parameters.begin(), f.parameters.end(),
                            [&](const parameter_info& p) { return on_device(p.what); }));
}

} // namespace

void checker::report_recursion() {
  // Strongly connected device functions, with stacks of our own.
  enum class state : uint8_t { fresh, open, done };
  struct frame {
    uint32_t function;
    size_t next;
  };
  std::vector<state> states(functions_.size(), state::fresh);
  for (uint32_t first = 0; first < functions_.size(); ++first) {
    std::vector<frame> open;
    if (states[first] != state::fresh || !computes(functions_[first])) continue;
    states[first] = state::open;
    open.push_back({first, 0});
    while (!open.empty()) {
      const auto index = open.back().function;
      const auto place = open.back().next++;
      const auto& f = functions_[index];
      if (place == f.calls.size()) {
        states[index] = state::done;
        open.pop_back();
        continue;
      }
      const auto& edge = f.calls[place];
      if (!computes(functions_[edge.callee])) continue;
      if (states[edge.callee] == state::fresh) {
        states[edge.callee] = state::open;
        open.push_back({edge.callee, 0});
      } else if (states[edge.callee] == state::open) {
        // Of a circle through several files, the call in the program itself.
        auto where = edge.where;
        module_ = f.module;
        for (auto frame = open.rbegin(); module_ != 0 && frame != open.rend(); ++frame) {
          const auto& on_way = functions_[frame->function];
          if (on_way.module == 0) {
            module_ = 0;
            where = on_way.calls[frame->next - 1].where;
          }
          if (frame->function == edge.callee) break;
        }
        auto& d = report("E0607", where,
                         fmt::format("`{}` calls itself, and device functions cannot",
                                     modules_[functions_[edge.callee].module]->text.text(
                                       functions_[edge.callee].decl->name)),
                         index == edge.callee ? "calls the function it is in"
                                              : "leads back to where it came from");
        d.notes.push_back(
          "a device function is one fixed graph; repeat with `scan`, or with a loop "
          "over a range");
      }
    }
  }
}

// A callee's axis is one of batches if any caller's is.
void checker::spread_batches() {
  std::multimap<symbol, uint32_t> targets;
  for (uint32_t i = 0; i < bindings_.size(); ++i) targets.emplace(bindings_[i].ours, i);
  std::vector<symbol> open;
  for (symbol one = 0; one < symbols_.size(); ++one)
    if (symbols_[one].batch) open.push_back(one);
  while (!open.empty()) {
    const auto one = open.back();
    open.pop_back();
    const auto [begin, end] = targets.equal_range(one);
    for (auto i = begin; i != end; ++i) {
      const auto theirs = bindings_[i->second].theirs;
      if (std::exchange(symbols_[theirs].batch, true)) continue;
      symbols_[theirs].batch_by = i->second;
      open.push_back(theirs);
    }
  }
}

// An axis of examples, or one that was merged from one.
bool checker::of_batches(const size_form& size) const {
  const auto symbols = size.symbols();
  return std::any_of(symbols.begin(), symbols.end(),
                     [this](symbol one) { return symbols_[one].batch; });
}

// Where the program itself gives an axis of examples to the function of an imported file.
std::optional<span> checker::place_in_program(const size_form& size) const {
  auto open = size.symbols();
  std::set<symbol> seen(open.begin(), open.end());
  while (!open.empty()) {
    const auto one = open.back();
    open.pop_back();
    for (const auto& binding : bindings_) {
      if (binding.theirs != one || !symbols_[binding.ours].batch) continue;
      if (functions_[binding.caller].module == 0) return binding.where;
      if (seen.insert(binding.ours).second) open.push_back(binding.ours);
    }
  }
  return std::nullopt;
}

std::string checker::count_devices() const {
  return fmt::format("{} devices", devices_);
}

// Where the split of an axis comes from: the call that gives it, and the batch it is of.
void checker::mark_split(diagnostic& d, const size_form& size) {
  const auto add = [&](span where, std::string text) {
    for (const auto& one : d.labels)
      if (one.where.begin < where.end && where.begin < one.where.end) return;
    mark(d, where, std::move(text));
  };
  for (auto one : size.symbols()) {
    if (!symbols_[one].batch) continue;
    if (const auto by = symbols_[one].batch_by; by != no_index) {
      const auto& binding = bindings_[by];
      if (functions_[binding.caller].module == module_)
        add(binding.where, fmt::format("here `{}` is the batch axis `{}`", symbols_[one].name,
                                       symbols_[binding.ours].name));
    }
    while (symbols_[one].batch_by != no_index) one = bindings_[symbols_[one].batch_by].ours;
    if (symbols_[one].module == module_)
      add(symbols_[one].declared,
          fmt::format("`{}` is the axis of the examples", symbols_[one].name));
    return;
  }
}

void checker::answer_crossing(const split_question& question, const axis& over) {
  auto& d = report("E1902", question.where,
                   fmt::format("`{}` mixes the examples along `{}`, which are split across "
                               "the {}",
                               question.operation, show(over), count_devices()),
                   question.label.empty() ? fmt::format("across the batch axis `{}`", show(over))
                                          : question.label);
  mark_split(d, over.size);
  d.notes.push_back(fmt::format("with {} each one holds part of every batch, so that none "
                                "sees all examples",
                                count_devices()));
  d.help.push_back("work along another axis, or run this on one device");
}

void checker::answer_questions() {
  if (devices_ < 2) return;
  for (auto& f : functions_) {
    module_ = f.module;
    std::vector<span> calls_said;
    const auto said = [&](span call) {
      return std::find(calls_said.begin(), calls_said.end(), call) != calls_said.end();
    };
    for (auto& question : f.questions) {
      // What is made of a value that was reported is not reported again, nor is the same call.
      for (const auto before : question.after) question.said |= f.questions[before].said;
      question.said |= said(question.call);
      for (const auto& one : question.axes) {
        if (question.said) break;
        const bool batch = of_batches(one.size);
        const bool split = split_dims_.contains(one.name);
        const bool python = question.kind == split_question::python;
        if (python ? !batch && !(split && f.module == 0) : !batch) continue;
        if (f.module != 0) {
          const auto place = place_in_program(one.size);
          if (!place) continue;
          answer_imported(f, question, one, *place);
        } else if (python) {
          answer_python(f, question, one, batch);
        } else {
          answer_crossing(question, one);
        }
        question.said = true;
      }
      if (question.said && question.kind == split_question::python)
        calls_said.push_back(question.call);
    }
    std::erase_if(f.python_calls, said);
  }
}

void checker::answer_imported(const function_info& f, const split_question& question,
                              const axis& over, span where) {
  module_ = 0;
  const auto name = modules_[f.module]->text.text(f.decl->name);
  const bool python = question.kind == split_question::python;
  auto& d =
    report(python ? "E1901" : "E1902", where,
           fmt::format("`{}` in `{}` {} the examples along `{}`, which are split across the "
                       "{}",
                       question.operation, name, python ? "is Python that takes" : "mixes",
                       show(over), count_devices()),
           "given to it here");
  d.help.push_back("work along another axis, or run this on one device");
  module_ = f.module;
}

void checker::answer_python(const function_info& f, const split_question& question,
                            const axis& over, bool batch) {
  (void)f;
  const auto& path = question.operation;
  const auto name = path.substr(path.rfind('.') + 1);
  auto& d = report("E1901", question.where,
                   fmt::format("`{}` is split across the {}, but `{}` is Python, which runs in the "
                               "controller",
                               text(question.where), count_devices(), text(question.callee)),
                   fmt::format("split along its {}axis `{}`", batch ? "batch " : "", show(over)));
  mark(d, question.callee, "a Python function");
  d.notes.push_back(fmt::format("with {} each one holds part of every batch, and Python calls run "
                                "once, in the controller; this one would gather the batch through "
                                "the controller's CPU at every step",
                                count_devices()));
  d.help.push_back(fmt::format("move `{0}` into the dataset, so it runs on each example as it's "
                               "loaded, or declare it per example with `extern fn {0}(...) = "
                               "\"{1}\"`, so each device runs it on its own examples",
                               name, path));
}

} // namespace shapescript
