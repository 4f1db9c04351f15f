// gather, scatter, scatter_add and index_select: elements of places that other data names.

#include <algorithm>
#include <cstring>

#include "device/aten/host.hpp"
#include "device/torch/copy.hpp"
#include "device/torch/indices.hpp"
#include "device/torch/kernels.hpp"
#include "device/torch/loops.hpp"

namespace moxzi::device::torch {

namespace {

size_t dim_of(const kernel_call& call) {
  return static_cast<size_t>(std::get<int64_t>(call.attributes[0]));
}

bool check_ids(const kernel_call& call, fault& why) {
  return check_indices(call.inputs[1], "ids", call.inputs[0].dims[dim_of(call)], why);
}

/// Calls `work(n, place)` for each of ids in order: its number, and the number of the element of x
/// that it names.
template <class Work>
void each_place(const kernel_call& call, const Work& work) {
  auto &x = call.inputs[0], &ids = call.inputs[1];
  const auto dim = dim_of(call), rank = ids.dims.rank();
  if (ids.elements == 0) return;
  with_integers(ids, [&](const auto* values) {
    shape at = ids.dims;
    for (size_t i = 0; i < rank; i++) at[i] = 0;
    int64_t base = 0; // the element of x at this position, but for `dim`
    const auto last = rank - 1;
    const auto run = ids.dims[last], step = last == dim ? 0 : x.strides[last];
    for (int64_t n = 0; n < ids.elements; n += run) {
      for (int64_t j = 0; j < run; j++)
        work(n + j, base + j * step + static_cast<int64_t>(values[n + j]) * x.strides[dim]);
      for (size_t i = last; i-- > 0;) {
        const auto next = i == dim ? 0 : x.strides[i];
        base += next;
        if (++at[i] < ids.dims[i]) break;
        base -= at[i] * next;
        at[i] = 0;
      }
    }
  });
}

/// Calls `work` with a zero of an unsigned type as large as the elements are.
template <class Work>
void with_size(const tensor_view& x, const Work& work) {
  switch (size_of(x.type)) {
    case 1:
      return work(uint8_t{});
    case 2:
      return work(uint16_t{});
    case 4:
      return work(uint32_t{});
    default:
      return work(uint64_t{});
  }
}

bool gather(const kernel_call& call, fault& why) {
  if (!check_ids(call, why)) return false;
  with_size(call.inputs[0], [&call](auto zero) {
    using T = decltype(zero);
    const T* from = call.inputs[0].as<const T>();
    T* to = call.outputs[0].as<T>();
    each_place(call, [from, to](int64_t n, int64_t place) { to[n] = from[place]; });
  });
  return true;
}

bool scatter(const kernel_call& call, fault& why) {
  auto &x = call.inputs[0], &src = call.inputs[2], &out = call.outputs[0];
  if (x.type != out.type || src.type != out.type)
    return aten::find_host_kernel(op::scatter)(call, why);
  if (!check_ids(call, why)) return false;
  copy_elements(x, out, call.threads);
  with_size(out, [&call](auto zero) {
    using T = decltype(zero);
    const T* from = call.inputs[2].as<const T>();
    T* to = call.outputs[0].as<T>();
    each_place(call, [from, to](int64_t n, int64_t place) { to[place] = from[n]; });
  });
  return true;
}

template <class T>
void scatter_add_of(const kernel_call& call) {
  copy_elements(call.inputs[0], call.outputs[0], call.threads);
  const T* from = call.inputs[2].as<const T>();
  T* to = call.outputs[0].as<T>();
  each_place(call, [from, to](int64_t n, int64_t place) { to[place] += from[n]; });
}

bool scatter_add(const kernel_call& call, fault& why) {
  const auto type = call.outputs[0].type;
  if (type != elem::f32 && type != elem::f64)
    return aten::find_host_kernel(op::scatter_add)(call, why);
  if (!check_ids(call, why)) return false;
  if (type == elem::f64)
    scatter_add_of<double>(call);
  else
    scatter_add_of<float>(call);
  return true;
}

/// Whole runs of what lies behind the dimension.
bool index_select(const kernel_call& call, fault& why) {
  if (!check_ids(call, why)) return false;
  auto &x = call.inputs[0], &ids = call.inputs[1], &out = call.outputs[0];
  if (out.elements == 0) return true;
  const auto dim = dim_of(call);
  const auto bytes = static_cast<size_t>(x.strides[dim]) * size_of(x.type);
  const auto places = x.dims[dim], picked = ids.elements;
  const auto rows = out.elements / x.strides[dim];
  const auto grain = std::max<int64_t>(1, 65536 / static_cast<int64_t>(bytes));
  with_integers(ids, [&](const auto* values) {
    const char* from = x.as<const char>();
    char* to = out.as<char>();
    for_parts(call.threads, rows, grain,
              [to, from, values, bytes, places, picked](int64_t begin, int64_t end) {
                for (auto n = begin; n < end; n++) {
                  const auto source =
                    n / picked * places + static_cast<int64_t>(values[n % picked]);
                  std::memcpy(to + static_cast<size_t>(n) * bytes,
                              from + static_cast<size_t>(source) * bytes, bytes);
                }
              });
  });
  return true;
}

} // namespace

kernel_function find_picking_kernel(op id) noexcept {
  switch (id) {
    case op::gather:
      return gather;
    case op::scatter:
      return scatter;
    case op::scatter_add:
      return scatter_add;
    case op::index_select:
      return index_select;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::torch
