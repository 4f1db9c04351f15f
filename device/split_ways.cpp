#include "device/split_ways.hpp"

#include <algorithm>

#include "device/ops/reduction.hpp"
#include "device/ops/table.hpp"

namespace moxzi::device {

namespace {

placement along(uint32_t dim) {
  return {placed::split, dim};
}

constexpr placement terms{placed::partial};

std::vector<int> everywhere(const typed_call& call, int dim) {
  return std::vector<int>(call.operands.size(), dim);
}

/// The row's own rule.
void add_axes(const row& how, const typed_call& call, std::vector<split_way>& out) {
  if (how.split == nullptr) return;
  for (auto& axis : how.split(call)) {
    split_way one{{}, axis.operand_dims};
    one.dims.resize(call.operands.size(), -1);
    one.result = axis.how == join::none   ? along(static_cast<uint32_t>(axis.result_dim))
                 : axis.how == join::mean ? placement{placed::partial, 0, joined::mean}
                                          : terms;
    one.second = axis.second_dim < 0 ? terms : along(static_cast<uint32_t>(axis.second_dim));
    out.push_back(std::move(one));
  }
}

/// Along what is normalised: every row's maximum (forward) and sum.
void add_softmax(bool forward, const typed_call& call, std::vector<split_way>& out) {
  const auto dim = static_cast<uint32_t>(std::get<int64_t>(call.attributes[0]));
  const auto& dims = call.result->dims;
  const auto rows = dims.elements() / std::max<int64_t>(dims[dim], 1);
  split_way one{along(dim), everywhere(call, static_cast<int>(dim))};
  if (forward) one.joins.push_back({rows, joined::max});
  one.joins.push_back({rows, joined::sum});
  out.push_back(std::move(one));
}

/// Along the classes: each row's maximum and sum, and what the device that has the target says.
void add_cross_entropy(const typed_call& call, std::vector<split_way>& out) {
  if (call.operands.size() > 2 && call.operands[2] != nullptr) return; // of all classes
  const auto rows = call.operands[0]->dims[0];
  split_way one{{}, everywhere(call, -1), along(1), {{rows, joined::max}, {rows}, {rows}}};
  one.dims[0] = 1;
  out.push_back(std::move(one));
}

/// Along what is reduced, where what the devices join is no larger than the result is.
void add_reduction(op id, const typed_call& call, std::vector<split_way>& out) {
  const auto& dims = call.operands[0]->dims;
  const auto reduced = reduced_dims(call.attributes[id == op::norm ? 1 : 0], dims.rank());
  const auto n = call.result->dims.elements();
  for (uint32_t d = 0; d < dims.rank(); ++d) {
    if ((reduced >> d & 1) == 0) continue;
    split_way one{{}, {static_cast<int>(d)}};
    switch (id) {
      case op::max:
      case op::any:
        one.result = {placed::partial, 0, joined::max};
        break;
      case op::min:
      case op::all:
        one.result = {placed::partial, 0, joined::min};
        break;
      case op::logsumexp:
        one.joins = {{n, joined::max}, {n}};
        break;
      case op::norm:
        one.joins = {{n}}; // powers
        break;
      default:
        one.joins = {{2 * n}}; // the means, and the squares of what differs from them
    }
    out.push_back(std::move(one));
  }
}

/// Along the examples; what is kept of the whole batch is two numbers of each channel.
void add_batch_norm(bool forward, const typed_call& call, std::vector<split_way>& out) {
  const auto& dims = call.result->dims;
  split_way one{along(0), everywhere(call, -1), forward ? placement{} : terms};
  // Whatever is of the examples' dimension is split along it.
  for (size_t i = 0; i < call.operands.size(); ++i)
    if (call.operands[i] != nullptr && call.operands[i]->dims == dims) one.dims[i] = 0;
  if (dims.rank() > 1) one.joins = {{2 * dims[1]}};
  out.push_back(std::move(one));
}

} // namespace

std::vector<split_way> split_ways(op id, const typed_call& call) {
  std::vector<split_way> out;
  switch (id) {
    case op::softmax:
    case op::log_softmax:
      add_softmax(true, call, out);
      break;
    case op::softmax_backward:
    case op::log_softmax_backward:
      add_softmax(false, call, out);
      break;
    case op::cross_entropy:
    case op::cross_entropy_train:
      add_cross_entropy(call, out);
      break;
    case op::dropout_active:
      for (uint32_t d = 0; d < call.result->dims.rank(); ++d)
        out.push_back({along(d), {static_cast<int>(d)}});
      break;
    case op::batch_norm_active:
      add_batch_norm(true, call, out);
      break;
    case op::batch_norm_active_backward:
      add_batch_norm(false, call, out);
      break;
    case op::nll_backward:
      out.push_back({along(0), {call.operands[0]->dims.rank() == 0 ? -1 : 0, 0}});
      break;
    case op::embedding:
      // Of a table in parts each device has the rows of some ids, and zeros for the others.
      out.push_back({terms, {0, -1}});
      break;
    case op::max:
    case op::min:
    case op::any:
    case op::all:
    case op::logsumexp:
    case op::norm:
    case op::variance:
    case op::std:
      add_reduction(id, call, out);
      break;
    default:
      break;
  }
  add_axes(*find_row(id), call, out);
  return out;
}

} // namespace moxzi::device
