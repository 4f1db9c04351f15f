#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "device/program.hpp"

/// What is asked of a space and of a device beside defining and running.
namespace moxzi::device {

/// Parameters to read, whole; or `len` elements from `start` on of a single one.
struct read_request {
  std::vector<std::string> names;
  std::optional<uint64_t> start; ///< without it, 0
  std::optional<uint64_t> len;   ///< without it, all that follow
  bool operator==(const read_request&) const = default;
};

/// New contents of a parameter: all of it, of its shape, or from element `start` on.
struct write_entry {
  std::string name;
  tensor contents; ///< floats of any width
  std::optional<uint64_t> start;
  bool operator==(const write_entry&) const = default;
};

/// Names to forget, with all that belongs to them.
struct delete_request {
  std::vector<std::string> params;
  std::vector<std::string> values;
  std::vector<std::string> optimizers;
  bool everything = false; ///< all that the owner has
  bool operator==(const delete_request&) const = default;
};

/// Another name for a parameter.
struct rename_entry {
  std::string from;
  std::string to;
  bool operator==(const rename_entry&) const = default;
};

/// What an owner has, by name in order.
struct space_listing {
  struct entry {
    std::string name;
    std::vector<uint32_t> dims;
    dtype type = dtype::f32;
    uint64_t bytes = 0;
    bool operator==(const entry&) const = default;
  };
  struct optimizer_entry {
    std::string name;
    optimizer_kind kind = optimizer_kind::adamw;
    std::vector<std::string> params;
    uint64_t step = 0;  ///< steps taken
    double lr = 0;      ///< of the next step
    uint64_t bytes = 0; ///< of what it remembers
    bool operator==(const optimizer_entry&) const = default;
  };

  std::vector<entry> params;
  std::vector<entry> values;
  std::vector<optimizer_entry> optimizers;
  bool operator==(const space_listing&) const = default;
};

/// A device, and what one owner has of it.
struct device_description {
  std::string kind;
  std::string name;
  std::string version;
  std::optional<uint64_t> memory_total; ///< what may be used of it
  uint64_t memory_used = 0;
  uint64_t actor_bytes = 0;
  std::optional<uint64_t> actor_quota;
  std::vector<dtype> dtypes; ///< those that parameters may have
  uint32_t max_ops = 0;
  uint32_t max_rank = 0;
  uint64_t max_tensor_bytes = 0;
  bool operator==(const device_description&) const = default;
};

/// What is known of a program before it runs.
struct plan_description {
  uint64_t memory_bytes = 0; ///< the most that a run holds at a time, besides what has a name
  uint64_t input_bytes = 0;  ///< and that copies of its inputs take, if all must be copied
};

/// What was found, for requests that ask for facts and not for tensors.
using device_facts =
  std::variant<std::monostate, space_listing, device_description, plan_description>;

} // namespace moxzi::device
