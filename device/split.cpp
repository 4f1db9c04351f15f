#include "device/split.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "device/ops/reduction.hpp"
#include "device/ops/table.hpp"

namespace moxzi::device {

std::string_view name_of(collective_kind kind) noexcept {
  switch (kind) {
    case collective_kind::all_reduce:
      return "all-reduce";
    case collective_kind::all_gather:
      return "all-gather";
    case collective_kind::reduce_scatter:
      return "reduce-scatter";
  }
  return "";
}

std::string_view name_of(joined how) noexcept {
  switch (how) {
    case joined::sum:
      return "sum";
    case joined::mean:
      return "mean";
    case joined::max:
      return "max";
    case joined::min:
      return "min";
  }
  return "";
}

int64_t split_program::bytes() const noexcept {
  return std::accumulate(sent.begin(), sent.end(), int64_t{0},
                         [](int64_t sum, const collective& one) { return sum + one.bytes(); });
}

namespace {

// One way to run an operation: what its result is then, and what must be gathered before.
struct way {
  placement result;
  std::vector<int> dims; ///< of operands; -1 = whole
  int64_t gathered = 0;
};

class splitter {
public:
  splitter(const typed_program& code, const split_request& how) : code_(code), how_(how) {
    const auto n = code.code.size();
    out_.places.resize(n);
    out_.seconds.resize(n);
    out_.shares.assign(n, 1);
    whole_.assign(n, false);
    for (auto& need : how.needs) needs_.emplace(need.what, need);
  }

  split_program run() {
    for (reg i = 0; i < code_.code.size(); ++i) {
      place(i);
      const auto [first, last] = needs_.equal_range(i);
      for (auto need = first; need != last; ++need) satisfy(need->second);
    }
    return std::move(out_);
  }

private:
  // -- what is sent ------------------------------------------------------------

  void send(collective_kind kind, reg x, uint32_t origin, int64_t elements) {
    const auto& place = out_.places[x];
    out_.sent.push_back({kind, x, place.by, origin, code_.types[x].storage, elements});
  }

  int64_t elements(reg x) const {
    return code_.types[x].dims.elements();
  }

  int64_t bytes(reg x) const {
    return elements(x) * size_of(code_.types[x].storage);
  }

  void reduce(reg x, uint32_t origin) {
    if (out_.places[x].how != placed::partial) return;
    send(collective_kind::all_reduce, x, origin, elements(x));
    out_.places[x] = {};
  }

  /// Makes all of a value be everywhere; where it was split it still is, too.
  void gather(reg x, uint32_t origin) {
    reduce(x, origin);
    if (out_.places[x].how == placed::whole || whole_[x]) return;
    send(collective_kind::all_gather, x, origin, elements(x));
    whole_[x] = true;
  }

  void satisfy(const split_need& need) {
    const auto x = need.what;
    if (out_.places[x].how == placed::sharded && !need.shards) return gather(x, need.origin);
    if (out_.places[x].how != placed::partial) return;
    if (!need.shards) return reduce(x, need.origin);
    send(collective_kind::reduce_scatter, x, need.origin, elements(x));
    out_.places[x] = {placed::sharded};
  }

  // -- operations --------------------------------------------------------------

