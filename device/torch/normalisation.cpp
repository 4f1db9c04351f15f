// softmax, layer_norm and rms_norm over rows that lie together; the rest is ATen's.

#include <algorithm>
#include <limits>
#include <vector>

#include "device/aten/host.hpp"
#include "device/torch/kernels.hpp"
#include "device/torch/loops.hpp"
#include "device/torch/rows_of.hpp"

namespace moxzi::device::torch {

namespace {

constexpr int64_t elements_at_once = 16384; // per thread

int64_t rows_at_once(int64_t length) {
  return std::max<int64_t>(1, elements_at_once / std::max<int64_t>(1, length));
}

/// Calls `work` with a zero of the tensor's type.
template <class Work>
bool with_type(const tensor_view& x, const Work& work) {
  if (x.type == elem::f64)
    work(double{});
  else
    work(float{});
  return true;
}

// -- softmax -------------------------------------------------------------------

bool is_along_last(const kernel_call& call) {
  return std::get<int64_t>(call.attributes[0]) + 1
         == static_cast<int64_t>(call.outputs[0].dims.rank());
}

/// `rows` of a call whose operands all are as large as its result.
template <class T>
softmax_rows<T> softmax_part(const kernel_call& call, int64_t begin, int64_t end) {
  auto& out = call.outputs[0];
  softmax_rows<T> all;
  all.length = out.dims.last();
  all.rows = end - begin;
  all.x = call.inputs[0].as<const T>() + begin * all.length;
  if (call.inputs.size() > 1) all.y = call.inputs[1].as<const T>() + begin * all.length;
  all.out = out.as<T>() + begin * all.length;
  all.logs = call.id == op::log_softmax || call.id == op::log_softmax_backward;
  return all;
}

template <bool Backward>
bool softmax_kernel(const kernel_call& call, fault& why) {
  if (!is_along_last(call)) return aten::find_host_kernel(call.id)(call, why);
  auto& out = call.outputs[0];
  if (out.elements == 0) return true;
  const auto length = out.dims.last();
  return with_type(out, [&call, &out, length](auto zero) {
    using T = decltype(zero);
    for_parts(call.threads, out.elements / length, rows_at_once(length),
              [&call](int64_t begin, int64_t end) {
                const auto part = softmax_part<T>(call, begin, end);
                Backward ? softmax_backward(part) : softmax(part);
              });
  });
}

// -- normalisation -------------------------------------------------------------

bool is_centred(const kernel_call& call) {
  return call.id == op::layer_norm || call.id == op::layer_norm_train
         || call.id == op::layer_norm_backward;
}

/// How many elements are normalised together.
int64_t length_of(const shape& dims, const attribute& taken) {
  auto* given = std::get_if<int64_t>(&taken);
  int64_t length = 1;
  for (int64_t i = 0; i < (given ? *given : 1); i++) length *= dims.last(static_cast<size_t>(i));
  return length;
}

bool norm(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  return with_type(out, [&](auto zero) {
    using T = decltype(zero);
    if (out.elements == 0) {
      if (call.outputs.size() > 1)
        std::fill_n(call.outputs[1].as<T>(), call.outputs[1].elements,
                    std::numeric_limits<T>::quiet_NaN());
      return;
    }
    norm_rows<T> all;
    all.centred = is_centred(call);
    all.length = length_of(x.dims, all.centred ? call.attributes[1] : attribute{});
    auto* eps = std::get_if<double>(&call.attributes[0]);
    const double step = static_cast<double>(std::numeric_limits<T>::epsilon());
    all.eps = eps ? *eps : all.centred ? 1e-5 : step;
    all.w = call.inputs[1].as<const T>();
    all.b = all.centred ? call.inputs[2].as<const T>() : nullptr;
    for_parts(call.threads, out.elements / all.length, rows_at_once(all.length),
              [&call, &x, &out, &all](int64_t begin, int64_t end) {
                auto part = all;
                part.x = x.as<const T>() + begin * all.length;
                part.out = out.as<T>() + begin * all.length;
                part.rows = end - begin;
                if (call.outputs.size() > 1)
                  part.kept = call.outputs[1].as<T>() + begin * (all.centred ? 2 : 1);
                normalise(part);
              });
  });
}

/// Sums over rows are taken over this many parts at most, which don't depend on the threads.
constexpr int64_t parts_max = 32, part_rows_min = 64;

template <class T>
struct norm_scratch {
  std::vector<T> sums;
  std::vector<double> totals;
};

template <class T>
void norm_backward_of(const kernel_call& call, norm_backward_rows<T> all, int64_t rows) {
  auto& memo = *call.memo;
  if (!memo) memo = std::make_shared<norm_scratch<T>>();
  auto& scratch = *std::static_pointer_cast<norm_scratch<T>>(memo);
  const auto each = static_cast<size_t>(all.length) * (all.centred ? 2 : 1);
  const auto part_rows = std::max(part_rows_min, (rows + parts_max - 1) / parts_max);
  const auto parts = (rows + part_rows - 1) / part_rows;
  scratch.sums.resize(each * static_cast<size_t>(parts));
  scratch.totals.assign(each * static_cast<size_t>(std::max<int64_t>(parts, 1)), 0);
  const uint32_t threads = rows * all.length < elements_at_once ? 1 : call.threads;
  for_parts(threads, parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; p++) {
      auto part = all;
      const auto first = p * part_rows, at = first * all.length;
      part.g += at;
      part.x += at;
      part.out += at;
      part.kept += first * (all.centred ? 2 : 1);
      part.rows = std::min(part_rows, rows - first);
      part.sums = scratch.sums.data() + static_cast<size_t>(p) * each;
      part.totals = scratch.totals.data() + static_cast<size_t>(p) * each;
      normalise_backward(part);
    }
  });
  T* to = call.outputs[1].as<T>();
  for (size_t j = 0; j < each; j++) {
    double sum = 0;
    for (int64_t p = 0; p < parts; p++) sum += scratch.totals[static_cast<size_t>(p) * each + j];
    to[j] = static_cast<T>(sum);
  }
}

bool norm_backward(const kernel_call& call, fault&) {
  auto &g = call.inputs[0], &x = call.inputs[1], &kept = call.inputs[2], &w = call.inputs[3];
  auto& out = call.outputs[0];
  return with_type(out, [&](auto zero) {
    using T = decltype(zero);
    norm_backward_rows<T> all;
    all.centred = is_centred(call);
    all.length = length_of(x.dims, all.centred ? call.attributes[0] : attribute{});
    if (all.length == 0) return;
    all.g = g.as<const T>();
    all.x = x.as<const T>();
    all.w = w.as<const T>();
    all.kept = kept.as<const T>();
    all.out = out.as<T>();
    norm_backward_of(call, all, x.elements / all.length);
  });
}

} // namespace

kernel_function find_normalisation_kernel(op id) noexcept {
  switch (id) {
    case op::softmax:
    case op::log_softmax:
      return softmax_kernel<false>;
    case op::softmax_backward:
    case op::log_softmax_backward:
      return softmax_kernel<true>;
    case op::layer_norm:
    case op::layer_norm_train:
    case op::rms_norm:
    case op::rms_norm_train:
      return norm;
    case op::layer_norm_backward:
    case op::rms_norm_backward:
      return norm_backward;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::torch
