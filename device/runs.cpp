#include "device/runs.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "device/check.hpp"
#include "device/gradient.hpp"
#include "device/optimizer.hpp"

namespace moxzi::device {

namespace {

error moved(const error& why, std::string_view where) {
  return at(static_cast<device_errc>(why.code.value()), where, why.message);
}

// -- what was sent -------------------------------------------------------------

result<input_type> check_input(const tensor& sent, size_t n) {
  auto where = [n] { return fmt::format("inputs[{}]", n); };
  auto dims = checked_shape(sent.dims);
  if (!dims) return moved(dims.error(), where());
  auto wanted = static_cast<uint64_t>(dims->elements()) * size_of(sent.type);
  if (sent.data.size() != wanted)
    return fail_at(device_errc::input_bytes, where(), "{} bytes for {} {}; {} wanted",
                   sent.data.size(), name_of(sent.type), to_string(*dims), wanted);
  if (sent.type == elem::boolean)
    for (size_t i = 0; i < sent.data.size(); ++i)
      if (static_cast<uint8_t>(sent.data[i]) > 1)
        return fail_at(device_errc::index_range, where(), "byte {} is {}; a bool is 0 or 1", i,
                       static_cast<uint8_t>(sent.data[i]));
  return input_type{sent.type, *dims};
}

/// Everything a run refers to by name.
struct found_names {
  std::map<std::string_view, parameter*> parameters;
  std::map<std::string_view, stored_value*> values;
  std::vector<optimizer*> optimizers;
  std::vector<std::string_view> differentiate; ///< all the optimizers' parameters, in order
};

result<void> find_optimizer(space& in, const std::string& name, std::string_view where,
                            found_names& out) {
  auto found = in.optimizers.find(name);
  if (found == in.optimizers.end())
    return fail_at(device_errc::unknown_optimizer, where, "no optimizer \"{}\"{}",
                   std::string_view(name).substr(0, limits::device_name_bytes_max),
                   nearest_key(name, in.optimizers));
  auto& how = found->second;
  for (auto& param : how.spec.params) {
    auto& what = in.parameters.find(param)->second;
    if (what.frozen)
      return fail_at(device_errc::frozen, where, "parameter \"{}\" of optimizer \"{}\" is frozen",
                     param, name);
    auto [place, fresh] = out.parameters.emplace(param, &what);
    if (!fresh)
      return fail_at(device_errc::two_optimizers, where,
                     "parameter \"{}\" of optimizer \"{}\" is stepped by another one too", param,
                     name);
    out.differentiate.push_back(param);
  }
  out.optimizers.push_back(&how);
  return {};
}

result<void> check_number(const std::optional<double>& value, std::string_view where,
                          bool infinite_too) {
  if (!value || (*value >= 0 && (infinite_too || std::isfinite(*value)))) return {};
  return fail_at(device_errc::invalid_value, where, "{}; a {}number not below 0 wanted", *value,
                 infinite_too ? "" : "finite ");
}

result<found_names> find_names(space& in, const run_request& request) {
  found_names out;
  if (auto& train = request.train) {
    if (auto ok = check_number(train->lr, "train.lr", false); !ok) return ok.error();
    if (auto ok = check_number(train->clip, "train.clip", true); !ok) return ok.error();
    if (auto ok = check_number(train->clip_value, "train.clip_value", true); !ok) return ok.error();
    if (auto ok = find_optimizer(in, train->optimizer, "train.optimizer", out); !ok)
      return ok.error();
    for (size_t i = 0; i < train->also.size(); ++i)
      if (auto ok = find_optimizer(in, train->also[i], fmt::format("train.also[{}]", i), out); !ok)
        return ok.error();
  }
  for (auto& step : *request.code) {
    auto how = find_row(step.id);
    auto parameters = how && (how->id == op::param || how->id == op::assign) ? size_t{1} : 0;
    auto values = how ? how->reads_values : 0;
    for (size_t n = 0; n < std::min(std::max(parameters, values), step.attributes.size()); ++n) {
      auto name = std::get_if<std::string>(&step.attributes[n]);
      if (!name) continue;
      if (auto found = in.parameters.find(*name); n < parameters && found != in.parameters.end())
        out.parameters.emplace(found->first, &found->second);
      if (auto found = in.values.find(*name); n < values && found != in.values.end())
        out.values.emplace(found->first, &found->second);
    }
  }
  return out;
}

// -- the plan ------------------------------------------------------------------

/// Everything that a plan depends on, in one fixed form.
byte_string key_of(const run_request& request, uint64_t program_number,
                   const std::vector<input_type>& inputs, const found_names& names) {
  writer key;
  auto put_dims = [&key](const shape& dims) {
    key.count(dims.rank());
    for (auto size : dims.sizes()) key.u32(static_cast<uint32_t>(size));
  };
  key.u64(program_number);
  key.count(inputs.size());
  for (auto& input : inputs) {
    key.u8(static_cast<uint8_t>(input.type));
    put_dims(input.dims);
  }
  key.count(names.parameters.size());
  for (auto& [name, what] : names.parameters) {
    key.bytes(name);
    key.u8(static_cast<uint8_t>(what->type));
    put_dims(what->dims);
  }
  key.count(names.values.size());
  for (auto& [name, what] : names.values) {
    key.bytes(name);
    key.u8(static_cast<uint8_t>(what->type));
    key.u8(static_cast<uint8_t>(what->storage));
    put_dims(what->dims);
  }
  key.boolean(request.train.has_value());
  key.count(names.differentiate.size());
  for (auto name : names.differentiate) key.bytes(name);
  if (request.train) key.u32(request.train->loss);
  for (auto list : {&request.scalars, &request.tensors}) {
    key.count(list->size());
    for (auto r : *list) key.u32(r);
  }
  return key.take();
}

result<void> check_asked(const run_request& request, const typed_program& typed,
                         uint64_t reply_bytes_max) {
  auto made = typed.code.size();
  auto check_register = [made](std::string_view where, reg r) -> result<void> {
    if (r < made) return {};
    return fail_at(device_errc::register_order, where,
                   "register {} of a program with {} operations", r, made);
  };
  uint64_t bytes = 0;
  for (size_t i = 0; i < request.scalars.size(); ++i) {
    auto r = request.scalars[i];
    auto where = fmt::format("scalars[{}]", i);
    if (auto ok = check_register(where, r); !ok) return ok;
    if (typed.types[r].dims.elements() != 1)
      return fail_at(device_errc::shape_mismatch, where,
                     "register {} ({}) is {}; one number wanted", r, place_of(r, typed.code[r].id),
                     typed.types[r].text());
    bytes += sizeof(double);
  }
  for (size_t i = 0; i < request.tensors.size(); ++i) {
    auto r = request.tensors[i];
    auto where = fmt::format("tensors[{}]", i);
    if (auto ok = check_register(where, r); !ok) return ok;
    bytes +=
      static_cast<uint64_t>(typed.types[r].dims.elements()) * size_of(typed.types[r].storage);
    if (bytes > reply_bytes_max)
      return fail_at(device_errc::reply_too_large, where,
                     "the answer would have {} bytes with register {}, {}; at most {}", bytes, r,
                     typed.types[r].text(), reply_bytes_max);
  }
  if (request.train) return check_register("train.loss", request.train->loss);
  return {};
}

result<void> check_supported(const plan& what, const std::vector<op>& operations,
                             const backend& on) {
  auto check_one = [&](op id, uint32_t origin) -> result<void> {
    if (on.supports(id)) return {};
    return fail_at(device_errc::op_unsupported, place_of(origin, operations[origin]),
                   "device {} lacks {}", on.info().kind, find_row(id)->name);
  };
  for (auto& step : what.instructions) {
    if (step.id != chain_op)
      if (auto ok = check_one(step.id, step.origin); !ok) return ok;
    for (auto& part : step.chain.steps)
      if (auto ok = check_one(part.id, step.origin); !ok) return ok;
  }
  return {};
}

/// The nearest name to the first one that is not known. The check knows only the parameters that
/// the program names rightly.
std::string guess(const program& code, const found_names& names, const space& in) {
  for (auto& step : code) {
    if (step.id == op::param || step.id == op::assign) {
      auto& name = std::get<std::string>(step.attributes[0]);
      if (!names.parameters.contains(name)) return nearest_key(name, in.parameters);
    } else if (step.id == op::value) {
      auto& name = std::get<std::string>(step.attributes[0]);
      if (!names.values.contains(name)) return nearest_key(name, in.values);
    }
  }
  return {};
}

result<kept_plan_ptr> make_kept(const run_request& request, std::vector<input_type> inputs,
                                const found_names& names, const space& in, backend& on,
                                memory_account& memory) {
  environment where{std::move(inputs), {}};
  for (auto& [name, what] : names.parameters)
    where.parameters.emplace(name,
                             register_type{what->type, stored_as(what->type), what->dims, {}});
  for (auto& [name, what] : names.values)
    where.values.emplace(name, register_type{what->type, what->storage, what->dims, {}});
  where.trains = request.train.has_value();
  auto typed = check(*request.code, std::move(where));
  if (!typed) {
    auto why = typed.error();
    if (why.code == device_errc::unknown_parameter || why.code == device_errc::unknown_value)
      why.message += guess(*request.code, names, in);
    return why;
  }
  if (auto ok = check_asked(request, *typed, memory.reply_bytes_max()); !ok) return ok.error();
  auto made = std::make_shared<kept_plan>();
  for (auto& step : *request.code) made->operations.push_back(step.id);
  for (auto r : request.tensors) made->results.push_back(typed->types[r]);
  plan_request wanted{request.scalars,
                      request.tensors,
                      {names.differentiate.begin(), names.differentiate.end()},
                      request.train ? request.train->loss : no_register};
  auto full = differentiate(std::move(*typed), wanted.loss, wanted.differentiate);
  if (!full) return full.error();
  made->what = make_plan(*full, wanted);
  if (auto ok = check_supported(made->what, made->operations, on); !ok) return ok.error();
  if (auto ok = memory.afford_plan("program", made->what.arena_bytes + made->what.input_bytes); !ok)
    return ok.error();
  for (auto& name : wanted.differentiate) {
    auto found = std::ranges::find_if(
      made->what.parameters, [&name](auto& what) { return !what.stored && what.name == name; });
    made->gradients.push_back(found == made->what.parameters.end() ? no_tensor : found->gradient);
  }
  made->draws = std::ranges::any_of(made->what.instructions, [](auto& step) {
    return step.id != chain_op && !find_row(step.id)->pure;
  });
  fault why;
  made->ready = on.prepare(made->what, why);
  if (!made->ready) return at_place(why, "program");
  return made;
}

/// Makes the places where gradients are gathered that are missing. They stay for later runs.
result<void> make_gathering_places(space& in, const prepared_run::state& what,
                                   memory_account& memory) {
  constexpr std::string_view where = "train.accumulate";
  std::vector<step_state*> missing;
  uint64_t asked = 0;
  auto gradient = what.kept->gradients.begin();
  for (auto how : what.optimizers)
    for (auto& state : how->states) {
      if (*gradient++ == no_tensor || state.gathered) continue;
      missing.push_back(&state);
      asked += parameter{state.type, state.dims, nullptr}.bytes();
    }
  if (missing.empty()) return {};
  if (auto ok = memory.afford(where, asked, bytes_of(in), 0); !ok) return ok.error();
  for (auto state : missing) {
    auto bytes = parameter{state->type, state->dims, nullptr}.bytes();
    auto made = memory.allocate(where, bytes);
    if (!made) return made.error();
    state->gathered = std::move(*made);
    memory.contents_bytes += bytes;
  }
  return {};
}

/// The optimizers' steps over those of their parameters that the loss depends on, now or in a run
/// that was gathered.
void plan_steps(space& in, const train_spec& train, prepared_run::state& out) {
  auto gradient = out.kept->gradients.begin();
  for (auto how : out.optimizers) {
    auto& spec = how->spec;
    optimizer_step step{train.lr.value_or(scheduled_lr(spec, how->steps)),
                        spec.beta1,
                        spec.beta2,
                        spec.eps,
                        spec.amsgrad,
                        {}};
    for (size_t i = 0; i < spec.params.size(); ++i, ++gradient) {
      auto& state = how->states[i];
      bool some = state.gathered_runs > 0;
      if (*gradient == no_tensor && (train.accumulate || !some)) continue;
      auto& what = in.parameters.find(spec.params[i])->second;
      step_segment segment{.parameter = what.data->data,
                           .gradient = *gradient,
                           .elements = static_cast<uint64_t>(what.dims.elements()),
                           .type = stored_as(what.type),
                           .dims = what.dims,
                           .step = state.steps + 1,
                           .kind = kind_for(spec.kind, what.dims),
                           .weight_decay = how->decays[i] ? spec.weight_decay : 0,
                           .gathered = state.gathered ? state.gathered->data : nullptr,
                           .gathered_some = some};
      for (size_t n = 0; n < state.tensors.size(); ++n) segment.states[n] = state.tensors[n]->data;
      step.segments.push_back(segment);
      out.stepped.push_back(&state);
    }
    out.steps.push_back(std::move(step));
  }
}

/// With a seed the numbers depend on the training step, counting what was gathered for it; without
/// one they are others in each run.
draw_keys keys_of(const space& in, const run_request& request, uint64_t device_seed,
                  const std::vector<optimizer*>& optimizers) {
  draw_keys out{request.seed.value_or(device_seed), in.key};
  if (!optimizers.empty()) {
    uint64_t gathered = 0;
    for (auto& state : optimizers.front()->states)
      gathered = std::max(gathered, state.gathered_runs);
    out.seeded_step = optimizers.front()->steps | gathered << 32;
  }
  out.step = request.seed ? out.seeded_step : in.draws;
  return out;
}

/// Counts what a run did that succeeded.
void count_steps(const train_spec& train, const run_results& results, prepared_run::state& what) {
  if (train.accumulate) {
    if (results.skipped) return;
    for (auto state : what.stepped) ++state->gathered_runs;
    return;
  }
  // What was gathered is used up, or dropped with the step that was to use it.
  for (auto state : what.stepped) state->gathered_runs = 0;
  if (results.skipped) return;
  for (auto state : what.stepped) ++state->steps;
  for (auto how : what.optimizers) ++how->steps;
}

} // namespace

result<prepared_run::state> prepare_run(space& in, const run_request& request, backend& on,
                                        memory_account& memory, plan_cache& plans,
                                        uint64_t device_seed) {
  if (!request.code)
    return fail_at(device_errc::undecodable, "program", "there is none; compile one first");
  for (auto& [where, size] :
       {std::pair{"program", request.code->size()}, std::pair{"scalars", request.scalars.size()},
        std::pair{"tensors", request.tensors.size()}, std::pair{"inputs", request.inputs.size()}})
    if (size > limits::program_ops_max)
      return fail_at(device_errc::program_too_long, where, "{} entries; at most {}", size,
                     limits::program_ops_max);
  std::vector<input_type> inputs;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    auto type = check_input(request.inputs[i], i);
    if (!type) return type.error();
    inputs.push_back(*type);
  }
  auto names = find_names(in, request);
  if (!names) return names.error();
  auto key = key_of(request, plans.number_of(request.code), inputs, *names);
  prepared_run::state out;
  out.kept = plans.find(key);
  if (!out.kept) {
    auto made = make_kept(request, std::move(inputs), *names, in, on, memory);
    if (!made) return made.error();
    out.kept = *made;
    plans.insert(std::move(key), std::move(*made));
  }
  out.parallel = out.kept->what.parallel && on.info().threads > 1;
  out.request = &request;
  for (auto& what : out.kept->what.parameters)
    out.parameters.push_back(what.stored ? names->values.at(what.name)->data->data
                                         : names->parameters.at(what.name)->data->data);
  out.optimizers = std::move(names->optimizers);
  out.in = &in;
  out.draws = keys_of(in, request, device_seed, out.optimizers);
  if (auto ok = prepare_writes(out, memory); !ok) return ok.error();
  if (auto& train = request.train) {
    if (train->accumulate)
      if (auto ok = make_gathering_places(in, out, memory); !ok) return ok.error();
    plan_steps(in, *train, out);
  }
  return out;
}

