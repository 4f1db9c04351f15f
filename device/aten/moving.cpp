// What puts elements into other places, and constants.

#include "device/aten/kernels.hpp"

namespace moxzi::device::aten {

namespace {

int64_t integer(const aten_call& call, size_t n) {
  return std::get<int64_t>(call.attributes[n]);
}

std::vector<int64_t> list(const aten_call& call, size_t n) {
  auto& from = std::get<std::vector<uint32_t>>(call.attributes[n]);
  return {from.begin(), from.end()};
}

void contiguous(const aten_call& call, index_watch&) {
  call.outputs[0].copy_(call.inputs[0]);
}

void narrow_backward(const aten_call& call, index_watch&) {
  const auto dim = integer(call, 0);
  call.outputs[0].zero_();
  call.outputs[0].narrow(dim, integer(call, 1), call.inputs[0].size(dim)).copy_(call.inputs[0]);
}

void slice_backward(const aten_call& call, index_watch&) {
  auto& gradient = call.inputs[0];
  const auto dim = integer(call, 0), start = integer(call, 1), step = integer(call, 2);
  call.outputs[0].zero_();
  if (gradient.numel() == 0) return;
  const auto end = start + (gradient.size(dim) - 1) * step + 1;
  call.outputs[0].slice(dim, start, end, step).copy_(gradient);
}

void pad(const aten_call& call, index_watch&) {
  auto& x = call.inputs[0];
  auto part = call.outputs[0];
  part.fill_(std::get<double>(call.attributes[2]));
  const auto before = list(call, 0);
  for (int64_t i = 0; i < x.dim(); i++)
    part = part.narrow(i, before[static_cast<size_t>(i)], x.size(i));
  part.copy_(x);
}

void flip(const aten_call& call, index_watch&) {
  auto out = seen_signed(call.outputs[0]);
  out.copy_(at::flip(seen_signed(call.inputs[0]), list(call, 0)));
}

void roll(const aten_call& call, index_watch&) {
  auto out = seen_signed(call.outputs[0]);
  out.copy_(at::roll(seen_signed(call.inputs[0]), integer(call, 1), integer(call, 0)));
}

void tril(const aten_call& call, index_watch&) {
  auto out = seen_signed(call.outputs[0]);
  at::tril_out(out, seen_signed(call.inputs[0]), integer(call, 0));
}

void triu(const aten_call& call, index_watch&) {
  auto out = seen_signed(call.outputs[0]);
  at::triu_out(out, seen_signed(call.inputs[0]), integer(call, 0));
}

/// Sizes of the repeated tensor with each dimension in two: how often, and x's. `strides` are those
/// of x there.
std::vector<int64_t> in_pairs(const std::vector<int64_t>& times, at::IntArrayRef sizes,
                              at::IntArrayRef x, std::vector<int64_t>* strides) {
  std::vector<int64_t> out;
  const auto missing = times.size() - sizes.size();
  for (size_t i = 0; i < times.size(); i++) {
    out.push_back(times[i]);
    out.push_back(i < missing ? 1 : sizes[i - missing]);
    if (!strides) continue;
    strides->push_back(0);
    strides->push_back(i < missing ? 0 : x[i - missing]);
  }
  return out;
}

void repeat(const aten_call& call, index_watch&) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  if (out.numel() == 0) return;
  std::vector<int64_t> strides;
  const auto sizes = in_pairs(list(call, 0), x.sizes(), x.strides(), &strides);
  out.view(sizes).copy_(x.as_strided(sizes, strides));
}

void repeat_backward(const aten_call& call, index_watch&) {
  auto &gradient = call.inputs[0], &out = call.outputs[0];
  const auto times = list(call, 0);
  const auto sizes = in_pairs(times, out.sizes(), {}, nullptr);
  std::vector<int64_t> dims;
  for (size_t i = 0; i < times.size(); i++) dims.push_back(static_cast<int64_t>(2 * i));
  if (dims.empty())
    out.copy_(gradient);
  else
    out.copy_(at::sum(gradient.reshape(sizes), dims).view(out.sizes()));
}

void concat(const aten_call& call, index_watch&) {
  const auto dim = integer(call, 0);
  int64_t start = 0;
  for (auto& x : call.inputs) {
    call.outputs[0].narrow(dim, start, x.size(dim)).copy_(x);
    start += x.size(dim);
  }
}

void stack(const aten_call& call, index_watch&) {
  for (size_t i = 0; i < call.inputs.size(); i++)
    call.outputs[0].select(integer(call, 0), static_cast<int64_t>(i)).copy_(call.inputs[i]);
}

void arange(const aten_call& call, index_watch&) {
  auto& out = call.outputs[0];
  const auto* step = std::get_if<int64_t>(&call.attributes[2]);
  const auto places = at::arange(out.numel(), out.options().dtype(at::kLong));
  out.copy_(places * (step ? *step : 1) + integer(call, 0));
}

void eye(const aten_call& call, index_watch&) {
  call.outputs[0].zero_();
  call.outputs[0].diagonal().fill_(1);
}

} // namespace

aten_kernel find_moving_kernel(op id) noexcept {
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
      return tril;
    case op::triu:
      return triu;
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

} // namespace moxzi::device::aten