  void place(reg i) {
    const auto& what = code_.code[i];
    const auto origin = code_.origins[i];
    switch (what.id) {
      case op::input: {
        const auto n = static_cast<size_t>(std::get<int64_t>(what.attributes[0]));
        if (n < how_.inputs.size()) out_.places[i] = how_.inputs[n];
        return;
      }
      case op::param: {
        const auto found = how_.parameters.find(std::get<std::string>(what.attributes[0]));
        if (found != how_.parameters.end()) out_.places[i] = found->second;
        return;
      }
      case op::ones_like:
        // Of its operand only the shape counts.
        if (out_.places[what.operands[0]].how == placed::partial) return;
        break;
      case op::second_of:
        out_.places[i] = out_.seconds[what.operands[0]];
        return;
      default:
        break;
    }
    if (keep_shares(i)) return;
    // Else what is kept in shares is put together where it is read first.
    for (auto x : what.operands)
      if (x != no_register && out_.places[x].how == placed::sharded) gather(x, origin);
    if (keep_partial(i)) return;
    for (auto x : what.operands)
      if (x != no_register) reduce(x, origin);
    const auto chosen = choose(i);
    for (size_t k = 0; k < what.operands.size(); ++k) {
      const auto x = what.operands[k];
      if (x == no_register || out_.places[x].how != placed::split) continue;
      if (chosen.dims[k] != static_cast<int>(out_.places[x].dim)) gather(x, origin);
    }
    out_.places[i] = chosen.result;
    joint(i);
  }

  /// Element by element, shares make shares; a sum over all of them is a sum of terms.
  bool keep_shares(reg i) {
    const auto& what = code_.code[i];
    const auto n = static_cast<int64_t>(how_.devices);
    const auto in_shares = [&](reg x) {
      return x != no_register && out_.places[x].how == placed::sharded && !whole_[x];
    };
    if (what.operands.empty()
        || !std::any_of(what.operands.begin(), what.operands.end(), in_shares))
      return false;
    const auto share = [&](reg x) {
      const auto all = std::max<int64_t>(elements(x), 1);
      return static_cast<double>((all + n - 1) / n) / static_cast<double>(all);
    };
    if (what.id == op::sum && elements(i) == 1) {
      out_.places[i] = {placed::partial};
      out_.shares[i] = share(what.operands[0]);
      return true;
    }
    const bool each = find_row(what.id)->runs == row_runs::pointwise || what.id == op::cast;
    if (!each || find_row(what.id)->writes != row_writes::nothing) return false;
    for (auto x : what.operands) {
      if (x == no_register) continue;
      const auto how = out_.places[x].how;
      const bool same =
        (in_shares(x) || how == placed::whole) && code_.types[x].dims == code_.types[i].dims;
      const bool number = elements(x) == 1 && (how == placed::whole || how == placed::partial);
      if (!same && !number) return false;
    }
    for (auto x : what.operands)
      if (x != no_register) reduce(x, code_.origins[i]);
    out_.places[i] = {placed::sharded};
    out_.shares[i] = share(i);
    return true;
  }

  bool linear(op id) const {
    switch (id) {
      case op::add:
      case op::sub:
      case op::neg:
      case op::mul_scalar:
      case op::cast:
      case op::contiguous:
        return true;
      default:
        return find_row(id)->runs == row_runs::view && find_row(id)->writes == row_writes::nothing
               && id != op::expand;
    }
  }

  /// A sum of terms, a multiple of one or another shape of one are terms as well.
  bool keep_partial(reg i) {
    const auto& what = code_.code[i];
    if (what.operands.empty() || !linear(what.id) || !is_float(code_.types[i].type)) return false;
    const placement* first = nullptr;
    for (auto x : what.operands) {
      if (x == no_register) return false;
      const auto& place = out_.places[x];
      if (place.how != placed::partial) return false;
      if (first != nullptr && !(*first == place)) return false;
      first = &place;
    }
    if (first->by == joined::max || first->by == joined::min) return false;
    out_.places[i] = *first;
    return true;
  }

  // -- rules -------------------------------------------------------------------

  std::optional<int> split_dim(reg x) const {
    if (x == no_register || out_.places[x].how != placed::split) return std::nullopt;
    return static_cast<int>(out_.places[x].dim);
  }

  int64_t price(const operation& what, const std::vector<int>& dims) const {
    int64_t sum = 0;
    for (size_t k = 0; k < what.operands.size(); ++k) {
      const auto split = split_dim(what.operands[k]);
      if (split && dims[k] != *split && !whole_[what.operands[k]]) sum += bytes(what.operands[k]);
    }
    return sum;
  }

