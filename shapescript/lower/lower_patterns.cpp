#include <algorithm>
#include <charconv>

#include "shapescript/lower/lowering.hpp"

namespace shapescript {

/// One axis that a pattern names.
struct lowering::atom {
  std::string name;
  int64_t size = 1;
  bool number = false; ///< a literal
  bool grouped = false;
};

namespace {

int64_t literal_number(std::string_view digits) {
  std::string plain;
  for (const char c : digits)
    if (c != '_') plain += c;
  int64_t out = 0;
  std::from_chars(plain.data(), plain.data() + plain.size(), out);
  return out;
}

} // namespace

std::optional<int64_t> lowering::atom_size(std::string_view name,
                                           const std::vector<atom>& before) const {
  if (const auto found = frame_->named_sizes.find(name); found != frame_->named_sizes.end())
    return found->second;
  for (const auto& one : before)
    if (!one.number && one.name == name) return one.size;
  return size_named(name);
}

// The atoms of a register's dimensions, outermost first. `...` gives atoms of names of their own.
std::vector<lowering::atom> lowering::read_pattern(const pattern& written, reg x,
                                                   const std::vector<atom>& before) {
  std::vector<atom> out;
  const auto& sizes = dims(x);
  const auto named = static_cast<size_t>(
    std::count_if(written.items.begin(), written.items.end(),
                  [](const auto& item) { return item.kind != pattern_item::rest; }));
  size_t place = 0;
  for (const auto& item : written.items) {
    if (item.kind == pattern_item::rest) {
      for (auto k = named; k < sizes.rank(); ++k, ++place)
        out.push_back({fmt::format("...{}", k - named), sizes[place], false, false});
      continue;
    }
    const auto size = place < sizes.rank() ? sizes[place] : 1;
    ++place;
    if (item.kind != pattern_item::group) {
      const bool number = item.kind == pattern_item::integer;
      out.push_back({std::string{text(item.where)}, size, number, false});
      continue;
    }
    auto known = before;
    known.insert(known.end(), out.begin(), out.end());
    int64_t product = 1;
    std::optional<size_t> open;
    for (const auto& inner : item.inner) {
      atom one{std::string{text(inner.where)}, 1, inner.kind == pattern_item::integer, true};
      const auto given =
        one.number ? std::optional{literal_number(one.name)} : atom_size(one.name, known);
      if (given)
        product *= one.size = *given;
      else
        open = out.size();
      out.push_back(std::move(one));
    }
    if (open && (product < 1 || size % product != 0))
      fail(item.where, fmt::format("`{}` is not exact: {} / {}", text(item.where), size, product));
    if (open && !failed()) out[*open].size = size / product;
  }
  return out;
}

value lowering::rearrange(std::string_view name, const pattern_call& call, reg x,
                          std::string_view by) {
  auto atoms = read_pattern(call.sources[0], x, {});
  if (failed()) return {};
  std::vector<bool> used(atoms.size(), false);
  std::vector<uint32_t> order;                   // atoms of the result, in order
  std::vector<std::vector<size_t>> made;         // by dimension of the result: places in `order`
  std::vector<std::pair<size_t, int64_t>> fresh; // places in `order` of new axes
  const auto take = [&](const pattern_item& item, std::vector<size_t>& into) {
    const bool number = item.kind == pattern_item::integer;
    const auto word = std::string{text(item.where)};
    for (size_t i = 0; i < atoms.size(); ++i) {
      if (used[i] || atoms[i].number != number || atoms[i].name != word) continue;
      used[i] = true;
      into.push_back(order.size());
      order.push_back(static_cast<uint32_t>(i));
      return;
    }
    const auto size = number ? std::optional{literal_number(word)} : atom_size(word, atoms);
    if (!size) fail(item.where, fmt::format("the size of `{}` is not known here", word));
    fresh.emplace_back(order.size(), size.value_or(1));
    into.push_back(order.size());
    order.push_back(UINT32_MAX);
  };
  for (const auto& item : call.result.items) {
    if (item.kind == pattern_item::rest) {
      for (size_t i = 0; i < atoms.size(); ++i) {
        if (used[i] || !atoms[i].name.starts_with("...")) continue;
        used[i] = true;
        made.push_back({order.size()});
        order.push_back(static_cast<uint32_t>(i));
      }
      continue;
    }
    made.emplace_back();
    if (item.kind == pattern_item::group)
      for (const auto& inner : item.inner) take(inner, made.back());
    else
      take(item, made.back());
  }
  if (failed()) return {};
  return arranged(name, x, atoms, used, order, made, fresh, by);
}

namespace {

// `by="mean"`, with its quotes; a sum if nothing is said.
op reduction_named(std::string_view by) {
  if (by == "\"mean\"") return op::mean;
  if (by == "\"max\"") return op::max;
  if (by == "\"min\"") return op::min;
  if (by == "\"prod\"") return op::prod;
  return op::sum;
}

std::vector<int64_t> merged(const std::vector<std::vector<size_t>>& groups,
                            const std::vector<int64_t>& sizes) {
  std::vector<int64_t> out;
  for (const auto& group : groups) {
    int64_t size = 1;
    for (const auto i : group) size *= sizes[i];
    out.push_back(size);
  }
  return out;
}

} // namespace

// Cut into atoms, what the result lacks taken out, put in order, new axes added, and merged.
value lowering::arranged(std::string_view name, reg x, const std::vector<atom>& atoms,
                         const std::vector<bool>& used, const std::vector<uint32_t>& order,
                         const std::vector<std::vector<size_t>>& made,
                         const std::vector<std::pair<size_t, int64_t>>& fresh,
                         std::string_view by) {
  std::vector<int64_t> sizes;
  for (const auto& one : atoms) sizes.push_back(one.size);
  if (sizes.size() > moxzi::device::rank_max) {
    fail(where_, fmt::format("the pattern has {} axes at once; a device has {}", sizes.size(),
                             moxzi::device::rank_max));
    return {};
  }
  x = reshape(x, sizes);
  std::vector<uint32_t> gone;
  for (uint32_t i = 0; i < atoms.size(); ++i)
    if (!used[i]) gone.push_back(i);
  std::vector<reg> parts{x};
  if (name == "split") {
    for (auto i = gone.size(); i-- > 0;) {
      std::vector<reg> next;
      for (int64_t k = 0; k < atoms[gone[i]].size; ++k)
        for (const auto one : parts)
          next.push_back(emit(op::select, {one}, {static_cast<int64_t>(gone[i]), k}));
      // The first number counts slowest.
      parts = std::move(next);
      if (failed()) return {};
    }
  } else if (!gone.empty()) {
    std::vector<uint32_t> reduced;
    for (const auto i : gone)
      if (name == "reduce") reduced.push_back(i);
    if (!reduced.empty()) {
      parts[0] = emit(reduction_named(by), {x}, {reduced, {}});
    } else {
      // Axes of size 1 that are left out.
      for (auto i = gone.size(); i-- > 0;)
        parts[0] = emit(op::squeeze, {parts[0]}, {static_cast<int64_t>(gone[i])});
    }
  }
  // Places after what is gone.
  std::vector<uint32_t> place(atoms.size(), 0);
  uint32_t left = 0;
  for (size_t i = 0; i < atoms.size(); ++i)
    if (used[i]) place[i] = left++;
  std::vector<uint32_t> permuted;
  std::vector<int64_t> spread(order.size(), 1);
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] == UINT32_MAX) continue;
    permuted.push_back(place[order[i]]);
    spread[i] = atoms[order[i]].size;
  }
  auto expanded = spread;
  for (const auto& [at, size] : fresh) expanded[at] = size;
  const auto to = merged(made, expanded);
  value out;
  out.base = base_type::tuple;
  for (auto one : parts) {
    one = permute(one, permuted);
    if (expanded != spread) {
      one = reshape(one, spread);
      std::vector<uint32_t> wanted(expanded.begin(), expanded.end());
      one = emit(op::expand, {one}, {std::move(wanted)});
    }
    out.parts.push_back(as_value(reshape(one, to)));
  }
  return out.parts.size() == 1 ? out.parts[0] : out;
}

