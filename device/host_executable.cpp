#include "device/host_executable.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/assert.hpp"
#include "base/memory.hpp"
#include "device/half.hpp"
#include "device/places.hpp"

namespace moxzi::device {

namespace {

class host_buffer final : public buffer {
public:
  explicit host_buffer(uint64_t size) {
    bytes = size;
    if (size > 0) data = std::aligned_alloc(tensor_alignment, aligned_up(size, tensor_alignment));
    if (data) std::memset(data, 0, size);
  }
  ~host_buffer() override {
    std::free(data);
  }
};

/// Less than this is taken without asking whether the machine has it.
constexpr uint64_t worth_asking = 16 << 20;

template <class From, float (*Convert)(From)>
void convert(byte_view from, float* to, int64_t elements) {
  for (int64_t i = 0; i < elements; ++i) {
    From value;
    std::memcpy(&value, from.data() + i * sizeof(From), sizeof(From));
    to[i] = Convert(value);
  }
}

float narrowed(double value) {
  return static_cast<float>(value);
}
float widened_f16(uint16_t bits) {
  return from_f16(bits);
}
float widened_bf16(uint16_t bits) {
  return from_bf16(bits);
}

template <class T>
double number(const void* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return static_cast<double>(value);
}

double number_at(const void* at, elem type) noexcept {
  switch (type) {
    case elem::f32:
      return number<float>(at);
    case elem::f64:
      return number<double>(at);
    case elem::u8:
    case elem::boolean:
      return number<uint8_t>(at);
    case elem::i8:
      return number<int8_t>(at);
    case elem::u16:
      return number<uint16_t>(at);
    case elem::i16:
      return number<int16_t>(at);
    case elem::u32:
      return number<uint32_t>(at);
    case elem::i32:
      return number<int32_t>(at);
    case elem::i64:
      return number<int64_t>(at);
    case elem::f16:
      return from_f16(static_cast<uint16_t>(number<uint16_t>(at)));
    case elem::bf16:
      return from_bf16(static_cast<uint16_t>(number<uint16_t>(at)));
  }
  return 0;
}

class host_executable final : public executable {
public:
  host_executable(const plan& what, const host_kernels& kernels, uint32_t threads, buffer_ptr arena,
                  buffer_ptr copies)
      : plan_(what), kernels_(kernels), arena_(std::move(arena)), copies_(std::move(copies)),
        parameters_(what.parameters.size()), inputs_(what.inputs.size()) {
    size_t inputs = 0, outputs = 0;
    for (auto& step : what.instructions) {
      inputs += step.inputs.size();
      outputs += step.outputs.size();
    }
    // Calls below keep addresses of these.
    views_.reserve(inputs + outputs);
    memos_.resize(what.instructions.size());
    for (auto& step : what.instructions) {
      auto first = views_.size();
      for (auto x : step.inputs) add_view(x);
      auto middle = views_.size();
      for (auto x : step.outputs) add_view(x);
      steps_.push_back(
        {kernels.find(step.id, what.tensors[step.outputs[0]].type),
         {std::span(views_).subspan(first, middle - first), std::span(views_).subspan(middle),
          step.attributes, step.id, &step.chain, &memos_[steps_.size()],
          what.parallel ? threads : 1, step.origin, &draws_}});
      moxzi_assert(steps_.back().run, "no kernel for {}", static_cast<int>(step.id));
    }
  }

  std::optional<fault> run(const run_arguments& with, run_results& out) override {
    bind_parameters(with.parameters);
    bind_inputs(with.inputs);
    draws_ = with.draws;
    fault why;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].run(steps_[i].call, why)) continue;
      why.instruction = static_cast<uint32_t>(i);
      return why;
    }
    read_back(out);
    write(with);
    train(with, out);
    return std::nullopt;
  }

  uint64_t memory_bytes() const noexcept override {
    return arena_->bytes + copies_->bytes;
  }