  bool follows(const operation& what, const std::vector<int>& dims) const {
    for (size_t k = 0; k < what.operands.size(); ++k)
      if (const auto split = split_dim(what.operands[k]); split && dims[k] == *split) return true;
    return false;
  }

  way choose(reg i) const {
    const auto& what = code_.code[i];
    way best{{}, std::vector<int>(what.operands.size(), -1), 0};
    best.gathered = price(what, best.dims);
    const auto wanted = how_.wanted.find(i);
    bool met = false;
    for (auto& one : ways(i)) {
      one.gathered = price(what, one.dims);
      const bool asked = wanted != how_.wanted.end() && one.result.how == placed::split
                         && one.result.dim == wanted->second;
      if (!asked && !follows(what, one.dims)) continue;
      const bool better =
        asked != met ? asked
                     : one.gathered < best.gathered
                         || (one.gathered == best.gathered && best.result.how == placed::whole);
      if (!better) continue;
      met = met || asked;
      best = std::move(one);
    }
    return best;
  }

  std::vector<way> ways(reg i) const {
    const auto& what = code_.code[i];
    const auto* how = find_row(what.id);
    std::vector<way> out = special(i);
    if (how->split != nullptr) {
      std::vector<const register_type*> types;
      for (auto x : what.operands) types.push_back(x == no_register ? nullptr : &code_.types[x]);
      for (auto& axis : how->split({types, &code_.types[i], what.attributes})) {
        way one{{}, axis.operand_dims, 0};
        one.dims.resize(what.operands.size(), -1);
        if (axis.how == join::none)
          one.result = {placed::split, static_cast<uint32_t>(axis.result_dim)};
        else
          one.result = {placed::partial, 0, axis.how == join::mean ? joined::mean : joined::sum};
        out.push_back(std::move(one));
      }
    }
    if (how->runs == row_runs::view) by_axis(i, out);
    return out;
  }

  /// The axis that a dimension is split along: its outermost factor.
  static std::optional<axis_factor> outermost(const axis_factors& factors) {
    for (auto& one : factors)
      if (one.size != 1) return one;
    return std::nullopt;
  }

  /// A view keeps the axes of what it looks at.
  void by_axis(reg i, std::vector<way>& out) const {
    const auto& what = code_.code[i];
    const auto x = what.operands.empty() ? no_register : what.operands[0];
    const auto split = split_dim(x);
    if (!split) return;
    const auto axis = outermost(code_.types[x].factors[static_cast<size_t>(*split)]);
    if (!axis) return;
    for (uint32_t d = 0; d < code_.types[i].dims.rank(); ++d) {
      const auto here = outermost(code_.types[i].factors[d]);
      if (here && *here == *axis) out.push_back({{placed::split, d}, {*split}, 0});
    }
  }

  /// Rows whose parts need more than their results joined, or that say nothing themselves.
  std::vector<way> special(reg i) const {
    const auto& what = code_.code[i];
    const auto rank = code_.types[i].dims.rank();
    std::vector<way> out;
    const auto along = [&](uint32_t dim, std::vector<int> dims) {
      out.push_back({{placed::split, dim}, std::move(dims), 0});
    };
    switch (what.id) {
      case op::softmax:
      case op::log_softmax:
      case op::softmax_backward:
      case op::log_softmax_backward: {
        const auto dim = static_cast<uint32_t>(std::get<int64_t>(what.attributes[0]));
        along(dim, std::vector<int>(what.operands.size(), static_cast<int>(dim)));
        break;
      }
      case op::dropout_active:
        for (uint32_t d = 0; d < rank; ++d) along(d, {static_cast<int>(d)});
        break;
      case op::batch_norm_active:
        along(0, {0, -1, -1});
        break;
      case op::batch_norm_active_backward: {
        // Whatever is of the examples' dimension is split along it.
        std::vector<int> dims;
        for (auto x : what.operands)
          dims.push_back(x != no_register && code_.types[x].dims == code_.types[i].dims ? 0 : -1);
        along(0, std::move(dims));
        break;
      }
      case op::nll_backward:
        along(0, {code_.types[what.operands[0]].dims.rank() == 0 ? -1 : 0, 0});
        break;
      case op::max:
      case op::min: {
        const auto& dims = code_.types[what.operands[0]].dims;
        const auto reduced = reduced_dims(what.attributes[0], dims.rank());
        for (uint32_t d = 0; d < dims.rank(); ++d)
          if (reduced >> d & 1)
            out.push_back({{placed::partial, 0, what.id == op::max ? joined::max : joined::min},
                           {static_cast<int>(d)},
                           0});
        break;
      }
      default:
        break;
    }
    return out;
  }

