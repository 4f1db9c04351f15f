#pragma once

#include <string_view>

#include "device/ops/ids.hpp"

namespace moxzi::device {

/// Headings of the table, each before the first operation of its kind. Numbers of operations are
/// never given out again, so what is added later has a heading of its own.
struct heading {
  op from;
  std::string_view title;
};
/// The first operation of the interface that `op` has no name for.
inline constexpr op first_without_name{140};

inline constexpr heading headings[] = {
  {op::input, "sources"},
  {op::narrow, "shape"},
  {op::embedding, "indexing"},
  {op::neg, "element by element"},
  {op::linear, "linear algebra, convolution, pooling"},
  {op::softmax, "normalisation, attention, recurrence"},
  {op::sum, "reductions"},
  {op::cross_entropy, "losses"},
  {op::categorical, "sampling"},
  {op::store, "writes and loops"},
  {first_without_name, "others"},
};

} // namespace moxzi::device