private:
  struct step {
    kernel_function run;
    kernel_call call;
  };
  /// A view into a parameter or an input, whose address is known at the run.
  struct patch {
    uint32_t view;
    uint32_t index;
    uint64_t offset;
  };

  void add_view(uint32_t tensor) {
    tensor_view view;
    if (tensor != no_tensor) {
      auto& what = plan_.tensors[tensor];
      const patch later{static_cast<uint32_t>(views_.size()), what.index, what.offset};
      switch (what.where) {
        case memory::arena:
          view.data = address(tensor);
          break;
        case memory::parameter:
          of_parameters_.push_back(later);
          break;
        case memory::input:
          of_inputs_.push_back(later);
          break;
      }
      view.elements = what.dims.elements();
      view.type = what.type;
      view.dims = what.dims;
      view.strides = what.strides;
    }
    views_.push_back(view);
  }

  void bind_parameters(std::span<void* const> parameters) {
    if (std::ranges::equal(parameters, parameters_)) return;
    parameters_.assign(parameters.begin(), parameters.end());
    patch_views(of_parameters_, parameters_);
  }

  /// What lies as the arena's tensors do is read where it is: an address of another alignment could
  /// change the last digits.
  void bind_inputs(std::span<const tensor> sent) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      auto& how = plan_.inputs[i];
      auto& from = sent[how.number];
      // Nothing writes through a view of an input.
      auto data = const_cast<char*>(from.data.data());
      if (how.cast || reinterpret_cast<uintptr_t>(data) % tensor_alignment != 0) {
        data = static_cast<char*>(copies_->data) + how.offset;
        place_input(how, from, data);
      }
      inputs_[i] = data;
    }
    patch_views(of_inputs_, inputs_);
  }

  void patch_views(const std::vector<patch>& which, const std::vector<void*>& bases) {
    for (auto& p : which) views_[p.view].data = static_cast<char*>(bases[p.index]) + p.offset;
  }

  void* address(uint32_t tensor) const {
    auto& what = plan_.tensors[tensor];
    void* base = arena_->data;
    if (what.where == memory::parameter) base = parameters_[what.index];
    if (what.where == memory::input) base = inputs_[what.index];
    return static_cast<char*>(base) + what.offset;
  }

  void read_back(run_results& out) const {
    out.scalars.resize(plan_.scalars.size());
    for (size_t i = 0; i < out.scalars.size(); ++i)
      out.scalars[i] = number_at(address(plan_.scalars[i]), plan_.tensors[plan_.scalars[i]].type);
    out.tensors.resize(plan_.results.size());
    for (size_t i = 0; i < out.tensors.size(); ++i) {
      auto& what = plan_.tensors[plan_.results[i]];
      out.tensors[i].assign(static_cast<const char*>(address(plan_.results[i])),
                            static_cast<size_t>(what.dims.elements()) * size_of(what.type));
    }
  }

  void write(const run_arguments& with) const {
    for (size_t i = 0; i < plan_.writes.size(); ++i) {
      auto& what = plan_.tensors[plan_.writes[i].tensor];
      auto bytes = static_cast<size_t>(what.dims.elements()) * size_of(what.type);
      if (bytes > 0) std::memcpy(with.writes[i], address(plan_.writes[i].tensor), bytes);
    }
  }

  void train(const run_arguments& with, run_results& out) {
    out.grad_norm.reset();
    out.skipped = false;
    if (with.accumulate) return gather(with, out);
    for_segments(with, [this](auto&, auto& segment) {
      if (segment.gathered_some && segment.gradient != no_tensor)
        kernels_.add(segment.gathered, address(segment.gradient), segment.elements, segment.type);
    });
    if (with.skip_nonfinite && !finite(with, true)) {
      out.skipped = true;
      if (!with.clip) return;
    }
    if (with.clip_value && !out.skipped)
      for_segments(with, [this, &with](auto&, auto& segment) {
        kernels_.bound(gradient(segment), segment.elements, segment.type, *with.clip_value);
      });
    double scale = 1;
    if (with.clip) {
      double sum = 0;
      for_segments(with, [this, &sum](auto&, auto& segment) {
        sum += kernels_.sum_of_squares(gradient(segment), segment.elements, segment.type);
      });
      out.grad_norm = std::sqrt(sum);
      auto wanted = *with.clip / (*out.grad_norm + 1e-6);
      scale = wanted > 1 ? 1 : wanted; // NaN stays
    }
    if (out.skipped) return;
    for_segments(with, [this, scale](auto& how, auto& segment) {
      kernels_.step(how, segment, gradient(segment), scale);
    });
  }

  void gather(const run_arguments& with, run_results& out) {
    out.skipped = with.skip_nonfinite && !finite(with, false);
    if (out.skipped) return;
    for_segments(with, [this](auto&, auto& segment) {
      auto from = address(segment.gradient);
      if (segment.gathered_some)
        kernels_.add(segment.gathered, from, segment.elements, segment.type);
      else
        std::memcpy(segment.gathered, from, segment.elements * size_of(segment.type));
    });
  }

  template <class Work>
  static void for_segments(const run_arguments& with, const Work& work) {
    for (auto& how : with.steps)
      for (auto& segment : how.segments)
        if (segment.elements > 0) work(how, segment);
  }

  /// The gradient of this run and, once it was added, of those gathered.
  void* gradient(const step_segment& of) const {
    return of.gathered_some ? of.gathered : address(of.gradient);
  }

  bool finite(const run_arguments& with, bool gathered_too) const {
    bool all = true;
    for_segments(with, [this, &all, gathered_too](auto&, auto& segment) {
      auto what = gathered_too ? gradient(segment) : address(segment.gradient);
      all = all && kernels_.finite(what, segment.elements, segment.type);
    });
    return all;
  }

  const plan& plan_;
  host_kernels kernels_;
  buffer_ptr arena_;
  buffer_ptr copies_;             ///< of inputs
  std::vector<void*> parameters_; ///< where they are in this run
  std::vector<void*> inputs_;
  draw_keys draws_;
  std::vector<tensor_view> views_;
  std::vector<std::shared_ptr<void>> memos_; ///< by step
  std::vector<step> steps_;
  std::vector<patch> of_parameters_, of_inputs_;
};

} // namespace

