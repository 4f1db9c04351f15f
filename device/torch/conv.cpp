// conv, conv_transpose and conv_weight_backward: our own loops where they are faster than those of
// libtorch, which bring every tensor into an order of their own first.

#include <algorithm>
#include <memory>
#include <vector>

#include <ATen/Parallel.h>

#include "device/aten/host.hpp"
#include "device/ops/options.hpp"
#include "device/torch/kernels.hpp"
#include "device/torch/loops.hpp"
#include "device/torch/wide_conv.hpp"
#include "device/torch/wide_product.hpp"

namespace moxzi::device::torch {

namespace {

/// What a kernel keeps from run to run.
struct kept {
  std::unique_ptr<wide_conv> how;
  std::vector<std::vector<float>> scratch; ///< of each thread
  std::vector<float> weights;
};

kept& kept_of(const kernel_call& call) {
  if (!*call.memo) *call.memo = std::make_shared<kept>();
  return *std::static_pointer_cast<kept>(*call.memo);
}

/// Calls `work(begin, end, scratch)` for parts of [0, count).
template <class Work>
void for_parts_with(kept& mine, uint32_t threads, int64_t count, const Work& work) {
  mine.scratch.resize(std::max<size_t>(threads, 1));
  for (auto& one : mine.scratch) one.resize(static_cast<size_t>(mine.how->scratch_floats()));
  for_parts(threads, count, 1, [&mine, &work](int64_t begin, int64_t end) {
    work(begin, end, mine.scratch[static_cast<size_t>(at::get_thread_num())].data());
  });
}

bool is_ours(const kernel_call& call) {
  if (call.outputs[0].type != elem::f32 || !has_wide_products()) return false;
  for (auto& x : call.inputs)
    if (x.dims.rank() > 0 && x.elements == 0) return false;
  return call.outputs[0].elements > 0 && whole_number(call.attributes[3], 1) == 1;
}

bool otherwise(const kernel_call& call, fault& why) {
  return aten::find_host_kernel(call.id)(call, why);
}

void images(kept& mine, const kernel_call& call, const float* w) {
  auto &x = call.inputs[0], &b = call.inputs[2], &out = call.outputs[0];
  const auto batch = x.dims[0], from = x.elements / batch, to = out.elements / batch;
  const float* bias = b.dims.rank() == 0 ? nullptr : b.as<const float>();
  for_parts_with(mine, call.threads, batch, [&](int64_t begin, int64_t end, float* scratch) {
    for (int64_t n = begin; n < end; n++)
      mine.how->forward(x.as<const float>() + n * from, w, bias, out.as<float>() + n * to, scratch);
  });
}

bool conv(const kernel_call& call, fault& why) {
  if (!is_ours(call)) return otherwise(call, why);
  auto &x = call.inputs[0], &w = call.inputs[1], &out = call.outputs[0];
  auto& mine = kept_of(call);
  if (!mine.how)
    mine.how = std::make_unique<wide_conv>(convolution_windows(w.dims, call.attributes), x.dims[1],
                                           w.dims[0], x.dims, out.dims);
  images(mine, call, w.as<const float>());
  return true;
}

/// With strides of 1 the weights turned round make it a convolution; `how` becomes its windows.
bool is_turned_conv(windows& how) {
  for (size_t d = 0; d < how.count; d++) {
    auto& one = how.each[d];
    if (one.stride != 1 || one.output_padding != 0) return false;
    one.padding = one.dilation * (one.kernel - 1) - one.padding;
    if (one.padding < 0) return false;
  }
  return true;
}

/// [in, out, window] as [out, in, window backwards].
void turn(const tensor_view& w, std::vector<float>& to) {
  to.resize(static_cast<size_t>(w.elements));
  const auto in = w.dims[0], out = w.dims[1], volume = w.elements / (in * out);
  for (int64_t i = 0; i < in; i++)
    for (int64_t o = 0; o < out; o++)
      std::reverse_copy(w.as<const float>() + (i * out + o) * volume,
                        w.as<const float>() + (i * out + o + 1) * volume,
                        to.begin() + (o * in + i) * volume);
}

bool conv_transpose(const kernel_call& call, fault& why) {
  auto &x = call.inputs[0], &w = call.inputs[1], &out = call.outputs[0];
  auto how = convolution_windows(w.dims, call.attributes);
  if (!is_ours(call) || !is_turned_conv(how)) return otherwise(call, why);
  auto& mine = kept_of(call);
  if (!mine.how)
    mine.how = std::make_unique<wide_conv>(how, w.dims[0], w.dims[1], x.dims, out.dims);
  turn(w, mine.weights);
  images(mine, call, mine.weights.data());
  return true;
}

bool conv_weight_backward(const kernel_call& call, fault& why) {
  if (!is_ours(call)) return otherwise(call, why);
  auto &gradient = call.inputs[0], &x = call.inputs[1], &out = call.outputs[0];
  auto& mine = kept_of(call);
  if (!mine.how)
    mine.how = std::make_unique<wide_conv>(convolution_windows(out.dims, call.attributes),
                                           x.dims[1], out.dims[0], x.dims, gradient.dims);
  const auto weights = mine.how->weights(), to = out.dims[0], batch = x.dims[0];
  const auto from = x.elements / batch, places = gradient.elements / batch;
  mine.weights.assign(static_cast<size_t>(weights * to), 0.0f);
  // Threads share out the weights and not the images, so that the sums are the same for any number
  // of them.
  const auto groups = (weights + 11) / 12;
  for_parts_with(mine, call.threads, groups, [&](int64_t begin, int64_t end, float* scratch) {
    for (int64_t n = 0; n < batch; n++)
      mine.how->add_weights(x.as<const float>() + n * from, gradient.as<const float>() + n * places,
                            begin * 12, std::min(end * 12, weights), mine.weights.data(), scratch);
  });
  for (int64_t o = 0; o < to; o++)
    for (int64_t k = 0; k < weights; k++)
      out.as<float>()[o * weights + k] = mine.weights[static_cast<size_t>(k * to + o)];
  return true;
}

} // namespace

kernel_function find_conv_kernel(op id) noexcept {
  switch (id) {
    case op::conv:
      return conv;
    case op::conv_transpose:
      return conv_transpose;
    case op::conv_weight_backward:
      return conv_weight_backward;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::torch
