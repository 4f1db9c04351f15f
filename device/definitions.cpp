#include "device/definitions.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/limits.hpp"
#include "device/check.hpp"
#include "device/initialize.hpp"
#include "device/optimizer.hpp"

namespace moxzi::device {

namespace {

error moved(const error& why, std::string_view where) {
  return at(static_cast<device_errc>(why.code.value()), where, why.message);
}

uint64_t bytes_of(const state_layout& layout, dtype type) {
  uint64_t sum = 0;
  for (auto& part : layout)
    sum += static_cast<uint64_t>(part.dims.elements()) * size_of(stored_as(type));
  return sum;
}

result<step_state> fresh_state(const optimizer_spec& how, const parameter& of,
                               std::string_view where, memory_account& memory) {
  step_state out;
  out.type = of.type;
  out.dims = of.dims;
  for (auto& part : layout_of(how, of.dims)) {
    auto made = memory.allocate(where, bytes_of({part}, of.type));
    if (!made) return made.error();
    out.tensors.push_back(std::move(*made));
  }
  return out;
}

// -- parameters ----------------------------------------------------------------

/// A parameter that passed all checks, not made yet.
struct staged {
  const param_spec* spec;
  std::string where;
  parameter what;
};

result<parameter> check_param(const param_spec& spec, const std::string& where, const backend& on) {
  if (auto ok = check_name(where, spec.name); !ok) return ok.error();
  auto type = stored_as(spec.type);
  if (std::ranges::count(on.info().parameter_types, type) == 0)
    return fail_at(device_errc::op_unsupported, where, "device {} keeps no {} parameters",
                   on.info().kind, name_of(spec.type));
  auto dims = checked_shape(spec.dims);
  if (!dims) return moved(dims.error(), where);
  if (auto ok = check_initializer(spec.init, *dims, spec.type); !ok)
    return moved(ok.error(), where);
  return parameter{spec.type, *dims, nullptr, spec.frozen, 0};
}

/// True if the existing parameter stays as it is.
result<bool> settle_existing(const param_spec& spec, const std::string& where, const parameter& old,
                             const parameter& fresh) {
  switch (spec.existing) {
    case if_exists::replace:
      return false;
    case if_exists::fail:
      return fail_at(device_errc::exists, where, "there is one already, {} {}", name_of(old.type),
                     to_string(old.dims));
    case if_exists::keep:
      break;
  }
  if (old.dims != fresh.dims)
    return fail_at(device_errc::shape_mismatch, where, "it is to be kept but is {}, not {}",
                   to_string(old.dims), to_string(fresh.dims));
  if (old.type != fresh.type)
    return fail_at(device_errc::dtype_mismatch, where, "it is to be kept but is {}, not {}",
                   name_of(old.type), name_of(fresh.type));
  return true;
}

/// New states for parameters whose shape or type changes.
using fresh_states = std::vector<std::pair<step_state*, step_state>>;

result<fresh_states> remake_states(space& in, const std::vector<staged>& params, uint64_t owned,
                                   uint64_t asked, memory_account& memory) {
  std::map<std::string_view, const staged*> by_name;
  for (auto& entry : params) by_name.emplace(entry.spec->name, &entry);
  fresh_states out;
  for (auto& [name, how] : in.optimizers)
    for (size_t i = 0; i < how.states.size(); ++i) {
      auto found = by_name.find(how.spec.params[i]);
      auto& state = how.states[i];
      if (found == by_name.end()) continue;
      auto& [spec, where, what] = *found->second;
      if (what.dims == state.dims && what.type == state.type) continue;
      asked += bytes_of(layout_of(how.spec, what.dims), what.type);
      if (auto ok = memory.afford(where, asked, owned, 0); !ok) return ok.error();
      auto made = fresh_state(how.spec, what, where, memory);
      if (!made) return made.error();
      out.emplace_back(&state, std::move(*made));
    }
  return out;
}

/// Gradients of contents that are gone mean nothing.
void forget_gathered(space& in, std::string_view param) {
  for (auto& [name, how] : in.optimizers)
    for (size_t i = 0; i < how.states.size(); ++i)
      if (how.spec.params[i] == param) how.states[i].gathered_runs = 0;
}

// -- optimizers ----------------------------------------------------------------

/// The parameters that the optimizer is to step.
result<std::vector<const parameter*>> find_listed(const space& in, const optimizer_spec& spec,
                                                  const std::string& where) {
  if (spec.params.empty())
    return fail_at(device_errc::invalid_value, where, "it has no parameters");
  std::set<std::string_view> names;
  std::vector<const parameter*> listed;
  for (size_t i = 0; i < spec.params.size(); ++i) {
    auto& name = spec.params[i];
    auto here = fmt::format("{}: params[{}]", where, i);
    auto found = in.parameters.find(name);
    if (found == in.parameters.end())
      return fail_at(device_errc::unknown_parameter, here, "no parameter \"{}\"{}",
                     std::string_view(name).substr(0, limits::device_name_bytes_max),
                     nearest_key(name, in.parameters));
    if (found->second.frozen)
      return fail_at(device_errc::frozen, here, "parameter \"{}\" is frozen", name);
    if (!names.insert(name).second)
      return fail_at(device_errc::exists, here, "parameter \"{}\" is listed twice", name);
    listed.push_back(&found->second);
  }
  return listed;
}

/// Which of the parameters have weight decay.
result<std::vector<bool>> find_decays(const optimizer_spec& spec, const std::string& where) {
  std::map<std::string_view, size_t> places;
  for (size_t i = 0; i < spec.params.size(); ++i) places.emplace(spec.params[i], i);
  std::vector<bool> out(spec.params.size(), true);
  for (size_t i = 0; i < spec.no_decay.size(); ++i) {
    auto& name = spec.no_decay[i];
    auto found = places.find(name);
    if (found == places.end())
      return fail_at(device_errc::unknown_parameter, fmt::format("{}: no_decay[{}]", where, i),
                     "\"{}\" is not among its parameters{}",
                     std::string_view(name).substr(0, limits::device_name_bytes_max),
                     nearest_key(name, places));
    out[found->second] = false;
  }
  return out;
}

/// The states to go on with under `keep_state`, null where there is none that fits.
std::vector<const step_state*> kept_states(const optimizer_spec& spec,
                                           const std::vector<const parameter*>& listed,
                                           const optimizer* before) {
  std::vector<const step_state*> out(listed.size());
  if (!spec.keep_state || !before) return out;
  std::map<std::string_view, const step_state*> known;
  for (size_t i = 0; i < before->states.size(); ++i)
    known.emplace(before->spec.params[i], &before->states[i]);
  for (size_t i = 0; i < listed.size(); ++i) {
    auto& now = *listed[i];
    auto found = known.find(spec.params[i]);
    if (found == known.end()) continue;
    auto& state = *found->second;
    if (state.dims == now.dims && state.type == now.type
        && layout_of(before->spec, now.dims) == layout_of(spec, now.dims))
      out[i] = &state;
  }
  return out;
}

} // namespace

// -- memory --------------------------------------------------------------------

memory_account::memory_account(backend& on, const core_options& options, plan_cache& plans)
    : on_(on), options_(options), plans_(plans) {
  // nop
}

result<void> memory_account::fits(std::string_view where, uint64_t asked) {
  auto limit = options_.memory_bytes;
  if (limit == 0) return {};
  auto used = [this] { return contents_bytes + plans_.counters().bytes; };
  while ((used() > limit || asked > limit - used()) && plans_.evict()) {
    // nop
  }
  if (used() <= limit && asked <= limit - used()) return {};
  return fail_at(device_errc::out_of_memory, where, "{} bytes asked for, {} of {} free", asked,
                 limit - std::min(limit, used()), limit);
}

result<void> memory_account::afford(std::string_view where, uint64_t asked, uint64_t owner_bytes,
                                    uint64_t returned) {
  auto quota = options_.owner_bytes;
  auto after = owner_bytes - returned + asked;
  if (quota > 0 && after > quota)
    return fail_at(device_errc::quota, where, "{} bytes asked for, {} of the actor's {} free",
                   asked, quota - std::min(quota, owner_bytes - returned), quota);
  return fits(where, asked);
}

result<void> memory_account::afford_plan(std::string_view where, uint64_t asked) {
  return fits(where, asked);
}

result<buffer_ptr> memory_account::allocate(std::string_view where, uint64_t bytes) {
  fault why;
  auto made = on_.allocate(bytes, why);
  while (!made && why.code == device_errc::out_of_memory && plans_.evict())
    made = on_.allocate(bytes, why);
  if (!made) return at_place(why, where);
  return made;
}

error at_place(const fault& why, std::string_view where) {
  return at(why.code, where, why.what);
}

result<void> check_name(std::string_view where, std::string_view name) {
  if (!name.empty() && name.size() <= limits::device_name_bytes_max && is_utf8(name)) return {};
  return fail_at(device_errc::invalid_value, where,
                 "a name of {} bytes; 1 to {} bytes of UTF-8 wanted", name.size(),
                 limits::device_name_bytes_max);
}

// -- definitions ---------------------------------------------------------------

result<void> define_params(space& in, byte_view owner, const std::vector<param_spec>& params,
                           backend& on, const core_options& options, memory_account& memory) {
  std::vector<staged> fresh;
  std::set<std::string_view> names;
  uint64_t asked = 0, returned = 0, owned = bytes_of(in);
  for (size_t i = 0; i < params.size(); ++i) {
    auto& spec = params[i];
    auto shown = std::string_view(spec.name).substr(0, limits::device_name_bytes_max);
    auto where = fmt::format("params[{}] \"{}\"", i, is_utf8(shown) ? shown : "?");
    auto made = check_param(spec, where, on);
    if (!made) return made.error();
    if (!names.insert(spec.name).second)
      return fail_at(device_errc::exists, where, "the name is listed twice");
    if (in.values.contains(spec.name))
      return fail_at(device_errc::exists, where, "a stored value has this name");
    auto old = in.parameters.find(spec.name);
    if (old != in.parameters.end()) {
      auto keep = settle_existing(spec, where, old->second, *made);
      if (!keep) return keep.error();
      if (*keep) continue;
      made->creations = old->second.creations + 1;
      returned += old->second.bytes();
    } else if (in.parameters.size() + fresh.size() >= limits::owner_names_max) {
      return fail_at(device_errc::quota, where, "an actor may have {} parameters",
                     limits::owner_names_max);
    }
    asked += made->bytes();
    if (auto ok = memory.afford(where, asked, owned, returned); !ok) return ok.error();
    fresh.push_back({&spec, std::move(where), std::move(*made)});
  }
  for (auto& entry : fresh) {
    auto space_for = memory.allocate(entry.where, entry.what.bytes());
    if (!space_for) return space_for.error();
    entry.what.data = std::move(*space_for);
    auto& spec = *entry.spec;
    auto random = spec.seed
                    ? stream_of_seed(*spec.seed, spec.name)
                    : stream_of_parameter(options.seed, owner, spec.name, entry.what.creations);
    std::optional<fault> why;
    initial_contents(spec.init, entry.what.dims, stored_as(entry.what.type), random,
                     [&](uint64_t offset, byte_view piece) {
                       why = on.write(*entry.what.data, offset, piece);
                       return !why;
                     });
    if (why) return at_place(*why, entry.where);
  }
  auto states = remake_states(in, fresh, owned, asked, memory);
  if (!states) return states.error();
  // From here on nothing can fail.
  for (auto& [to, from] : *states) *to = std::move(from);
  for (auto& entry : fresh) {
    forget_gathered(in, entry.spec->name);
    in.parameters.insert_or_assign(entry.spec->name, std::move(entry.what));
  }
  memory.contents_bytes += bytes_of(in) - owned;
  return {};
}

result<void> define_optimizer(space& in, const optimizer_spec& spec, memory_account& memory) {
  if (auto ok = check_name("optimizer", spec.name); !ok) return ok.error();
  auto where = fmt::format("optimizer \"{}\"", spec.name);
  if (auto ok = check_settings(spec, where); !ok) return ok.error();
  auto found = in.optimizers.find(spec.name);
  auto old = found == in.optimizers.end() ? nullptr : &found->second;
  if (!old && in.optimizers.size() >= limits::owner_names_max)
    return fail_at(device_errc::quota, where, "an actor may have {} optimizers",
                   limits::owner_names_max);
  auto listed = find_listed(in, spec, where);
  if (!listed) return listed.error();
  auto decays = find_decays(spec, where);
  if (!decays) return decays.error();
  auto kept = kept_states(spec, *listed, old);
  uint64_t asked = 0, returned = old ? old->bytes() : 0, owned = bytes_of(in);
  for (size_t i = 0; i < listed->size(); ++i) {
    auto what = (*listed)[i];
    asked += kept[i] ? kept[i]->bytes() : bytes_of(layout_of(spec, what->dims), what->type);
  }
  if (auto ok = memory.afford(where, asked, owned, returned); !ok) return ok.error();
  optimizer fresh{spec, {}, std::move(*decays), spec.keep_state && old ? old->steps : 0};
  for (size_t i = 0; i < listed->size(); ++i) {
    if (kept[i]) {
      fresh.states.push_back(*kept[i]);
      continue;
    }
    auto made = fresh_state(spec, *(*listed)[i], where, memory);
    if (!made) return made.error();
    fresh.states.push_back(std::move(*made));
  }
  // From here on nothing can fail.
  in.optimizers.insert_or_assign(spec.name, std::move(fresh));
  memory.contents_bytes += bytes_of(in) - owned;
  return {};
}

} // namespace moxzi::device