  // -- what follows from a placement -------------------------------------------

  double share(reg i) const {
    const auto& what = code_.code[i];
    int64_t size = 0;
    if (out_.places[i].how == placed::split)
      size = code_.types[i].dims[out_.places[i].dim];
    else
      for (auto x : what.operands)
        if (const auto split = split_dim(x); split && size == 0)
          size = code_.types[x].dims[static_cast<size_t>(*split)];
    const auto n = static_cast<int64_t>(how_.devices);
    return size == 0 ? 1 : static_cast<double>((size + n - 1) / n) / static_cast<double>(size);
  }

  /// Second results, the work's share, and what an operation sends while it runs.
  void joint(reg i) {
    const auto& place = out_.places[i];
    if (place.how == placed::whole) return;
    out_.shares[i] = share(i);
    const auto& what = code_.code[i];
    const auto origin = code_.origins[i];
    const auto* how = find_row(what.id);
    if (how->infer_second != nullptr) out_.seconds[i] = second(i);
    const auto inside = [&](int64_t count, joined by) {
      out_.sent.push_back(
        {collective_kind::all_reduce, i, by, origin, code_.types[i].storage, count});
    };
    if (place.how != placed::split) return;
    const auto& dims = code_.types[i].dims;
    switch (what.id) {
      case op::softmax:
      case op::log_softmax:
      case op::softmax_backward:
      case op::log_softmax_backward: {
        if (place.dim != static_cast<uint32_t>(std::get<int64_t>(what.attributes[0]))) return;
        const auto rows = dims.elements() / std::max<int64_t>(dims[place.dim], 1);
        const bool forward = what.id == op::softmax || what.id == op::log_softmax;
        if (forward) inside(rows, joined::max);
        inside(rows, joined::sum);
        return;
      }
      case op::batch_norm_active:
      case op::batch_norm_active_backward:
        // Two numbers of each channel: of the whole batch.
        if (dims.rank() > 1) inside(2 * dims[1], joined::sum);
        return;
      default:
        return;
    }
  }

  placement second(reg i) const {
    const auto& what = code_.code[i];
    const auto& type = code_.seconds[i];
    const auto& place = out_.places[i];
    // Statistics of the whole batch are everywhere.
    if (what.id == op::batch_norm_active) return {};
    std::optional<axis_factor> axis;
    for (auto x : what.operands)
      if (const auto split = split_dim(x); split && !axis)
        axis = outermost(code_.types[x].factors[static_cast<size_t>(*split)]);
    for (uint32_t d = 0; axis && d < type.factors.size(); ++d)
      if (const auto here = outermost(type.factors[d]); here && here->axis == axis->axis)
        return {placed::split, d};
    const bool backward = find_row(what.id)->name.find("backward") != std::string_view::npos;
    if (backward) return {placed::partial};
    if (place.how == placed::split && place.dim < type.dims.rank())
      return {placed::split, place.dim};
    return {placed::split, 0};
  }

  const typed_program& code_;
  const split_request& how_;
  split_program out_;
  std::vector<bool> whole_; // split or in shares, and gathered as well
  std::multimap<reg, split_need> needs_;
};

} // namespace

split_program split_over(const typed_program& code, const split_request& how) {
  return splitter(code, how).run();
}

} // namespace moxzi::device
