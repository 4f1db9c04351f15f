#include "device/aten/executable.hpp"

#include <algorithm>
#include <cmath>

#include "device/aten/draws.hpp"
#include "device/aten/optimizer.hpp"
#include "device/host_executable.hpp"
#include "device/ops/table.hpp"

namespace moxzi::device::aten {

namespace {

uint64_t bytes_of(const planned_tensor& what) {
  return static_cast<uint64_t>(what.dims.elements()) * size_of(what.type);
}

at::Tensor flat(void* data, uint64_t elements, elem type, at::Device device) {
  const auto options = at::TensorOptions().dtype(scalar_type(type)).device(device);
  if (elements == 0) return at::empty({0}, options);
  return at::from_blob(data, {static_cast<int64_t>(elements)}, {1}, nullptr, options, device);
}

} // namespace

aten_executable::aten_executable(const plan& what, aten_place& place)
    : plan_(what), place_(place), bound_(what.parameters.size()), words_(place.words()) {
  const auto bytes = static_cast<int64_t>(std::max<uint64_t>(what.arena_bytes, 64));
  arena_ = at::zeros({bytes}, at::TensorOptions().dtype(at::kByte).device(place.device()));
  inputs_ = at::zeros({static_cast<int64_t>(what.input_bytes)}, arena_.options());
  tensors_.resize(what.tensors.size());
  for (size_t i = 0; i < tensors_.size(); i++) {
    auto& one = what.tensors[i];
    if (one.where == memory::arena) tensors_[i] = view(one, arena_.data_ptr());
    if (one.where == memory::input && what.input_bytes > 0)
      tensors_[i] =
        view(one, static_cast<char*>(inputs_.data_ptr()) + what.inputs[one.index].offset);
    else if (one.where == memory::input)
      tensors_[i] = view(one, nullptr);
  }
  draws_ = keys_of({}, place.device());
  for (auto& one : what.instructions)
    steps_.push_back({find_kernel(one.id),
                      one.id == chain_op ? place.make_chain(one.chain) : chain_function{},
                      {{}, {}, one.attributes, one.origin, draws_, words_ ? &words_ : nullptr}});
  bad_ = at::zeros({}, at::TensorOptions().dtype(at::kBool).device(place.device()));
  draws_any_ = std::ranges::any_of(what.instructions, [](const instruction& one) {
    return one.id != chain_op && !find_row(one.id)->pure;
  });
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
  recording_.reset();
  launched_ = false;
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
    if (steps_[i].chain)
      steps_[i].chain(steps_[i].call);
    else
      steps_[i].kernel(steps_[i].call, watch);
    if (watch.first) return static_cast<uint32_t>(i);
  }
  return std::nullopt;
}

std::optional<fault> aten_executable::name_fault(const run_arguments& with) {
  index_watch watch;
  watch.named = true;
  watch.bad = bad_;
  copy_in(with);
  const auto where = launch(watch);
  if (!where) return fault{device_errc::device_failed, "two runs of one plan differ"};
  watch.first->instruction = *where;
  return watch.first;
}

void aten_executable::launch_all() {
  const auto work = [this] {
    index_watch watch;
    watch.bad = bad_;
    bad_.zero_();
    launch(watch);
  };
  // Not the first time, when kernels are compiled and libraries set themselves up.
  if (launched_ && recordable_ && !recording_) {
    recording_ = place_.record(work);
    recordable_ = recording_ != nullptr;
  }
  if (recording_)
    recording_->replay();
  else
    work();
  launched_ = true;
}

