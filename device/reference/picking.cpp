// What takes elements from places that other data names, or puts them there.

#include <vector>

#include "device/reference/kernels.hpp"

namespace moxzi::device::reference {

namespace {

/// Calls `work(n, at)` for each of ids, with its number and its position with the id in the place
/// of dimension `dim` of x; false if an id is out of range.
template <class Work>
bool each_place(const kernel_call& call, fault& why, const Work& work) {
  auto &x = call.inputs[0], &ids = call.inputs[1];
  auto dim = static_cast<size_t>(std::get<int64_t>(call.attributes[0]));
  for (int64_t n = 0; n < ids.elements; ++n) {
    auto id = get_integer(ids, n);
    if (id < 0 || id >= x.dims[dim]) return index_fault(why, "ids", id, x.dims[dim]);
    auto at = position(n, ids.dims);
    at[dim] = id;
    work(n, at);
  }
  return true;
}

bool gather(const kernel_call& call, fault& why) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  return each_place(call, why,
                    [&](int64_t n, const shape& at) { move(out, n, x, number_at(at, x.strides)); });
}

bool scatter(const kernel_call& call, fault& why) {
  auto &x = call.inputs[0], &src = call.inputs[2], &out = call.outputs[0];
  for (int64_t n = 0; n < out.elements; ++n) move(out, n, x, n);
  return each_place(
    call, why, [&](int64_t n, const shape& at) { move(out, number_at(at, out.strides), src, n); });
}

bool scatter_add(const kernel_call& call, fault& why) {
  auto &x = call.inputs[0], &src = call.inputs[2], &out = call.outputs[0];
  if (!is_float(out.type)) {
    for (int64_t n = 0; n < out.elements; ++n) move(out, n, x, n);
    return each_place(call, why, [&](int64_t n, const shape& at) {
      auto to = number_at(at, out.strides);
      auto sum =
        static_cast<uint64_t>(get_integer(out, to)) + static_cast<uint64_t>(get_integer(src, n));
      set_integer(out, to, static_cast<int64_t>(sum));
    });
  }
  std::vector<double> sums;
  for (int64_t n = 0; n < out.elements; ++n) sums.push_back(get(x, n));
  bool right = each_place(call, why, [&](int64_t n, const shape& at) {
    sums[static_cast<size_t>(number_at(at, out.strides))] += get(src, n);
  });
  for (int64_t n = 0; n < out.elements; ++n) set(out, n, sums[static_cast<size_t>(n)]);
  return right;
}

bool index_select(const kernel_call& call, fault& why) {
  auto &x = call.inputs[0], &ids = call.inputs[1], &out = call.outputs[0];
  auto dim = static_cast<size_t>(std::get<int64_t>(call.attributes[0]));
  for (int64_t n = 0; n < ids.elements; ++n)
    if (auto id = get_integer(ids, n); id < 0 || id >= x.dims[dim])
      return index_fault(why, "ids", id, x.dims[dim]);
  for (int64_t n = 0; n < out.elements; ++n) {
    auto at = position(n, out.dims);
    at[dim] = get_integer(ids, at[dim]);
    move(out, n, x, number_at(at, x.strides));
  }
  return true;
}

bool one_hot(const kernel_call& call, fault& why) {
  auto &ids = call.inputs[0], &out = call.outputs[0];
  auto classes = out.dims.last();
  for (int64_t n = 0; n < out.elements; ++n) set_integer(out, n, 0);
  for (int64_t n = 0; n < ids.elements; ++n) {
    auto id = get_integer(ids, n);
    if (id < 0 || id >= classes) return index_fault(why, "ids", id, classes);
    set_integer(out, n * classes + id, 1);
  }
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
    case op::one_hot:
      return one_hot;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::reference
