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
struct moments {
  buffer_ptr first;
  buffer_ptr second;
  uint64_t steps = 0;
  dtype type = dtype::f32;
  shape dims;
};

/// A named optimizer.
struct optimizer {
  optimizer_spec spec;
  std::vector<moments> states; ///< one per `spec.params`
  uint64_t steps = 0;
};

/// All that one owner has on a device.
struct space {
  std::map<std::string, parameter, std::less<>> parameters;
  std::map<std::string, optimizer, std::less<>> optimizers;
};

/// Device memory of a space's contents.
inline uint64_t bytes_of(const space& all) noexcept {
  uint64_t sum = 0;
  for (auto& [name, what] : all.parameters) sum += what.bytes();
  for (auto& [name, what] : all.optimizers)
    for (auto& state : what.states) sum += state.first->bytes + state.second->bytes;
  return sum;
}

} // namespace moxzi::device
