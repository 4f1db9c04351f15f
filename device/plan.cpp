#include "device/plan.hpp"

#include <algorithm>
#include <map>

#include "base/assert.hpp"
#include "device/places.hpp"
#include "device/pointwise/open_chain.hpp"
#include "device/simplify.hpp"

namespace moxzi::device {

namespace {

/// Guessed speeds of one thread, to tell plans that are worth several threads.
constexpr double flops_per_s = 50e9, bytes_per_s = 10e9, parallel_from_s = 1e-3;

constexpr uint32_t forever = UINT32_MAX;

class planner {
public:
  planner(const differentiated& code, const plan_request& wanted)
      : program_(code.code), gradients_(code.gradients), wanted_(moved(wanted, code)),
        same_(common_registers(code.code)), tensor_of_(program_.code.size(), no_tensor),
        second_of_(program_.code.size(), no_tensor), uses_(program_.code.size()),
        open_(program_, same_) {
    // nop
  }

  plan make() {
    count_uses();
    // Numbers that depend on nothing, ahead, so that they interrupt no chain.
    for (size_t i = 0; i < program_.code.size(); ++i)
      if (uses_[i] > 0 && program_.code[i].id == op::scalar) place(static_cast<reg>(i));
    for (size_t i = 0; i < program_.code.size(); ++i)
      if (uses_[i] > 0 && program_.code[i].id != op::scalar) place(static_cast<reg>(i));
    flush();
    for (auto r : wanted_.scalars) out_.scalars.push_back(keep(tensor_of_[same_[r]]));
    for (auto r : wanted_.results) out_.results.push_back(keep(compact(r)));
    for (size_t i = 0; i < gradients_.size(); ++i) place_gradient(i);
    for (auto& [i, n] : writes_) place_write(i, n);
    assign_offsets();
    out_.parallel =
      out_.total.flops / flops_per_s + out_.total.bytes / bytes_per_s > parallel_from_s;
    return std::move(out_);
  }

private:
  static plan_request moved(plan_request wanted, const differentiated& code) {
    for (auto list : {&wanted.scalars, &wanted.results})
      for (auto& r : *list) r = code.at(r);
    return wanted;
  }

  // -- what is needed ----------------------------------------------------------

  /// Counts the readers of each register, those outside of the program too; what has none is left
  /// out, and so is what is the same as another.
  void count_uses() {
    for (auto r : wanted_.scalars) ++uses_[same_[r]];
    for (auto r : wanted_.results) ++uses_[same_[r]];
    for (auto r : gradients_)
      if (r != no_register) ++uses_[same_[r]];
    find_writes();
    for (size_t i = program_.code.size(); i-- > 0;)
      if (uses_[i] > 0)
        for (auto x : program_.code[i].operands)
          if (x != no_register) ++uses_[same_[x]];
  }

  /// Of several writes to one name only the last is made.
  void find_writes() {
    std::map<std::pair<bool, std::string>, std::pair<reg, size_t>> last;
    for (size_t i = 0; i < program_.code.size(); ++i) {
      auto kind = find_row(program_.code[i].id)->writes;
      if (kind == row_writes::nothing) continue;
      for (size_t n = 0; n < (kind == row_writes::statistics ? 2 : 1); ++n)
        last[{kind == row_writes::parameter,
              std::get<std::string>(program_.code[i].attributes[n])}] = {static_cast<reg>(i), n};
    }
    for (auto& [name, what] : last) {
      writes_.push_back(what);
      ++uses_[what.first];
    }
  }

  void place(reg i) {
    auto& what = program_.code[i];
    switch (find_row(what.id)->runs) {
      case row_runs::view:
        return place_view(i);
      case row_runs::kernel:
        return place_kernel(i);
      case row_runs::pointwise:
        return place_pointwise(i);
      case row_runs::bound:
        return place_bound(i);
    }
  }

