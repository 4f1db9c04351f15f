#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/limits.hpp"
#include "base/nearest.hpp"
#include "base/result.hpp"
#include "device/contents.hpp"
#include "device/device_core.hpp"
#include "device/plan_cache.hpp"
#include "device/space.hpp"

/// The parts of the core that change an owner's space. Internal to `device_core`.
namespace moxzi::device {

/// What is used of a device's memory, and who may have more. Drops plans before it refuses.
class memory_account {
public:
  memory_account(backend& on, const core_options& options, plan_cache& plans);

  /// Refuses (MXD060, MXD061) unless `asked` bytes more are there for an owner who has
  /// `owner_bytes` now and gives `returned` of them back.
  result<void> afford(std::string_view where, uint64_t asked, uint64_t owner_bytes,
                      uint64_t returned);
  /// As above, for a plan, which is nobody's.
  result<void> afford_plan(std::string_view where, uint64_t asked);
  /// Memory of contents, filled with zeros.
  result<buffer_ptr> allocate(std::string_view where, uint64_t bytes);

  uint64_t reply_bytes_max() const noexcept {
    return options_.reply_bytes_max;
  }

  uint64_t contents_bytes = 0; ///< of all spaces

private:
  result<void> fits(std::string_view where, uint64_t asked);

  backend& on_;
  const core_options& options_;
  plan_cache& plans_;
};

/// A fault of the backend as an error at a place.
error at_place(const fault& why, std::string_view where);

/// Fails unless the name has 1 to 128 bytes of UTF-8.
result<void> check_name(std::string_view where, std::string_view name);

result<void> define_params(space& in, byte_view owner, const std::vector<param_spec>& params,
                           backend& on, const core_options& options, memory_account& memory);

result<void> define_optimizer(space& in, const optimizer_spec& spec, memory_account& memory);

/// In the order of the names.
result<std::vector<tensor>> read_contents(const space& in, const read_request& request, backend& on,
                                          uint64_t reply_bytes_max);
result<void> write_contents(space& in, const std::vector<write_entry>& entries, backend& on);
result<void> delete_names(space& in, const delete_request& request, memory_account& memory);
result<void> rename_params(space& in, const std::vector<rename_entry>& entries);
result<space_listing> list_contents(const space& in, uint64_t reply_bytes_max);

/// `; did you mean 'x'?` for a name that is not one of the map's, or nothing.
template <class Map>
std::string nearest_key(std::string_view name, const Map& known) {
  // Guessing is for people; nobody reads through thousands of names.
  constexpr size_t names_max = 1000;
  if (known.size() > names_max || name.size() > limits::device_name_bytes_max) return {};
  std::vector<std::string_view> names;
  for (auto& [key, value] : known) names.push_back(key);
  return did_you_mean(name, names);
}

} // namespace moxzi::device
