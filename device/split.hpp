#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/check.hpp"

/// How a program's values lie on several devices, by the split rules of its rows, and what the
/// devices must send each other. Nothing is run.
namespace moxzi::device {

/// How a value lies on the devices.
enum class placed : uint8_t {
  whole,   ///< every device has all of it
  split,   ///< each has its part of one dimension
  partial, ///< each has a term of all of it
  sharded, ///< each keeps a share of its elements, in no dimension's order
};

/// How the terms of a partial value are joined; a mean is weighted by the parts' sizes.
enum class joined : uint8_t { sum, mean, max, min };

struct placement {
  placed how = placed::whole;
  uint32_t dim = 0;        ///< of `split`
  joined by = joined::sum; ///< of `partial`
  bool operator==(const placement&) const = default;
};

enum class collective_kind : uint8_t { all_reduce, all_gather, reduce_scatter };

std::string_view name_of(collective_kind kind) noexcept;
std::string_view name_of(joined how) noexcept;

/// What devices send each other once a run.
struct collective {
  collective_kind kind{};
  reg what = 0; ///< the value that is joined
  joined by = joined::sum;
  uint32_t origin = 0; ///< whose operation asks for it
  elem type = elem::f32;
  int64_t elements = 0; ///< of the whole value: counted once, however it travels

  int64_t bytes() const noexcept {
    return elements * size_of(type);
  }
};

/// A value that all devices need, whole or, where it is split, in their parts.
struct split_need {
  reg what = 0;
  uint32_t origin = 0;
  bool shards = false; ///< each device keeps its share alone
  /// Of `shards`: the dimension that is kept in parts, if not any share will do.
  std::optional<uint32_t> dim = {};
};

struct split_request {
  uint32_t devices = 1;
  std::vector<placement> inputs;                            ///< by number; the rest are whole
  std::map<std::string, placement, std::less<>> parameters; ///< the rest are whole
  /// Dimensions along which registers are to be split wherever their row can do that.
  std::map<reg, uint32_t> wanted;
  std::vector<split_need> needs;
};

struct split_program {
  std::vector<placement> places;  ///< of each register
  std::vector<placement> seconds; ///< of second results
  std::vector<double> shares;     ///< of each operation's work: that of the device with most
  std::vector<collective> sent;   ///< in the order of the program
  /// By reader (an operation; a need by its own register): what it reads whole although it is split
  /// or in shares.
  std::set<std::pair<reg, reg>> gathered;

  int64_t bytes() const noexcept;
};

/// Follows the placements of inputs and parameters through the program. An operation takes the
/// split that its operands have, if a rule of its row fits; of several, the one for which the
/// fewest bytes are gathered. A partial value is joined where something but a sum of such reads it.
split_program split_over(const typed_program& code, const split_request& how);

} // namespace moxzi::device