  void place_bound(reg i) {
    auto& what = program_.code[i];
    auto& type = program_.types[i];
    if (what.id == op::input) {
      tensor_of_[i] = input(static_cast<uint32_t>(std::get<int64_t>(what.attributes[0])), type);
    } else if (what.id == op::param || what.id == op::value) {
      tensor_of_[i] = named(std::get<std::string>(what.attributes[0]), type, what.id == op::value);
    } else {
      moxzi_assert(what.id == op::second_of, "id={}", static_cast<int>(what.id));
      tensor_of_[i] = second_of_[same_[what.operands[0]]];
    }
  }

  uint32_t input(uint32_t number, const register_type& type) {
    auto [found, fresh] = input_tensor_.try_emplace(number, no_tensor);
    if (fresh) {
      auto sent = program_.where.inputs[number].type;
      found->second = add({memory::input, static_cast<uint32_t>(out_.inputs.size()), 0,
                           type.storage, type.dims, row_major_strides(type.dims)},
                          no_tensor);
      out_.inputs.push_back({number, found->second, out_.input_bytes, sent, sent != type.storage});
      out_.input_bytes += aligned_up(aligned_bytes(bytes_of(type)), tensor_alignment);
    }
    return found->second;
  }

  uint32_t parameter(const std::string& name, const register_type& type, bool stored = false) {
    auto [found, fresh] = (stored ? value_ : parameter_)
                            .try_emplace(name, static_cast<uint32_t>(out_.parameters.size()));
    if (fresh) out_.parameters.push_back({name, type.storage, type.dims, no_tensor, stored});
    return found->second;
  }

  /// A parameter's or a stored value's own memory.
  uint32_t named(const std::string& name, const register_type& type, bool stored) {
    auto n = parameter(name, type, stored);
    return add({memory::parameter, n, 0, type.storage, type.dims, row_major_strides(type.dims)},
               no_tensor);
  }

  // -- views -------------------------------------------------------------------

  void place_view(reg i) {
    auto& what = program_.code[i];
    auto how = find_row(what.id);
    std::vector<const register_type*> operands;
    for (auto x : what.operands)
      operands.push_back(x == no_register ? nullptr : &program_.types[x]);
    typed_call call{operands, &program_.types[i], what.attributes};
    auto source = settled(what.operands[0]);
    auto look = how->look(call, out_.tensors[source].strides);
    if (!look) {
      source = compact(what.operands[0]);
      look = how->look(call, out_.tensors[source].strides);
      moxzi_assert(look.has_value(), "no look at {}", how->name);
    }
    tensor_of_[i] = add(seen(source, *look, program_.types[i].dims), block_of_[source]);
  }

  planned_tensor seen(uint32_t source, const look& how, const shape& dims) const {
    auto view = out_.tensors[source];
    view.offset += static_cast<uint64_t>(how.offset * size_of(view.type));
    view.dims = dims;
    view.strides = how.strides;
    return view;
  }

  // -- kernels -----------------------------------------------------------------

  void place_kernel(reg i) {
    flush(); // what the chain reads need not live longer
    auto& what = program_.code[i];
    auto how = find_row(what.id);
    instruction step{what.id, program_.origins[i], {}, {}, what.attributes};
    for (auto x : what.operands)
      step.inputs.push_back(x == no_register ? no_tensor : how->strided ? settled(x) : compact(x));
    for (size_t n = 0; n < how->reads_values; ++n) {
      auto& name = std::get<std::string>(what.attributes[n]);
      auto found = program_.where.values.find(name);
      bool there = found != program_.where.values.end();
      step.inputs.push_back(there ? named(name, found->second, true) : no_tensor);
    }
    count_cost(i);
    tensor_of_[i] = allocate(i);
    step.outputs.push_back(tensor_of_[i]);
    if (how->infer_second) {
      second_of_[i] = allocate(program_.seconds[i], wanted_.second_bytes, i);
      step.outputs.push_back(second_of_[i]);
    }
    push(std::move(step));
  }

  void count_cost(reg i) {
    auto& what = program_.code[i];
    auto how = find_row(what.id);
    if (!how->costs) return;
    std::vector<const register_type*> operands;
    for (auto x : what.operands)
      operands.push_back(x == no_register ? nullptr : &program_.types[x]);
    auto part = how->costs({operands, &program_.types[i], what.attributes});
    out_.total.flops += part.flops;
    out_.total.bytes += part.bytes;
  }