value lowering::einsum(const pattern_call& call, const std::vector<reg>& operands) {
  std::vector<atom> all;
  std::map<std::string, char, std::less<>> letters;
  const auto letter = [&](const std::string& name) {
    const auto next = letters.size() < 26 ? 'a' + letters.size() : 'A' + letters.size() - 26;
    return letters.emplace(name, static_cast<char>(next)).first->second;
  };
  std::string equation;
  std::vector<reg> cut;
  for (size_t i = 0; i < operands.size(); ++i) {
    auto atoms = read_pattern(call.sources[i], operands[i], all);
    std::vector<int64_t> sizes;
    if (i > 0) equation += ',';
    for (auto& one : atoms) {
      if (one.number) one.name = fmt::format("{}#{}", one.name, all.size() + sizes.size());
      sizes.push_back(one.size);
      equation += letter(one.name);
    }
    cut.push_back(reshape(operands[i], sizes));
    all.insert(all.end(), atoms.begin(), atoms.end());
  }
  equation += "->";
  std::vector<int64_t> to;
  const auto add = [&](std::string_view word) {
    equation += letter(std::string{word});
    return atom_size(word, all).value_or(1);
  };
  for (const auto& item : call.result.items) {
    if (item.kind == pattern_item::rest) {
      std::vector<std::string> rests;
      for (const auto& one : all)
        if (one.name.starts_with("...")
            && std::find(rests.begin(), rests.end(), one.name) == rests.end())
          rests.push_back(one.name);
      for (const auto& one : rests) to.push_back(add(one));
      continue;
    }
    int64_t size = 1;
    if (item.kind == pattern_item::group)
      for (const auto& inner : item.inner) size *= add(text(inner.where));
    else if (item.kind == pattern_item::name)
      size = add(text(item.where));
    to.push_back(size);
  }
  if (letters.size() > 52) fail(where_, "an `einsum` has at most 52 axes");
  return as_value(reshape(emit(op::einsum, std::move(cut), {equation}), to));
}

value lowering::call_pattern(std::string_view name, const expr& site,
                             std::vector<lowered_argument>& arguments) {
  const auto& call = t().at(site.patterns);
  std::vector<reg> operands;
  std::string_view by;
  std::vector<std::string> given;
  for (auto& one : arguments) {
    if (one.name == span{}) {
      operands.push_back(register_of(one));
      continue;
    }
    const auto word = text(one.name);
    if (word == "by" && name == "reduce") {
      by = text(t().at(one.id).where);
      continue;
    }
    frame_->named_sizes[std::string{word}] = size_at(one.id);
    given.emplace_back(word);
  }
  for (const auto id : call.operands) operands.push_back(tensor(expression(id)));
  value out;
  if (!failed()) {
    if (name == "einsum") {
      for (auto& one : operands) one = cast(one, kind(operands[0]));
      out = einsum(call, operands);
    } else {
      out = rearrange(name, call, operands[0], by);
    }
  }
  for (const auto& word : given) frame_->named_sizes.erase(word);
  return out;
}

} // namespace shapescript
