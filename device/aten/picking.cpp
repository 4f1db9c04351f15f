// What takes elements from places that other data names, or puts them there. Nothing here adds or
// writes in an order that a GPU chooses.

#include "device/aten/kernels.hpp"

namespace moxzi::device::aten {

namespace {

int64_t dim_of(const aten_call& call) {
  return std::get<int64_t>(call.attributes[0]);
}

/// ids in range, in their shape.
at::Tensor places(const aten_call& call, index_watch& watch) {
  auto &x = call.inputs[0], &ids = call.inputs[1];
  return checked(ids, "ids", x.size(dim_of(call)), watch).view(ids.sizes());
}

void gather(const aten_call& call, index_watch& watch) {
  const auto ids = places(call, watch);
  auto out = seen_signed(call.outputs[0]);
  if (out.numel() == 0 || call.inputs[0].numel() == 0) return;
  at::gather_out(out, seen_signed(call.inputs[0]), dim_of(call), ids);
}

void index_select(const aten_call& call, index_watch& watch) {
  const auto ids = places(call, watch);
  auto out = seen_signed(call.outputs[0]);
  if (out.numel() == 0 || call.inputs[0].numel() == 0) return;
  at::index_select_out(out, seen_signed(call.inputs[0]), dim_of(call), ids);
}

/// For each of ids the number of its place among all elements of x.
at::Tensor numbers_of(const at::Tensor& ids, const at::Tensor& x, int64_t dim) {
  auto out = at::zeros_like(ids);
  int64_t step = 1;
  for (int64_t i = x.dim(); i-- > 0;) {
    std::vector<int64_t> sizes(static_cast<size_t>(x.dim()), 1);
    sizes[static_cast<size_t>(i)] = ids.size(i);
    out += (i == dim ? ids : at::arange(ids.size(i), ids.options()).view(sizes)) * step;
    step *= x.size(i);
  }
  return out.reshape({-1});
}

/// Which of src stands at each place is found first: the last of those that want it.
void scatter(const aten_call& call, index_watch& watch) {
  const auto ids = places(call, watch);
  auto out = seen_signed(call.outputs[0]);
  auto &x = call.inputs[0], &src = call.inputs[2];
  out.copy_(x.scalar_type() == call.outputs[0].scalar_type() ? seen_signed(x) : x);
  if (ids.numel() == 0 || out.numel() == 0) return;
  const auto to = numbers_of(ids, x, dim_of(call));
  const auto last = at::full({out.numel()}, -1, to.options())
                      .scatter_reduce(0, to, at::arange(to.numel(), to.options()), "amax");
  const auto taken = src.to(call.outputs[0].scalar_type()).reshape({-1});
  const auto written = seen_signed(taken).index_select(0, last.clamp_min(0)).view(out.sizes());
  out.copy_(at::where(last.ge(0).view(out.sizes()), written, out));
}

void scatter_add(const aten_call& call, index_watch& watch) {
  const auto ids = places(call, watch);
  auto& out = call.outputs[0];
  auto &x = call.inputs[0], &src = call.inputs[2];
  out.copy_(x);
  if (ids.numel() == 0 || out.numel() == 0) return;
  if (!out.is_floating_point()) {
    out.scatter_add_(dim_of(call), ids, src.to(out.scalar_type()));
    return;
  }
  const auto sums = at::embedding_dense_backward(
    src.reshape({-1, 1}), numbers_of(ids, x, dim_of(call)), out.numel(), -1, false);
  out.add_(sums.view(out.sizes()));
}

void one_hot(const aten_call& call, index_watch& watch) {
  auto &ids = call.inputs[0], &out = call.outputs[0];
  const auto places = checked(ids, "ids", out.size(-1), watch);
  out.zero_();
  if (out.numel() > 0) out.view({-1, out.size(-1)}).scatter_(1, places.view({-1, 1}), 1);
}

} // namespace

aten_kernel find_picking_kernel(op id) noexcept {
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

} // namespace moxzi::device::aten