  // -- pointwise chains --------------------------------------------------------

  void place_pointwise(reg i) {
    count_cost(i);
    if (!open_.takes(i)) flush();
    for (auto x : program_.code[i].operands)
      if (!open_.has(same_[x])) moxzi_assert(tensor_of_[same_[x]] != no_tensor, "register {}", x);
    open_.add(i);
  }

  /// Makes the open chain an instruction. Results that only it reads stay inside.
  void flush() {
    if (open_.empty()) return;
    auto& dims = program_.types[open_.members()[0]].dims;
    instruction step{chain_op, program_.origins[open_.members()[0]], {}, {}, {}};
    for (auto x : open_.inputs()) step.inputs.push_back(broadcast(tensor_of_[x], dims));
    step.chain = open_.take(uses_);
    for (auto n : step.chain.results) {
      auto r = open_.taken()[n];
      tensor_of_[r] = allocate(r);
      step.outputs.push_back(tensor_of_[r]);
    }
    allow_in_place(step);
    push(std::move(step));
  }

  /// The tensor as if it had the shape `dims`, with strides of 0 where it is repeated.
  uint32_t broadcast(uint32_t tensor, const shape& dims) {
    auto view = out_.tensors[tensor];
    if (view.dims == dims) return tensor;
    shape strides = dims;
    auto missing = dims.rank() - view.dims.rank();
    for (size_t i = 0; i < dims.rank(); ++i)
      strides[i] = i < missing || view.dims[i - missing] != dims[i] ? 0 : view.strides[i - missing];
    view.dims = dims;
    view.strides = strides;
    return add(view, block_of_[tensor]);
  }

  /// An output may be where an input is that nobody reads later, neither another instruction nor a
  /// later step of the chain, if it is read place by place.
  void allow_in_place(const instruction& step) {
    auto& chain = step.chain;
    for (size_t n = 0; n < step.outputs.size(); ++n) {
      auto& to = out_.tensors[step.outputs[n]];
      for (auto x : step.inputs) {
        auto mine = block_of_[x];
        if (mine == no_tensor) continue;
        bool safe = true;
        for (uint32_t y = 0; y < step.inputs.size(); ++y) {
          auto& from = out_.tensors[step.inputs[y]];
          if (block_of_[step.inputs[y]] != mine) continue;
          safe = safe && from.offset == 0 && from.is_contiguous()
                 && size_of(from.type) == size_of(to.type)
                 && !reads_after(chain, y, chain.results[n]);
        }
        if (safe) blocks_[block_of_[step.outputs[n]]].may_replace.push_back(mine);
      }
    }
  }

  static bool reads_after(const pointwise_chain& chain, uint32_t input, uint32_t step) {
    for (auto i = step + 1; i < chain.steps.size(); ++i)
      if (std::ranges::count(chain.steps[i].operands, input) > 0) return true;
    return false;
  }

  // -- tensors -----------------------------------------------------------------

  /// The register's tensor, with gaps or without.
  uint32_t settled(reg i) {
    if (open_.has(same_[i])) flush();
    return tensor_of_[same_[i]];
  }

  /// The register's tensor without gaps: itself, or a copy made once.
  uint32_t compact(reg i) {
    auto source = settled(i);
    if (out_.tensors[source].is_contiguous()) return source;
    auto copy = allocate(i);
    push({op::contiguous, program_.origins[i], {source}, {copy}, {}});
    return tensor_of_[same_[i]] = copy;
  }

  void place_gradient(size_t n) {
    if (gradients_[n] == no_register) return;
    // It was differentiated, so the program reads it; but a needed gradient need not need it.
    auto& name = wanted_.differentiate[n];
    auto found = program_.where.parameters.find(name);
    auto at = parameter(name, found->second);
    out_.parameters[at].gradient = keep(apart(gradients_[n]));
  }