result<run_reply> execute_run(prepared_run::state& what, memory_account& memory) {
  auto& request = *what.request;
  auto& kept = *what.kept;
  run_arguments with{request.inputs, what.parameters, what.steps, what.writes, what.draws};
  if (auto& train = request.train) {
    with.clip = train->clip;
    with.clip_value = train->clip_value;
    with.accumulate = train->accumulate;
    with.skip_nonfinite = train->skip_nonfinite;
  }
  run_results results;
  if (auto why = kept.ready->run(with, results)) {
    if (why->instruction >= kept.what.instructions.size()) return at_place(*why, "program");
    auto origin = kept.what.instructions[why->instruction].origin;
    return at_place(*why, place_of(origin, kept.operations[origin]));
  }
  finish_writes(what, memory);
  if (kept.draws) ++what.in->draws;
  run_reply reply{std::move(results.scalars), {}, results.grad_norm, std::nullopt, std::nullopt};
  if (auto& train = request.train) {
    count_steps(*train, results, what);
    reply.step = what.optimizers.front()->steps;
    if (train->skip_nonfinite) reply.skipped = results.skipped;
  }
  for (size_t i = 0; i < results.tensors.size(); ++i) {
    auto& type = kept.results[i];
    tensor out{std::move(results.tensors[i]), type.storage, {}};
    for (auto size : type.dims.sizes()) out.dims.push_back(static_cast<uint32_t>(size));
    reply.tensors.push_back(std::move(out));
  }
  return reply;
}

} // namespace moxzi::device
