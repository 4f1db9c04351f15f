#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "shapescript/check/types.hpp"

namespace shapescript {

/// How a builtin is checked.
enum class rule : uint8_t {
  unary,
  predicate,
  binary,
  clamp,
  where,
  masked_fill,
  scale,
  one_hot,
  reduction,
  keep_axis,
  softmax,
  affine_norm,
  batch_norm,
  cross_entropy,
  loss,
  matmul,
  outer,
  dot,
  transpose,
  diagonal,
  trace,
  attention,
  pattern,
  repeat,
  join,
  padded,
  topk,
  gather,
  expand,
  convolution,
  pooling,
  construct,
  initialise,
  dropout,
  stop_gradient,
  wrap,
  scan,
  map,
  gradient,
  update,
  optimizer,
  clip_norm,
  accumulate,
  schedule,
  dataset,
  source,
  stage,
  print,
  host,
  convert,
};

/// Where a builtin's work is done.
enum class work : uint8_t { none, device, host };

/// A builtin function. `parameters` are words: `name`, with `?` if it may be absent, `:` before it
/// if it can only be given by name, `@` before it if it names axes (so by name too), `!` before it
/// if it is mut, `*` alone for any number of values.
struct builtin {
  std::string_view name;
  std::string_view parameters;
  rule how;
  work at;
  refinement result = refinement::none;
};

/// A parameter as a call is matched against it.
struct parameter_slot {
  std::string_view name;
  bool optional = false;
  bool by_name = false;
  bool axes = false;
  bool is_mut = false;
  bool variadic = false;
};

const builtin* find_builtin(std::string_view name) noexcept;
std::vector<std::string_view> builtin_names();
/// Whether a param is filled by it, as in `param w: [D] = zeros()`.
bool fills_params(const builtin& what) noexcept;
std::vector<parameter_slot> slots_of(const builtin& what);

} // namespace shapescript
