#include "device/plan.hpp"

#include <algorithm>
#include <map>

#include "base/assert.hpp"

namespace moxzi::device {

namespace {

constexpr uint64_t alignment = 64;
/// Guessed speeds of one thread, to tell plans that are worth several threads.
constexpr double flops_per_s = 50e9, bytes_per_s = 10e9, parallel_from_s = 1e-3;

constexpr uint32_t forever = UINT32_MAX;

/// A piece of the arena, from the instruction that writes it to the last that reads it.
struct block {
  uint64_t bytes = 0;
  uint64_t offset = 0;
  uint32_t first = 0;
  uint32_t last = 0;
};

/// Hands out places in a buffer that grows as far as needed: first fit, neighbours joined.
class arena_places {
public:
  uint64_t take(uint64_t bytes) {
    for (auto i = free_.begin(); i != free_.end(); ++i) {
      auto [offset, size] = *i;
      if (size < bytes) continue;
      free_.erase(i);
      if (size > bytes) free_.emplace(offset + bytes, size - bytes);
      return offset;
    }
    auto offset = end_;
    // A hole at the end is part of the new place.
    if (!free_.empty() && free_.rbegin()->first + free_.rbegin()->second == end_) {
      offset = free_.rbegin()->first;
      free_.erase(std::prev(free_.end()));
    }
    end_ = offset + bytes;
    return offset;
  }

  void give_back(uint64_t offset, uint64_t bytes) {
    auto next = free_.lower_bound(offset);
    if (next != free_.end() && next->first == offset + bytes) {
      bytes += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == offset) {
        before->second += bytes;
        return;
      }
    }
    free_.emplace(offset, bytes);
  }

  uint64_t end() const noexcept {
    return end_;
  }

private:
  std::map<uint64_t, uint64_t> free_;
  uint64_t end_ = 0;
};

class planner {
public:
  planner(const differentiated& code, const plan_request& wanted)
      : program_(code.code), gradients_(code.gradients), wanted_(wanted),
        tensor_of_(program_.code.size(), no_tensor), second_of_(program_.code.size(), no_tensor) {
    // nop
  }

  plan make() {
    mark_needed();
    for (size_t i = 0; i < program_.code.size(); ++i)
      if (needed_[i]) place(static_cast<reg>(i));
    for (auto r : wanted_.scalars) out_.scalars.push_back(keep(tensor_of_[r]));
    for (auto r : wanted_.results) out_.results.push_back(keep(compact(r)));
    for (size_t i = 0; i < gradients_.size(); ++i) place_gradient(i);
    assign_offsets();
    out_.parallel =
      out_.total.flops / flops_per_s + out_.total.bytes / bytes_per_s > parallel_from_s;
    return std::move(out_);
  }

private:
  void mark_needed() {
    needed_.resize(program_.code.size());
    for (auto r : wanted_.scalars) needed_[r] = 1;
    for (auto r : wanted_.results) needed_[r] = 1;
    for (auto r : gradients_)
      if (r != no_register) needed_[r] = 1;
    for (size_t i = program_.code.size(); i-- > 0;)
      if (needed_[i])
        for (auto x : program_.code[i].operands)
          if (x != no_register) needed_[x] = 1;
  }

  void place(reg i) {
    auto& what = program_.code[i];
    auto& type = program_.types[i];
    switch (find_row(what.id)->runs) {
      case row_runs::view:
        place_view(i);
        break;
      case row_runs::kernel:
        place_kernel(i);
        break;
      case row_runs::bound:
        if (what.id == op::input) {
          tensor_of_[i] = input(static_cast<uint32_t>(std::get<int64_t>(what.attributes[0])), type);
        } else if (what.id == op::param) {
          auto n = parameter(std::get<std::string>(what.attributes[0]), type);
          tensor_of_[i] =
            add({memory::parameter, n, 0, type.storage, type.dims, row_major_strides(type.dims)},
                no_tensor);
        } else {
          tensor_of_[i] = second_of_[what.operands[0]];
        }
        break;
    }
  }

  uint32_t input(uint32_t number, const register_type& type) {
    auto [found, fresh] = input_tensor_.try_emplace(number, no_tensor);
    if (fresh) {
      auto sent = program_.where.inputs[number].type;
      found->second = allocate(type);
      out_.inputs.push_back({number, found->second, sent, sent != type.storage});
    }
    return found->second;
  }

  uint32_t parameter(const std::string& name, const register_type& type) {
    auto [found, fresh] =
      parameter_.try_emplace(name, static_cast<uint32_t>(out_.parameters.size()));
    if (fresh) out_.parameters.push_back({name, type.storage, type.dims, no_tensor});
    return found->second;
  }

