#include "device/split_plan.hpp"

#include <algorithm>

namespace moxzi::device {

int64_t elements_held(const shape& dims, const placement& how, uint32_t devices) noexcept {
  const auto n = static_cast<int64_t>(std::max<uint32_t>(devices, 1));
  const auto part = [n](int64_t size) { return (size + n - 1) / n; };
  const auto all = dims.elements();
  switch (how.how) {
    case placed::whole:
    case placed::partial:
      return all;
    case placed::split:
      if (how.dim >= dims.rank() || dims[how.dim] == 0) return all;
      return all / dims[how.dim] * part(dims[how.dim]);
    case placed::sharded:
      return part(all);
  }
  return all;
}

namespace {

/// The program as one device runs it: what comes from others is a copy, made where it is first
/// read. Its types are those of whole values; the plan is told what a device has of each.
class local_program {
public:
  local_program(const typed_program& code, const split_program& how, uint32_t devices)
      : code_(code), how_(how), devices_(devices), scattered_(code.code.size()) {
    made_.axes = code.axes;
    made_.where = code.where;
    for (auto& one : how_.sent)
      if (one.kind == collective_kind::reduce_scatter) scattered_[one.what] = true;
  }

  uint64_t arena(const split_results& wanted) {
    std::multimap<reg, const std::vector<reg>*> ends;
    for (auto& group : wanted.consumed)
      if (!group.empty()) ends.emplace(std::ranges::max(group), &group);
    for (reg i = 0; i < code_.code.size(); ++i) {
      make(i);
      const auto [first, last] = ends.equal_range(i);
      for (auto group = first; group != last; ++group) consume(i, *group->second);
    }
    for (auto x : wanted.kept) request_.results.push_back(read(x, x));
    return make_plan({std::move(made_), {}}, request_).arena_bytes;
  }

private:
  void make(reg i) {
    auto what = code_.code[i];
    const bool second = what.id == op::second_of;
    for (auto& x : what.operands)
      if (x != no_register) x = second ? first_[x] : read(i, x);
    // Terms are of all of the value until they are joined and given out in parts.
    first_.push_back(add(std::move(what), i, scattered_[i] ? whole(i) : held(i)));
    made_.seconds.back() = code_.seconds[i];
    request_.second_bytes.back() = held_second(i);
    now_.push_back(first_.back());
    if (scattered_[i]) now_.back() = copy(i, held(i));
  }

  /// The register in which `reader` finds `x`.
  reg read(reg reader, reg x) {
    if (!how_.gathered.contains({reader, x})) return now_[x];
    auto [found, fresh] = whole_.try_emplace(x, no_register);
    if (fresh) found->second = copy(x, whole(x));
    return found->second;
  }

  reg copy(reg x, uint64_t bytes) {
    return add({op::contiguous, {now_[x]}, {}}, x, bytes);
  }

  /// Reads all of the group at once, and makes nothing of it.
  void consume(reg last, const std::vector<reg>& group) {
    operation what{op::stack, {}, {int64_t{0}}};
    for (auto x : group) what.operands.push_back(read(x, x));
    request_.results.push_back(add(std::move(what), last, 0));
  }

  reg add(operation what, reg like, uint64_t bytes) {
    made_.code.push_back(std::move(what));
    made_.types.push_back(code_.types[like]);
    made_.seconds.emplace_back();
    made_.origins.push_back(code_.origins[like]);
    request_.bytes.push_back(bytes);
    request_.second_bytes.push_back(0);
    return static_cast<reg>(made_.code.size() - 1);
  }

  uint64_t bytes(const register_type& type, const placement& place) const {
    return static_cast<uint64_t>(elements_held(type.dims, place, devices_) * size_of(type.storage));
  }
  uint64_t whole(reg x) const {
    return bytes(code_.types[x], {});
  }
  uint64_t held(reg x) const {
    return bytes(code_.types[x], how_.places[x]);
  }
  uint64_t held_second(reg x) const {
    return bytes(code_.seconds[x], how_.seconds[x]);
  }

  const typed_program& code_;
  const split_program& how_;
  const uint32_t devices_;
  std::vector<char> scattered_;
  typed_program made_;
  plan_request request_;
  std::vector<reg> first_;   ///< by register of the program that was given: the operation itself
  std::vector<reg> now_;     ///< and what a device has of it
  std::map<reg, reg> whole_; ///< what was put together
};

} // namespace

uint64_t arena_bytes(const typed_program& code, const split_program& how, uint32_t devices,
                     const split_results& wanted) {
  return local_program(code, how, devices).arena(wanted);
}

} // namespace moxzi::device