bool index_fault(fault& why, std::string_view name, int64_t value, int64_t size) {
  why.code = device_errc::index_range;
  why.what = size > 0
               ? fmt::format("{} holds {}; 0 to {} wanted", name, value, size - 1)
               : fmt::format("{} holds {}, but there is nothing to choose from", name, value);
  return false;
}

buffer_ptr allocate_host(uint64_t bytes, fault& why) {
  // Linux promises more than there is, and ends the process that takes it at its word.
  if (bytes >= worth_asking) {
    if (auto free = available_memory_bytes(); bytes > free) {
      why.code = device_errc::out_of_memory;
      why.what = fmt::format("{} bytes asked for, {} of the machine's free", bytes, free);
      return nullptr;
    }
  }
  auto made = std::make_shared<host_buffer>(bytes);
  if (made->data || bytes == 0) return made;
  why.code = device_errc::out_of_memory;
  why.what = fmt::format("{} bytes asked for; the machine has no more memory", bytes);
  return nullptr;
}

std::optional<fault> write_host(buffer& to, uint64_t offset, byte_view from) {
  moxzi_assert(offset <= to.bytes && from.size() <= to.bytes - offset);
  if (!from.empty()) std::memcpy(static_cast<char*>(to.data) + offset, from.data(), from.size());
  return std::nullopt;
}

std::optional<fault> read_host(const buffer& from, uint64_t offset, uint64_t bytes,
                               byte_string& to) {
  moxzi_assert(offset <= from.bytes && bytes <= from.bytes - offset);
  if (bytes == 0)
    to.clear();
  else
    to.assign(static_cast<const char*>(from.data) + offset, bytes);
  return std::nullopt;
}

std::unique_ptr<executable> make_host_executable(const plan& what, const host_kernels& kernels,
                                                 uint32_t threads, fault& why) {
  auto arena = allocate_host(std::max(what.arena_bytes, tensor_alignment), why);
  auto copies = allocate_host(what.input_bytes, why);
  if (!arena || !copies) return nullptr;
  return std::make_unique<host_executable>(what, kernels, threads, std::move(arena),
                                           std::move(copies));
}

void place_input(const planned_input& how, const tensor& from, void* to) {
  if (!how.cast) {
    if (!from.data.empty()) std::memcpy(to, from.data.data(), from.data.size());
    return;
  }
  auto out = static_cast<float*>(to);
  auto elements = static_cast<int64_t>(from.data.size() / size_of(from.type));
  switch (from.type) {
    case elem::f64:
      return convert<double, narrowed>(from.data, out, elements);
    case elem::f16:
      return convert<uint16_t, widened_f16>(from.data, out, elements);
    case elem::bf16:
      return convert<uint16_t, widened_bf16>(from.data, out, elements);
    default:
      moxzi_assert(false, "type={}", name_of(from.type));
  }
}

} // namespace moxzi::device