  void place_view(reg i) {
    auto& what = program_.code[i];
    auto source = tensor_of_[what.operands[0]];
    if (what.id == op::narrow) {
      auto view = out_.tensors[source];
      auto dim = static_cast<size_t>(std::get<int64_t>(what.attributes[0]));
      auto start = std::get<int64_t>(what.attributes[1]);
      view.offset += static_cast<uint64_t>(start * view.strides[dim]) * size_of(view.type);
      view.dims = program_.types[i].dims;
      tensor_of_[i] = add(view, block_of_[source]);
      return;
    }
    moxzi_assert(what.id == op::reshape, "id={}", static_cast<int>(what.id));
    source = compact(what.operands[0]);
    auto view = out_.tensors[source];
    view.dims = program_.types[i].dims;
    view.strides = row_major_strides(view.dims);
    tensor_of_[i] = add(view, block_of_[source]);
  }

  void place_kernel(reg i) {
    auto& what = program_.code[i];
    auto how = find_row(what.id);
    instruction step{what.id, program_.origins[i], {}, {}, what.attributes};
    std::vector<const register_type*> operands;
    for (auto x : what.operands) {
      step.inputs.push_back(x == no_register ? no_tensor : compact(x));
      operands.push_back(x == no_register ? nullptr : &program_.types[x]);
    }
    if (how->costs) {
      auto part = how->costs({operands, &program_.types[i], what.attributes});
      out_.total.flops += part.flops;
      out_.total.bytes += part.bytes;
    }
    tensor_of_[i] = allocate(program_.types[i]);
    step.outputs.push_back(tensor_of_[i]);
    if (how->infer_second) {
      second_of_[i] = allocate(program_.seconds[i]);
      step.outputs.push_back(second_of_[i]);
    }
    push(std::move(step));
  }

  /// The register's tensor without gaps: itself, or a copy made once.
  uint32_t compact(reg i) {
    auto source = tensor_of_[i];
    if (out_.tensors[source].is_contiguous()) return source;
    auto copy = allocate(program_.types[i]);
    push({op::contiguous, program_.origins[i], {source}, {copy}, {}});
    return tensor_of_[i] = copy;
  }

  void place_gradient(size_t n) {
    if (gradients_[n] == no_register) return;
    // It was differentiated, so the program reads it; but a needed gradient need not need it.
    auto& name = wanted_.differentiate[n];
    auto found = program_.where.parameters.find(name);
    auto at = parameter(name, found->second);
    out_.parameters[at].gradient = keep(compact(gradients_[n]));
  }

  uint32_t add(planned_tensor what, uint32_t in_block) {
    out_.tensors.push_back(what);
    block_of_.push_back(in_block);
    return static_cast<uint32_t>(out_.tensors.size() - 1);
  }

  uint32_t allocate(const register_type& type) {
    auto bytes = static_cast<uint64_t>(type.dims.elements()) * size_of(type.storage);
    bytes = (bytes + alignment - 1) / alignment * alignment;
    auto now = static_cast<uint32_t>(out_.instructions.size());
    blocks_.push_back({bytes, 0, now, now});
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

  /// Inputs are written before the first instruction, so their places are nobody else's until they
  /// have been read; the blocks are in the order in which they are first written.
  void assign_offsets() {
    for (auto& how : out_.inputs) blocks_[block_of_[how.tensor]].first = 0;
    std::vector<uint32_t> order(blocks_.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [this](uint32_t i) { return blocks_[i].first; });
    arena_places places;
    std::multimap<uint32_t, uint32_t> ends;
    for (auto i : order) {
      auto& mine = blocks_[i];
      while (!ends.empty() && ends.begin()->first < mine.first) {
        auto& over = blocks_[ends.begin()->second];
        places.give_back(over.offset, over.bytes);
        ends.erase(ends.begin());
      }
      if (mine.bytes == 0) continue;
      mine.offset = places.take(mine.bytes);
      ends.emplace(mine.last, i);
    }
    for (size_t i = 0; i < out_.tensors.size(); ++i)
      if (block_of_[i] != no_tensor) out_.tensors[i].offset += blocks_[block_of_[i]].offset;
    out_.arena_bytes = places.end();
  }

  const typed_program& program_;
  const std::vector<reg>& gradients_;
  const plan_request& wanted_;
  plan out_;
  std::vector<uint32_t> tensor_of_; ///< by register
  std::vector<uint32_t> second_of_;
  std::vector<uint32_t> block_of_; ///< by tensor
  std::vector<block> blocks_;
  std::vector<char> needed_;
  std::map<uint32_t, uint32_t> input_tensor_;
  std::map<std::string, uint32_t> parameter_;
};

} // namespace

bool planned_tensor::is_contiguous() const noexcept {
  int64_t step = 1;
  for (size_t i = dims.rank(); i-- > 0;) {
    if (dims[i] != 1 && strides[i] != step) return dims.elements() == 0;
    step *= dims[i];
  }
  return true;
}

plan make_plan(const differentiated& code, const plan_request& wanted) {
  return planner(code, wanted).make();
}

} // namespace moxzi::device
