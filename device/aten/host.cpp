#include "device/aten/host.hpp"

#include "device/aten/draws.hpp"
#include "device/aten/kernels.hpp"
#include "device/ops/table.hpp"
#include "device/pointwise/chain.hpp"

namespace moxzi::device::aten {

namespace {

at::Tensor tensor_of(const tensor_view& from) {
  // One element has no dimensions too; an absent operand has none at all.
  if (from.elements == 0 && from.dims.rank() == 0) return {};
  const auto options = at::TensorOptions().dtype(scalar_type(from.type));
  const auto sizes = from.dims.sizes(), strides = from.strides.sizes();
  const at::IntArrayRef dims(sizes.data(), sizes.size()), steps(strides.data(), strides.size());
  if (from.elements == 0) return at::empty(dims, options);
  return at::from_blob(from.data, dims, steps, nullptr, options);
}

/// The tensors of a call, kept as long as they stay where they are.
struct kept_call {
  aten_call call;
  std::vector<void*> where;
  bool draws = false; ///< it draws random numbers
};

bool run(const kernel_call& call, fault& why) {
  auto& memo = *call.memo;
  if (!memo) memo = std::make_shared<kept_call>();
  auto& kept = *std::static_pointer_cast<kept_call>(memo);
  const bool fresh = kept.where.empty();
  size_t n = 0;
  const auto bind = [&](std::span<const tensor_view> views, std::vector<at::Tensor>& to) {
    if (fresh) to.resize(views.size());
    for (size_t i = 0; i < views.size(); i++, n++) {
      if (!fresh && kept.where[n] == views[i].data) continue;
      to[i] = tensor_of(views[i]);
      if (fresh)
        kept.where.push_back(views[i].data);
      else
        kept.where[n] = views[i].data;
    }
  };
  bind(call.inputs, kept.call.inputs);
  bind(call.outputs, kept.call.outputs);
  if (fresh) {
    kept.call.attributes.assign(call.attributes.begin(), call.attributes.end());
    kept.call.origin = call.origin;
    kept.draws = !find_row(call.id)->pure;
    if (kept.draws) kept.call.draws = keys_of({}, at::kCPU);
  }
  if (kept.draws) set_keys(kept.call.draws, *call.draws);
  index_watch watch;
  watch.named = true;
  find_kernel(call.id)(kept.call, watch);
  if (!watch.first) return true;
  why = *watch.first;
  return false;
}

tensor_view view_of(const at::Tensor& from, elem type) {
  tensor_view out;
  out.data = from.data_ptr();
  out.elements = from.numel();
  out.type = type;
  for (int64_t i = 0; i < from.dim(); i++) {
    out.dims.push(from.size(i));
    out.strides.push(from.stride(i));
  }
  return out;
}

} // namespace

chain_function host_chain(const pointwise_chain& what) {
  return [&what](const aten_call& call) {
    std::vector<tensor_view> inputs, outputs;
    for (auto& x : call.inputs) inputs.push_back(view_of(x, elem_of(x.scalar_type())));
    for (auto& x : call.outputs) outputs.push_back(view_of(x, elem_of(x.scalar_type())));
    kernel_call host{inputs, outputs, {}, chain_op, &what};
    pointwise::run_chain(host, pointwise::precision::narrow, 0, outputs[0].elements);
  };
}

kernel_function find_host_kernel(op id) noexcept {
  return find_kernel(id) ? run : nullptr;
}

} // namespace moxzi::device::aten
