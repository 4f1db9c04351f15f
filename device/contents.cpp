#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/limits.hpp"
#include "device/check.hpp"
#include "device/definitions.hpp"
#include "device/initialize.hpp"
#include "device/optimizer.hpp"

// The parts of the core that read, write, rename and forget what is there.

namespace moxzi::device {

namespace {

std::string_view shown(std::string_view name) {
  auto part = name.substr(0, limits::device_name_bytes_max);
  return is_utf8(part) ? part : "?";
}

template <class Map>
error unknown(device_errc code, std::string_view where, std::string_view what,
              std::string_view name, const Map& known) {
  return fail_at(code, where, "no {} \"{}\"{}", what, shown(name), nearest_key(name, known));
}

/// A parameter or a stored value.
struct stored_tensor {
  shape dims;
  dtype type = dtype::f32;
  elem storage = elem::f32;
  buffer* data = nullptr;
};

/// The parameter of this name, or else the stored value.
result<stored_tensor> find_tensor(const space& in, const std::string& name,
                                  std::string_view where) {
  if (auto found = in.parameters.find(name); found != in.parameters.end()) {
    auto& what = found->second;
    return stored_tensor{what.dims, what.type, stored_as(what.type), what.data.get()};
  }
  if (auto found = in.values.find(name); found != in.values.end()) {
    auto& what = found->second;
    return stored_tensor{what.dims, what.type, what.storage, what.data.get()};
  }
  return unknown(device_errc::unknown_parameter, where, "parameter", name, in.parameters);
}

/// Elements `start` to `start` + `count` of a tensor, if it has them.
result<void> check_part(std::string_view where, const stored_tensor& of, uint64_t start,
                        uint64_t count) {
  auto size = static_cast<uint64_t>(of.dims.elements());
  if (start <= size && count <= size - start) return {};
  return fail_at(device_errc::dim_range, where, "{} elements from {} on; {} has {}", count, start,
                 to_string(of.dims), size);
}

// -- reading -------------------------------------------------------------------

/// Which elements a request wants of a tensor.
struct wanted_part {
  stored_tensor of;
  uint64_t start = 0;
  uint64_t count = 0;
  bool whole = true;
};

result<std::vector<wanted_part>> find_parts(const space& in, const read_request& request,
                                            uint64_t reply_bytes_max) {
  if ((request.start || request.len) && request.names.size() != 1)
    return fail_at(device_errc::invalid_value, "names",
                   "start and len are for one name, not for {}", request.names.size());
  std::vector<wanted_part> out;
  uint64_t bytes = 0;
  for (size_t i = 0; i < request.names.size(); ++i) {
    auto where = fmt::format("names[{}]", i);
    auto found = find_tensor(in, request.names[i], where);
    if (!found) return found.error();
    auto& what = *found;
    auto size = static_cast<uint64_t>(what.dims.elements());
    auto start = request.start.value_or(0);
    auto count = request.len.value_or(size - std::min(start, size));
    if (auto ok = check_part(where, what, start, count); !ok) return ok.error();
    bytes += count * size_of(what.storage);
    if (bytes > reply_bytes_max)
      return fail_at(device_errc::reply_too_large, where,
                     "the answer would have {} bytes with \"{}\", {} {}; at most {}: read it in "
                     "parts with start and len",
                     bytes, request.names[i], name_of(what.type), to_string(what.dims),
                     reply_bytes_max);
    out.push_back({what, start, count, !request.start && !request.len});
  }
  return out;
}

// -- writing -------------------------------------------------------------------

/// Bytes that go to a place, and those that were there.
struct staged_write {
  buffer* to = nullptr;
  uint64_t offset = 0;
  byte_string bytes;
  byte_string before;
};

result<staged_write> check_write(const space& in, const write_entry& entry,
                                 const std::string& where) {
  auto found = find_tensor(in, entry.name, where);
  if (!found) return found.error();
  auto& what = *found;
  if (what.storage != elem::f32 && what.storage != elem::f64)
    return fail_at(device_errc::dtype_mismatch, where,
                   "the stored value is {}; one of f32 or f64 can be written", name_of(what.type));
  auto given = checked_shape(entry.contents.dims);
  if (!given)
    return at(static_cast<device_errc>(given.error().code.value()), where, given.error().message);
  auto count = static_cast<uint64_t>(given->elements());
  if (!entry.start && *given != what.dims)
    return fail_at(device_errc::shape_mismatch, where, "{} does not fit the parameter's {}",
                   to_string(*given), to_string(what.dims));
  auto start = entry.start.value_or(0);
  if (auto ok = check_part(where, what, start, count); !ok) return ok.error();
  if (auto ok = check_data(entry.contents, *given); !ok)
    return at(static_cast<device_errc>(ok.error().code.value()), where, ok.error().message);
  auto type = what.storage;
  return staged_write{what.data, start * size_of(type), converted(entry.contents, count, type), {}};
}

/// Puts back what was there. If that fails too, the device has failed as a whole.
void undo(std::vector<staged_write>& all, size_t written, backend& on) {
  while (written-- > 0) on.write(*all[written].to, all[written].offset, all[written].before);
}

// -- deleting ------------------------------------------------------------------

template <class Map>
result<void> check_names(const Map& known, const std::vector<std::string>& names, device_errc code,
                         std::string_view list, std::string_view what) {
  for (size_t i = 0; i < names.size(); ++i)
    if (!known.contains(names[i]))
      return unknown(code, fmt::format("{}[{}]", list, i), what, names[i], known);
  return {};
}

/// Takes parameters out of the optimizers that list them. One that is left with none goes too.
void leave_optimizers(space& in, const std::set<std::string_view>& gone) {
  auto remains = [&gone](const std::string& name) { return !gone.contains(name); };
  for (auto& [name, how] : in.optimizers) {
    optimizer kept{how.spec, {}, {}, how.steps};
    kept.spec.params.clear();
    for (size_t i = 0; i < how.states.size(); ++i) {
      if (!remains(how.spec.params[i])) continue;
      kept.spec.params.push_back(how.spec.params[i]);
      kept.states.push_back(std::move(how.states[i]));
      kept.decays.push_back(how.decays[i]);
    }
    std::erase_if(kept.spec.no_decay, std::not_fn(remains));
    how = std::move(kept);
  }
  std::erase_if(in.optimizers, [](auto& entry) { return entry.second.states.empty(); });
}

// -- renaming ------------------------------------------------------------------

using new_names = std::map<std::string_view, std::string_view>;

result<new_names> check_renames(const space& in, const std::vector<rename_entry>& entries) {
  new_names out;
  std::set<std::string_view> taken;
  for (size_t i = 0; i < entries.size(); ++i) {
    auto& [from, to] = entries[i];
    auto where = fmt::format("renames[{}]", i);
    if (!in.parameters.contains(from))
      return unknown(device_errc::unknown_parameter, where, "parameter", from, in.parameters);
    if (auto ok = check_name(where, to); !ok) return ok.error();
    if (!out.emplace(from, to).second)
      return fail_at(device_errc::exists, where, "\"{}\" is renamed twice", from);
    if (!taken.insert(to).second)
      return fail_at(device_errc::exists, where, "\"{}\" would be the name of two", to);
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    auto& to = entries[i].to;
    if (in.parameters.contains(to) && !out.contains(to))
      return fail_at(device_errc::exists, fmt::format("renames[{}]", i),
                     "there is a parameter \"{}\" already", to);
  }
  return out;
}

std::vector<uint32_t> sizes_of(const shape& dims) {
  std::vector<uint32_t> out;
  for (auto size : dims.sizes()) out.push_back(static_cast<uint32_t>(size));
  return out;
}

} // namespace

result<std::vector<tensor>> read_contents(const space& in, const read_request& request, backend& on,
                                          uint64_t reply_bytes_max) {
  auto parts = find_parts(in, request, reply_bytes_max);
  if (!parts) return parts.error();
  std::vector<tensor> out;
  for (size_t i = 0; i < parts->size(); ++i) {
    auto& [of, start, count, whole] = (*parts)[i];
    auto type = of.storage;
    byte_string bytes;
    if (auto why = on.read(*of.data, start * size_of(type), count * size_of(type), bytes))
      return at_place(*why, fmt::format("names[{}]", i));
    auto dims = whole ? sizes_of(of.dims) : std::vector{static_cast<uint32_t>(count)};
    out.push_back({std::move(bytes), type, std::move(dims)});
  }
  return out;
}

result<void> write_contents(space& in, const std::vector<write_entry>& entries, backend& on) {
  std::vector<staged_write> all;
  for (size_t i = 0; i < entries.size(); ++i) {
    auto where = fmt::format("tensors[{}] \"{}\"", i, shown(entries[i].name));
    auto staged = check_write(in, entries[i], where);
    if (!staged) return staged.error();
    all.push_back(std::move(*staged));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    auto& one = all[i];
    auto why = on.read(*one.to, one.offset, one.bytes.size(), one.before);
    if (!why) why = on.write(*one.to, one.offset, one.bytes);
    if (!why) continue;
    undo(all, one.before.empty() ? i : i + 1, on);
    return at_place(*why, fmt::format("tensors[{}] \"{}\"", i, shown(entries[i].name)));
  }
  return {};
}

result<void> delete_names(space& in, const delete_request& request, memory_account& memory) {
  auto found = check_names(in.parameters, request.params, device_errc::unknown_parameter, "params",
                           "parameter");
  if (found)
    found =
      check_names(in.values, request.values, device_errc::unknown_value, "values", "stored value");
  if (found)
    found = check_names(in.optimizers, request.optimizers, device_errc::unknown_optimizer,
                        "optimizers", "optimizer");
  if (!found) return found;
  auto before = bytes_of(in);
  if (request.everything) {
    in = {.key = in.key, .draws = in.draws};
  } else {
    for (auto& name : request.values) in.values.erase(name);
    for (auto& name : request.optimizers) in.optimizers.erase(name);
    leave_optimizers(in, {request.params.begin(), request.params.end()});
    for (auto& name : request.params) in.parameters.erase(name);
  }
  memory.contents_bytes -= before - bytes_of(in);
  return {};
}

result<void> rename_params(space& in, const std::vector<rename_entry>& entries) {
  auto names = check_renames(in, entries);
  if (!names) return names.error();
  auto renamed = [&names](std::string& name) {
    if (auto found = names->find(name); found != names->end()) name = found->second;
  };
  for (auto& [name, how] : in.optimizers) {
    for (auto& param : how.spec.params) renamed(param);
    for (auto& param : how.spec.no_decay) renamed(param);
  }
  std::vector<decltype(in.parameters)::node_type> moved;
  for (auto& [from, to] : entries) {
    moved.push_back(in.parameters.extract(from));
    moved.back().key() = to;
  }
  for (auto& node : moved) in.parameters.insert(std::move(node));
  return {};
}

result<space_listing> list_contents(const space& in, uint64_t reply_bytes_max) {
  // What a name and an entry take in the answer; the rest of the answer is small.
  constexpr size_t entry_bytes = 64;
  space_listing out;
  size_t bytes = 0;
  for (auto& [name, what] : in.parameters) {
    bytes += name.size() + entry_bytes;
    out.params.push_back({name, sizes_of(what.dims), what.type, what.bytes()});
  }
  for (auto& [name, what] : in.values) {
    bytes += name.size() + entry_bytes;
    out.values.push_back({name, sizes_of(what.dims), what.type, what.bytes()});
  }
  for (auto& [name, how] : in.optimizers) {
    bytes += name.size() + entry_bytes;
    for (auto& param : how.spec.params) bytes += param.size() + 2;
    out.optimizers.push_back({name, how.spec.kind, how.spec.params, how.steps,
                              scheduled_lr(how.spec, how.steps), how.bytes()});
  }
  if (bytes <= reply_bytes_max) return out;
  return fail_at(device_errc::reply_too_large, "list",
                 "{} parameters, {} values and {} optimizers would take some {} bytes; at most {}",
                 in.parameters.size(), in.values.size(), in.optimizers.size(), bytes,
                 reply_bytes_max);
}

} // namespace moxzi::device