at::Tensor aten_executable::read_numbers() const {
  std::vector<at::Tensor> numbers;
  for (auto n : plan_.scalars) numbers.push_back(tensors_[n].reshape({1}).to(at::kDouble));
  numbers.push_back(bad_.reshape({1}).to(at::kDouble));
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

void aten_executable::write(const run_arguments& with) const {
  for (size_t i = 0; i < plan_.writes.size(); i++) {
    auto& what = plan_.tensors[plan_.writes[i].tensor];
    if (what.dims.elements() > 0)
      tensor_at(with.writes[i], what.dims, what.type, place_.device())
        .copy_(tensors_[plan_.writes[i].tensor]);
  }
}

std::optional<fault> aten_executable::run(const run_arguments& with, run_results& out) {
  bind(with.parameters);
  copy_in(with);
  if (draws_any_) set_keys(draws_, with.draws);
  launch_all();
  const auto numbers = read_numbers();
  const auto* values = numbers.const_data_ptr<double>();
  if (values[plan_.scalars.size()] != 0) return name_fault(with);
  out.scalars.assign(values, values + plan_.scalars.size());
  read_tensors(out);
  write(with);
  train(with, out);
  return std::nullopt;
}

// -- training ------------------------------------------------------------------

namespace {

bool all_finite(const std::vector<at::Tensor>& gradients) {
  std::vector<at::Tensor> parts;
  for (auto& one : gradients) parts.push_back(one.isfinite().all());
  return parts.empty() || at::stack(parts).all().item<bool>();
}

double norm_of(const std::vector<at::Tensor>& gradients) {
  std::vector<at::Tensor> squares;
  for (auto& one : gradients) squares.push_back(one.to(at::kDouble).square().sum());
  return squares.empty() ? 0 : std::sqrt(at::stack(squares).sum().item<double>());
}

} // namespace

at::Tensor aten_executable::gradient(const step_segment& of, bool gathered_too) const {
  const auto device = place_.device();
  const bool some = of.gathered_some && gathered_too;
  if (of.gradient == no_tensor) return tensor_at(of.gathered, of.dims, of.type, device);
  const auto& sizes = of.dims.sizes();
  const auto own = tensors_[of.gradient].view(at::IntArrayRef(sizes.data(), sizes.size()));
  // Not added in place: the sum must still be there if anything fails.
  return some ? own + tensor_at(of.gathered, of.dims, of.type, device) : own;
}

void aten_executable::train(const run_arguments& with, run_results& out) const {
  out.grad_norm.reset();
  out.skipped = false;
  std::vector<at::Tensor> gradients; // of all segments that have elements, in order
  for (auto& how : with.steps)
    for (auto& segment : how.segments)
      if (segment.elements > 0) gradients.push_back(gradient(segment, !with.accumulate));
  if (with.skip_nonfinite) out.skipped = !all_finite(gradients);
  if (with.accumulate) {
    if (!out.skipped) gather(with, gradients);
    return;
  }
  if (with.clip_value && !out.skipped)
    for (auto& one : gradients) one.clamp_(-*with.clip_value, *with.clip_value);
  if (with.clip) {
    out.grad_norm = norm_of(gradients);
    const double wanted = *with.clip / (*out.grad_norm + 1e-6);
    // NaN too. Not in place: gradients may be parts of one another.
    if (!(wanted >= 1) && !out.skipped)
      for (auto& one : gradients) one = one * wanted;
  }
  if (out.skipped) return;
  auto next = gradients.begin();
  for (auto& how : with.steps) {
    std::vector<segment_tensors> on;
    for (auto& segment : how.segments) {
      if (segment.elements == 0) continue;
      on.push_back(tensors_of(how, segment, place_.device()));
      on.back().gradient = *next++;
    }
    take_step(how, std::move(on));
  }
}

void aten_executable::gather(const run_arguments& with,
                             const std::vector<at::Tensor>& gradients) const {
  auto next = gradients.begin();
  for (auto& how : with.steps)
    for (auto& segment : how.segments) {
      if (segment.elements == 0) continue;
      auto sum = tensor_at(segment.gathered, segment.dims, segment.type, place_.device());
      if (segment.gathered_some)
        sum.add_(*next++);
      else
        sum.copy_(*next++);
    }
}

} // namespace moxzi::device::aten
