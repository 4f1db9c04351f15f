#include <algorithm>

#include "base/limits.hpp"
#include "device/check.hpp"
#include "device/runs.hpp"

// What a run writes besides its training step: stored values, and contents of parameters.

namespace moxzi::device {

namespace {

constexpr std::string_view where = "program";

/// A parameter is either assigned to or stepped.
result<void> want_unstepped(const prepared_run::state& what, const std::string& name) {
  for (auto how : what.optimizers)
    if (std::ranges::count(how->spec.params, name) > 0)
      return fail_at(device_errc::two_optimizers, where,
                     "parameter \"{}\" is assigned to and stepped by optimizer \"{}\"", name,
                     how->spec.name);
  return {};
}

} // namespace

result<void> prepare_writes(prepared_run::state& what, memory_account& memory) {
  auto& plan = what.kept->what;
  uint64_t asked = 0, returned = 0;
  for (auto& write : plan.writes) {
    auto& tensor = plan.tensors[write.tensor];
    if (write.to_parameter) {
      if (auto ok = want_unstepped(what, write.name); !ok) return ok;
      what.writes.push_back(what.in->parameters.find(write.name)->second.data->data);
      continue;
    }
    if (auto ok = check_name(where, write.name); !ok) return ok;
    if (what.in->parameters.contains(write.name))
      return fail_at(device_errc::exists, where,
                     "\"{}\" is a parameter; assign gives it new contents", write.name);
    auto old = what.in->values.find(write.name);
    bool there = old != what.in->values.end();
    if (there && old->second.type == write.type && old->second.storage == tensor.type
        && old->second.dims == tensor.dims) {
      what.writes.push_back(old->second.data->data);
      continue;
    }
    auto& made = what.fresh[write.name] = {write.type, tensor.type, tensor.dims, nullptr};
    asked += made.bytes();
    returned += there ? old->second.bytes() : 0;
    what.writes.push_back(nullptr);
  }
  if (what.fresh.empty()) return {};
  if (auto ok = memory.afford(where, asked, bytes_of(*what.in), returned); !ok) return ok;
  for (size_t i = 0; i < plan.writes.size(); ++i) {
    auto found = what.fresh.find(plan.writes[i].name);
    if (plan.writes[i].to_parameter || found == what.fresh.end()) continue;
    auto data = memory.allocate(where, found->second.bytes());
    if (!data) return data.error();
    found->second.data = std::move(*data);
    what.writes[i] = found->second.data->data;
  }
  return {};
}

void finish_writes(prepared_run::state& what, memory_account& memory) {
  for (auto& [name, made] : what.fresh) {
    auto& place = what.in->values[name];
    memory.contents_bytes += made.bytes();
    memory.contents_bytes -= place.data ? place.bytes() : 0;
    place = std::move(made);
  }
}

} // namespace moxzi::device