  /// As `compact`, and the plan's own memory: a gradient must not change with the steps.
  uint32_t apart(reg i) {
    auto source = compact(i);
    if (out_.tensors[source].where == memory::arena) return source;
    auto copy = allocate(i);
    push({op::contiguous, program_.origins[i], {source}, {copy}, {}});
    return copy;
  }

  /// What is written `n`th by an operation. It is copied if it is a parameter's own memory, which
  /// another write or the training step may change before it is read.
  void place_write(reg i, size_t n) {
    auto& what = program_.code[i];
    auto kind = find_row(what.id)->writes;
    auto type = program_.types[i];
    auto tensor = kind == row_writes::statistics ? no_tensor : compact(i);
    if (kind == row_writes::statistics) {
      type = program_.seconds[i];
      auto source = second_of_[i];
      shape dims{type.dims[1]};
      tensor = add(seen(source, {static_cast<int64_t>(n) * dims[0], {1}}, dims), block_of_[source]);
    } else if (out_.tensors[tensor].where == memory::parameter) {
      auto copy = allocate(i);
      push({op::contiguous, program_.origins[i], {tensor}, {copy}, {}});
      tensor = copy;
    }
    out_.writes.push_back({std::get<std::string>(what.attributes[n]), keep(tensor), type.type,
                           kind == row_writes::parameter});
  }

  uint32_t add(planned_tensor what, uint32_t in_block) {
    out_.tensors.push_back(what);
    block_of_.push_back(in_block);
    return static_cast<uint32_t>(out_.tensors.size() - 1);
  }

  static uint64_t bytes_of(const register_type& type) {
    return static_cast<uint64_t>(type.dims.elements()) * size_of(type.storage);
  }

  static uint64_t aligned_bytes(uint64_t bytes) {
    return aligned_up(bytes, alignment_of(bytes));
  }

  uint32_t allocate(reg i) {
    return allocate(program_.types[i], wanted_.bytes, i);
  }

  uint32_t allocate(const register_type& type, const std::vector<uint64_t>& parts, reg i) {
    auto now = static_cast<uint32_t>(out_.instructions.size());
    blocks_.push_back({aligned_bytes(parts.empty() ? bytes_of(type) : parts[i]), 0, now, now});
    return add({memory::arena, 0, 0, type.storage, type.dims, row_major_strides(type.dims)},
               static_cast<uint32_t>(blocks_.size() - 1));
  }

  void push(instruction step) {
    auto now = static_cast<uint32_t>(out_.instructions.size());
    for (auto x : step.inputs)
      if (x != no_tensor && block_of_[x] != no_tensor) blocks_[block_of_[x]].last = now;
    out_.instructions.push_back(std::move(step));
  }

  uint32_t keep(uint32_t tensor) {
    if (block_of_[tensor] != no_tensor) blocks_[block_of_[tensor]].last = forever;
    return tensor;
  }

  void assign_offsets() {
    out_.arena_bytes = assign_places(blocks_);
    for (size_t i = 0; i < out_.tensors.size(); ++i)
      if (block_of_[i] != no_tensor) out_.tensors[i].offset += blocks_[block_of_[i]].offset;
  }

  const typed_program& program_;
  const std::vector<reg>& gradients_;
  const plan_request wanted_; ///< registers as they are now
  plan out_;
  std::vector<reg> same_;           ///< by register: the one that stands for it
  std::vector<uint32_t> tensor_of_; ///< by register
  std::vector<uint32_t> second_of_;
  std::vector<uint32_t> block_of_; ///< by tensor
  std::vector<block> blocks_;
  std::vector<uint32_t> uses_; ///< by register: how many read it; 0 = it isn't made
  pointwise::open_chain open_;
  std::map<uint32_t, uint32_t> input_tensor_;
  std::map<std::string, uint32_t> parameter_, value_;
  std::vector<std::pair<reg, size_t>> writes_; ///< operations, and which of what they write
};

} // namespace

bool planned_tensor::is_contiguous() const noexcept {
  return is_row_major(dims, strides);
}

plan make_plan(const differentiated& code, const plan_request& wanted) {
  return planner(code, wanted).make();
}

} // namespace moxzi::device
