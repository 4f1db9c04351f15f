#pragma once

#include "device/program.hpp"

/// Attributes that may be absent.
namespace moxzi::device {

inline bool flag(const attribute& from, bool otherwise = false) {
  auto value = std::get_if<bool>(&from);
  return value ? *value : otherwise;
}

inline int64_t whole_number(const attribute& from, int64_t otherwise) {
  auto value = std::get_if<int64_t>(&from);
  return value ? *value : otherwise;
}

inline double real_number(const attribute& from, double otherwise) {
  auto value = std::get_if<double>(&from);
  return value ? *value : otherwise;
}

/// How losses are joined: the positions of `Reduce` in the interface.
enum class reduction : int64_t { mean, sum, none };

inline reduction reduction_of(const attribute& from) {
  return static_cast<reduction>(whole_number(from, 0));
}

/// What a recurrence gives: the positions of its `out` in the interface.
enum class recurrent_out : int64_t { sequence, last, cell };

inline recurrent_out recurrent_out_of(const attribute& from) {
  return static_cast<recurrent_out>(whole_number(from, 0));
}

} // namespace moxzi::device
