#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "device/backend.hpp"
#include "device/program.hpp"

namespace moxzi::device {

/// A named tensor that training changes.
struct parameter {
  dtype type = dtype::f32;
  shape dims;
  buffer_ptr data;
  bool frozen = false;
  uint64_t creations = 0; ///< how often a parameter of this name was made before

  uint64_t bytes() const noexcept {
    return static_cast<uint64_t>(dims.elements()) * size_of(stored_as(type));
  }
};

/// What an optimizer remembers of one of its parameters.
struct step_state {
  std::vector<buffer_ptr> tensors; ///< as `layout_of` lists them
  buffer_ptr gathered;             ///< the sum of `gathered_runs` runs' gradients; null at first
  uint64_t gathered_runs = 0;
  uint64_t steps = 0;
  dtype type = dtype::f32;
  shape dims;

  uint64_t bytes() const noexcept {
    uint64_t sum = gathered ? gathered->bytes : 0;
    for (auto& part : tensors) sum += part->bytes;
    return sum;
  }
};

/// A named optimizer.
struct optimizer {
  optimizer_spec spec;
  std::vector<step_state> states; ///< one per `spec.params`
  std::vector<bool> decays;       ///< whether they have weight decay, one per `spec.params`
  uint64_t steps = 0;

  uint64_t bytes() const noexcept {
    uint64_t sum = 0;
    for (auto& state : states) sum += state.bytes();
    return sum;
  }
};

/// A named tensor that runs store.
struct stored_value {
  dtype type = dtype::f32;
  elem storage = elem::f32;
  shape dims;
  buffer_ptr data;

  uint64_t bytes() const noexcept {
    return static_cast<uint64_t>(dims.elements()) * size_of(storage);
  }
};

/// All that one owner has on a device.
struct space {
  uint64_t key = 0;   ///< `owner_key` of the owner
  uint64_t draws = 0; ///< how many runs drew random numbers
  std::map<std::string, parameter, std::less<>> parameters;
  std::map<std::string, optimizer, std::less<>> optimizers;
  std::map<std::string, stored_value, std::less<>> values;
};

/// Device memory of a space's contents.
inline uint64_t bytes_of(const space& all) noexcept {
  uint64_t sum = 0;
  for (auto& [name, what] : all.parameters) sum += what.bytes();
  for (auto& [name, what] : all.optimizers) sum += what.bytes();
  for (auto& [name, what] : all.values) sum += what.bytes();
  return sum;
}

} // namespace moxzi::device
