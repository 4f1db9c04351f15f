// What puts elements into other places, and constants.

#include <algorithm>

#include "device/reference/kernels.hpp"

namespace moxzi::device::reference {

namespace {

int64_t integer(const kernel_call& call, size_t n) {
  return std::get<int64_t>(call.attributes[n]);
}
const std::vector<uint32_t>& list(const kernel_call& call, size_t n) {
  return std::get<std::vector<uint32_t>>(call.attributes[n]);
}

/// Fills the result: `from(at)` is where in x the element at this position comes from; a position
/// outside of x leaves `otherwise`.
template <class From>
bool move_each(const kernel_call& call, double otherwise, const From& from) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  for (int64_t n = 0; n < out.elements; ++n) {
    auto at = from(position(n, out.dims));
    bool inside = true;
    for (size_t i = 0; i < x.dims.rank(); ++i) inside = inside && at[i] >= 0 && at[i] < x.dims[i];
    if (inside)
      move(out, n, x, number_at(at, x.strides));
    else if (is_float(out.type))
      set(out, n, otherwise);
    else if (out.type == elem::boolean)
      set_integer(out, n, otherwise != 0 ? 1 : 0);
    else
      set_integer(out, n, static_cast<int64_t>(otherwise));
  }
  return true;
}

bool contiguous(const kernel_call& call, fault&) {
  return move_each(call, 0, [](shape at) { return at; });
}

constexpr int64_t nowhere = -1;

bool narrow_backward(const kernel_call& call, fault&) {
  auto dim = static_cast<size_t>(integer(call, 0));
  return move_each(call, 0, [&](shape at) {
    at[dim] -= integer(call, 1);
    return at;
  });
}

bool slice_backward(const kernel_call& call, fault&) {
  auto dim = static_cast<size_t>(integer(call, 0));
  auto start = integer(call, 1), step = integer(call, 2);
  return move_each(call, 0, [&](shape at) {
    auto behind = at[dim] - start;
    at[dim] = behind >= 0 && behind % step == 0 ? behind / step : nowhere;
    return at;
  });
}

bool pad(const kernel_call& call, fault&) {
  return move_each(call, std::get<double>(call.attributes[2]), [&](shape at) {
    for (size_t i = 0; i < at.rank(); ++i) at[i] -= list(call, 0)[i];
    return at;
  });
}

bool flip(const kernel_call& call, fault&) {
  return move_each(call, 0, [&](shape at) {
    for (auto dim : list(call, 0)) at[dim] = call.inputs[0].dims[dim] - 1 - at[dim];
    return at;
  });
}

bool roll(const kernel_call& call, fault&) {
  auto dim = static_cast<size_t>(integer(call, 0));
  return move_each(call, 0, [&](shape at) {
    auto size = call.inputs[0].dims[dim];
    auto shift = integer(call, 1) % size;
    at[dim] = (at[dim] - shift + size) % size;
    return at;
  });
}

bool triangle(const kernel_call& call, fault&) {
  auto diagonal = integer(call, 0);
  return move_each(call, 0, [&](shape at) {
    auto right = at.last() - at.last(1);
    bool stays = call.id == op::tril ? right <= diagonal : right >= diagonal;
    if (!stays) at[at.rank() - 1] = nowhere;
    return at;
  });
}

bool repeat(const kernel_call& call, fault&) {
  auto& x = call.inputs[0];
  return move_each(call, 0, [&](shape at) {
    auto from = x.dims;
    auto missing = at.rank() - from.rank();
    for (size_t i = 0; i < from.rank(); ++i) from[i] = at[i + missing] % x.dims[i];
    return from;
  });
}

bool repeat_backward(const kernel_call& call, fault&) {
  auto &g = call.inputs[0], &out = call.outputs[0];
  std::vector<double> sums(static_cast<size_t>(out.elements));
  auto missing = g.dims.rank() - out.dims.rank();
  for (int64_t n = 0; n < g.elements; ++n) {
    auto at = position(n, g.dims), to = out.dims;
    for (size_t i = 0; i < to.rank(); ++i) to[i] = at[i + missing] % out.dims[i];
    sums[static_cast<size_t>(number_at(to, out.strides))] += get(g, number_at(at, g.strides));
  }
  for (int64_t n = 0; n < out.elements; ++n) set(out, n, sums[static_cast<size_t>(n)]);
  return true;
}

bool concat(const kernel_call& call, fault&) {
  auto& out = call.outputs[0];
  auto dim = static_cast<size_t>(integer(call, 0));
  int64_t start = 0;
  for (auto& x : call.inputs) {
    for (int64_t n = 0; n < x.elements; ++n) {
      auto at = position(n, x.dims);
      auto from = number_at(at, x.strides);
      at[dim] += start;
      move(out, number_at(at, out.strides), x, from);
    }
    start += x.dims[dim];
  }
  return true;
}

bool stack(const kernel_call& call, fault&) {
  auto& out = call.outputs[0];
  auto dim = static_cast<size_t>(integer(call, 0));
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    auto& x = call.inputs[i];
    for (int64_t n = 0; n < x.elements; ++n) {
      auto at = position(n, x.dims), to = out.dims;
      for (size_t j = 0; j < to.rank(); ++j)
        to[j] = j == dim ? static_cast<int64_t>(i) : at[j < dim ? j : j - 1];
      move(out, number_at(to, out.strides), x, number_at(at, x.strides));
    }
  }
  return true;
}

// -- constants -----------------------------------------------------------------

/// An integer, whatever the type of the result.
void set_whole(const tensor_view& to, int64_t n, int64_t value) {
  if (is_float(to.type))
    set(to, n, static_cast<double>(value));
  else
    set_integer(to, n, value);
}

bool arange(const kernel_call& call, fault&) {
  auto step = std::get_if<int64_t>(&call.attributes[2]);
  for (int64_t n = 0; n < call.outputs[0].elements; ++n)
    set_whole(call.outputs[0], n, integer(call, 0) + n * (step ? *step : 1));
  return true;
}

bool eye(const kernel_call& call, fault&) {
  auto& out = call.outputs[0];
  for (int64_t n = 0; n < out.elements; ++n)
    set_whole(out, n, n / out.dims[1] == n % out.dims[1] ? 1 : 0);
  return true;
}

} // namespace

kernel_function find_moving_kernel(op id) noexcept {
  switch (id) {
    case op::contiguous:
      return contiguous;
    case op::narrow_backward:
      return narrow_backward;
    case op::slice_backward:
      return slice_backward;
    case op::pad:
      return pad;
    case op::flip:
      return flip;
    case op::roll:
      return roll;
    case op::tril:
    case op::triu:
      return triangle;
    case op::repeat:
      return repeat;
    case op::repeat_backward:
      return repeat_backward;
    case op::concat:
      return concat;
    case op::stack:
      return stack;
    case op::arange:
      return arange;
    case op::eye:
      return eye;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::reference
