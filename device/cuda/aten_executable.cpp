#include "device/cuda/aten_executable.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "device/host_executable.hpp"

namespace moxzi::device::cuda {

namespace {

uint64_t bytes_of(const planned_tensor& what) {
  return static_cast<uint64_t>(what.dims.elements()) * size_of(what.type);
}

at::Tensor flat(void* data, uint64_t elements, elem type, at::Device device) {
  const auto options = at::TensorOptions().dtype(scalar_type(type)).device(device);
  if (elements == 0) return at::empty({0}, options);
  return at::from_blob(data, {static_cast<int64_t>(elements)}, {1}, nullptr, options, device);
}

/// The tensors of segments of one type, as ATen's fused optimizers want them.
struct segment_lists {
  std::vector<at::Tensor> parameters, gradients, first_moments, second_moments, steps;
};

void apply(const optimizer_step& how, segment_lists& on) {
  if (how.kind == optimizer_kind::adamw)
    at::_fused_adamw_(on.parameters, on.gradients, on.first_moments, on.second_moments, {},
                      on.steps, how.lr, how.beta1, how.beta2, how.weight_decay, how.eps, false,
                      false);
  else
    at::_fused_adam_(on.parameters, on.gradients, on.first_moments, on.second_moments, {}, on.steps,
                     how.lr, how.beta1, how.beta2, how.weight_decay, how.eps, false, false);
}

} // namespace

aten_executable::aten_executable(const plan& what, aten_place& place)
    : plan_(what), place_(place), bound_(what.parameters.size()) {
  const auto bytes = static_cast<int64_t>(std::max<uint64_t>(what.arena_bytes, 64));
  arena_ = at::zeros({bytes}, at::TensorOptions().dtype(at::kByte).device(place.device()));
  tensors_.resize(what.tensors.size());
  for (size_t i = 0; i < tensors_.size(); i++)
    if (what.tensors[i].where == memory::arena)
      tensors_[i] = view(what.tensors[i], arena_.data_ptr());
  for (auto& one : what.instructions)
    steps_.push_back({find_aten_kernel(one.id), {{}, {}, one.attributes}});
}

at::Tensor aten_executable::view(const planned_tensor& what, void* base) const {
  const auto options = at::TensorOptions().dtype(scalar_type(what.type)).device(place_.device());
  const auto sizes = what.dims.sizes(), strides = what.strides.sizes();
  const at::IntArrayRef dims(sizes.data(), sizes.size()), steps(strides.data(), strides.size());
  if (what.dims.elements() == 0) return at::empty(dims, options);
  return at::from_blob(static_cast<char*>(base) + what.offset, dims, steps, nullptr, options,
                       place_.device());
}

/// Tensors are made anew when a parameter has moved, which is seldom.
void aten_executable::bind(std::span<void* const> parameters) {
  const bool fresh = !steps_.empty() && steps_[0].call.outputs.empty();
  if (!fresh && std::ranges::equal(parameters, bound_)) return;
  bound_.assign(parameters.begin(), parameters.end());
  for (size_t i = 0; i < tensors_.size(); i++)
    if (plan_.tensors[i].where == memory::parameter)
      tensors_[i] = view(plan_.tensors[i], bound_[plan_.tensors[i].index]);
  const auto pick = [this](const std::vector<uint32_t>& which) {
    std::vector<at::Tensor> out;
    for (auto x : which) out.push_back(x == no_tensor ? at::Tensor{} : tensors_[x]);
    return out;
  };
  for (size_t i = 0; i < steps_.size(); i++) {
    steps_[i].call.inputs = pick(plan_.instructions[i].inputs);
    steps_[i].call.outputs = pick(plan_.instructions[i].outputs);
  }
}

void aten_executable::copy_in(const run_arguments& with) {
  for (auto& how : plan_.inputs) {
    auto& to = plan_.tensors[how.tensor];
    if (to.dims.elements() == 0) continue;
    staging_.resize(bytes_of(to));
    place_input(how, with.inputs[how.number], staging_.data());
    tensors_[how.tensor].view({-1}).copy_(flat(
      staging_.data(), static_cast<uint64_t>(to.dims.elements()), to.type, at::Device(at::kCPU)));
  }
}

std::optional<uint32_t> aten_executable::launch(index_watch& watch) {
  for (size_t i = 0; i < steps_.size(); i++) {
    steps_[i].kernel(steps_[i].call, watch);
    if (watch.first) return static_cast<uint32_t>(i);
  }
  return std::nullopt;
}

std::optional<fault> aten_executable::name_fault(const run_arguments& with) {
  index_watch watch;
  watch.named = true;
  watch.bad = at::zeros({}, at::TensorOptions().dtype(at::kBool).device(place_.device()));
  copy_in(with);
  const auto where = launch(watch);
  if (!where) return fault{device_errc::device_failed, "two runs of one plan differ"};
  watch.first->instruction = *where;
  return watch.first;
}

at::Tensor aten_executable::read_numbers(const index_watch& watch) const {
  std::vector<at::Tensor> numbers;
  for (auto n : plan_.scalars) numbers.push_back(tensors_[n].reshape({1}).to(at::kDouble));
  numbers.push_back(watch.bad.reshape({1}).to(at::kDouble));
  return at::cat(numbers).to(at::kCPU);
}

void aten_executable::read_tensors(run_results& out) const {
  out.tensors.resize(plan_.results.size());
  for (size_t i = 0; i < out.tensors.size(); i++) {
    auto& what = plan_.tensors[plan_.results[i]];
    out.tensors[i].resize(bytes_of(what));
    if (what.dims.elements() > 0)
      flat(out.tensors[i].data(), static_cast<uint64_t>(what.dims.elements()), what.type,
           at::Device(at::kCPU))
        .copy_(tensors_[plan_.results[i]].view({-1}));
  }
}

std::optional<fault> aten_executable::run(const run_arguments& with, run_results& out) {
  bind(with.parameters);
  copy_in(with);
  index_watch watch;
  watch.bad = at::zeros({}, at::TensorOptions().dtype(at::kBool).device(place_.device()));
  launch(watch);
  const auto numbers = read_numbers(watch);
  const auto* values = numbers.const_data_ptr<double>();
  if (values[plan_.scalars.size()] != 0) return name_fault(with);
  out.scalars.assign(values, values + plan_.scalars.size());
  read_tensors(out);
  out.grad_norm.reset();
  if (with.clip) clip(with, out);
  train(with);
  return std::nullopt;
}

void aten_executable::clip(const run_arguments& with, run_results& out) const {
  std::vector<at::Tensor> squares;
  std::map<uint32_t, at::Tensor> gradients; // one may be that of several parameters
  for (auto& how : with.steps)
    for (auto& segment : how.segments) {
      if (segment.elements == 0) continue;
      auto& gradient = gradients[segment.gradient] = tensors_[segment.gradient];
      squares.push_back(gradient.to(at::kDouble).square().sum());
    }
  const double norm = squares.empty() ? 0 : std::sqrt(at::stack(squares).sum().item<double>());
  const double wanted = *with.clip / (norm + 1e-6);
  out.grad_norm = norm;
  if (wanted >= 1) return;
  for (auto& [number, gradient] : gradients) gradient.mul_(wanted);
}

void aten_executable::train(const run_arguments& with) const {
  const auto device = place_.device();
  for (auto& how : with.steps) {
    std::map<elem, segment_lists> by_type;
    for (auto& one : how.segments) {
      if (one.elements == 0) continue;
      auto& lists = by_type[one.type];
      lists.parameters.push_back(flat(one.parameter, one.elements, one.type, device));
      lists.gradients.push_back(tensors_[one.gradient].view({-1}));
      lists.first_moments.push_back(flat(one.first_moment, one.elements, one.type, device));
      lists.second_moments.push_back(flat(one.second_moment, one.elements, one.type, device));
      lists.steps.push_back(at::full({}, static_cast<double>(one.step),
                                     at::TensorOptions().dtype(at::kFloat).device(device)));
    }
    for (auto& [type, lists] : by_type) apply(how, lists);
  }
}

} // namespace moxzi::device::cuda
