#include "device/split.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "device/ops/table.hpp"
#include "device/split_ways.hpp"

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

class splitter {
public:
  splitter(const typed_program& code, const split_request& how) : code_(code), how_(how) {
    const auto n = code.code.size();
    out_.places.resize(n);
    out_.seconds.resize(n);
    out_.shares.assign(n, 1);
    whole_.assign(n, false);
    for (auto& need : how.needs) needs_.emplace(need.what, need);
    for (auto& [i, dim] : how.wanted) keep_apart(i, dim);
  }

  split_program run() {
    for (reg i = 0; i < code_.code.size(); ++i) {
      now_ = i;
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
    if (out_.places[x].how == placed::whole) return;
    out_.gathered.emplace(now_, x);
    if (whole_[x]) return;
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
    if (need.dim) out_.places[x] = {placed::split, *need.dim};
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
        if (found == how_.parameters.end()) return;
        out_.places[i] = found->second;
        if (found->second.how == placed::split) keep_apart(i, found->second.dim);
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
    take(i, chosen);
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

  bool everywhere(const operation& what) const {
    return std::all_of(what.operands.begin(), what.operands.end(),
                       [this](reg x) { return !split_dim(x) || whole_[x]; });
  }

  bool follows(const operation& what, const std::vector<int>& dims) const {
    for (size_t k = 0; k < what.operands.size(); ++k)
      if (const auto split = split_dim(what.operands[k]); split && dims[k] == *split) return true;
    return false;
  }

  /// The dimension along which a register is to be split: where it is said, or where it has an
  /// axis of which that is said elsewhere, as gradients have those of what they belong to.
  std::optional<uint32_t> wanted_dim(reg i) const {
    if (const auto found = how_.wanted.find(i); found != how_.wanted.end()) return found->second;
    const auto& factors = code_.types[i].factors;
    for (uint32_t d = 0; d < factors.size(); ++d)
      if (const auto axis = outermost(factors[d]); axis && kept_apart_.contains(axis->axis))
        return d;
    return std::nullopt;
  }

  void keep_apart(reg i, uint32_t dim) {
    const auto& factors = code_.types[i].factors;
    if (dim >= factors.size()) return;
    if (const auto axis = outermost(factors[dim])) kept_apart_.insert(axis->axis);
  }

  split_way choose(reg i) const {
    const auto& what = code_.code[i];
    split_way best{{}, std::vector<int>(what.operands.size(), -1)};
    auto least = price(what, best.dims);
    const auto wanted = wanted_dim(i);
    bool met = false;
    for (auto& one : ways(i)) {
      const auto gathered = price(what, one.dims);
      const bool asked = wanted && one.result.how == placed::split && one.result.dim == *wanted;
      if (!asked && !follows(what, one.dims)) continue;
      // Of what is everywhere already, a part costs nothing, but terms of it do.
      const bool as_good =
        best.result.how == placed::whole && gathered == least
        && (!everywhere(what) || (one.result.how == placed::split && one.joins.empty()));
      const bool better = asked != met ? asked : gathered < least || as_good;
      if (!better) continue;
      met = met || asked;
      least = gathered;
      best = std::move(one);
    }
    return best;
  }

  std::vector<split_way> ways(reg i) const {
    const auto& what = code_.code[i];
    std::vector<const register_type*> types;
    for (auto x : what.operands) types.push_back(x == no_register ? nullptr : &code_.types[x]);
    auto out = split_ways(what.id, {types, &code_.types[i], what.attributes});
    if (find_row(what.id)->runs == row_runs::view) by_axis(i, out);
    return out;
  }

  /// The axis that a dimension is split along: its outermost factor.
  static std::optional<axis_factor> outermost(const axis_factors& factors) {
    for (auto& one : factors)
      if (one.size != 1) return one;
    return std::nullopt;
  }

  /// A view keeps the axes of what it looks at.
  void by_axis(reg i, std::vector<split_way>& out) const {
    const auto& what = code_.code[i];
    const auto x = what.operands.empty() ? no_register : what.operands[0];
    const auto split = split_dim(x);
    if (!split) return;
    const auto axis = outermost(code_.types[x].factors[static_cast<size_t>(*split)]);
    if (!axis) return;
    for (uint32_t d = 0; d < code_.types[i].dims.rank(); ++d) {
      const auto here = outermost(code_.types[i].factors[d]);
      if (here && *here == *axis) out.push_back({{placed::split, d}, {*split}});
    }
  }

  // -- what follows from a way -------------------------------------------------

  /// The share of the work of the device with most: as it is of what is split.
  double share(reg i, const split_way& chosen) const {
    const auto& what = code_.code[i];
    int64_t size = 0;
    for (size_t k = 0; k < what.operands.size() && size == 0; ++k)
      if (chosen.dims[k] >= 0)
        size = code_.types[what.operands[k]].dims[static_cast<size_t>(chosen.dims[k])];
    if (chosen.result.how == placed::split) size = code_.types[i].dims[chosen.result.dim];
    const auto n = static_cast<int64_t>(how_.devices);
    return size == 0 ? 1 : static_cast<double>((size + n - 1) / n) / static_cast<double>(size);
  }

  void take(reg i, const split_way& chosen) {
    out_.places[i] = chosen.result;
    out_.seconds[i] = chosen.second;
    out_.shares[i] = share(i, chosen);
    for (auto& one : chosen.joins)
      out_.sent.push_back({collective_kind::all_reduce, i, one.by, code_.origins[i],
                           code_.types[i].storage, one.elements});
  }

  const typed_program& code_;
  const split_request& how_;
  split_program out_;
  reg now_ = 0;
  std::vector<bool> whole_; // split or in shares, and gathered as well
  std::multimap<reg, split_need> needs_;
  std::set<uint32_t> kept_apart_; // axes that parameters and wanted registers are split along
};

} // namespace

split_program split_over(const typed_program& code, const split_request& how) {
  return splitter(code, how).run();
}

} // namespace moxzi::device
