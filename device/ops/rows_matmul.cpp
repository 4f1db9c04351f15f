#include <algorithm>

#include "device/ops/einsum.hpp"
#include "device/ops/options.hpp"
#include "device/ops/pointwise_rows.hpp"

namespace moxzi::device {

namespace {

// -- matmul --------------------------------------------------------------------

/// All dimensions but the last two.
register_type batch_of(const register_type& x) {
  auto out = x;
  out.dims = shape(x.dims.sizes().subspan(0, x.dims.rank() - 2));
  out.factors.resize(out.dims.rank());
  return out;
}

/// Which of the last two dimensions is the rows, counted from the end.
size_t rows_back(bool transposed) {
  return transposed ? 0 : 1;
}

result<register_type> infer_matmul(const rule_context& c) {
  auto &a = c.operand(0), &b = c.operand(1);
  bool ta = flag(c.attr(0)), tb = flag(c.attr(1));
  if (auto ok = want_float("a", a); !ok) return ok.error();
  if (auto ok = want_same_type("a", a, "b", b); !ok) return ok.error();
  if (a.dims.rank() < 2 || b.dims.rank() < 2)
    return complain(device_errc::shape_mismatch,
                    "a is {} and b {}; two dimensions or more wanted (unsqueeze adds one)",
                    to_string(a.dims), to_string(b.dims));
  if (a.dims.last(1 - rows_back(ta)) != b.dims.last(rows_back(tb)))
    return complain(device_errc::shape_mismatch,
                    "a {}{} does not fit b {}{}: a [.., m, k] and b [.., k, n] wanted",
                    to_string(a.dims), ta ? " transposed" : "", to_string(b.dims),
                    tb ? " transposed" : "");
  auto out = broadcast("a's batch", batch_of(a), "b's batch", batch_of(b));
  if (!out) return out.error();
  auto factors = [](const register_type& x, size_t back) {
    return x.factors[x.dims.rank() - 1 - back];
  };
  out->dims.push(a.dims.last(rows_back(ta)));
  out->dims.push(b.dims.last(1 - rows_back(tb)));
  out->factors.push_back(factors(a, rows_back(ta)));
  out->factors.push_back(factors(b, 1 - rows_back(tb)));
  if (auto ok = want_size(out->dims); !ok) return ok.error();
  return out;
}

reg as_matrix(gradient_context& g, reg x) {
  auto dims = g.type_of(x).dims;
  if (dims.rank() == 2) return x;
  auto rows = dims.elements() / std::max<int64_t>(dims.last(), 1);
  if (dims.last() == 0) {
    rows = 1;
    for (size_t i = 0; i + 1 < dims.rank(); ++i) rows *= dims[i];
  }
  std::vector<uint32_t> wanted{static_cast<uint32_t>(rows), static_cast<uint32_t>(dims.last())};
  return g.emit(op::reshape, {x}, {wanted});
}

void matmul_gradient(gradient_context& g) {
  bool ta = flag(g.attr(0)), tb = flag(g.attr(1));
  auto a = g.operand(0), b = g.operand(1);
  auto product = [&g](reg x, reg y, bool tx, bool ty) {
    return g.emit(op::matmul, {x, y}, {tx, ty});
  };
  if (g.wants(0))
    g.give(0, ta ? product(b, g.upstream(), tb, true) : product(g.upstream(), b, false, !tb));
  if (!g.wants(1)) return;
  auto upstream = g.upstream();
  // One b for all: one product instead of many that are then summed.
  if (!ta && g.type_of(b).dims.rank() == 2) {
    a = as_matrix(g, a);
    upstream = as_matrix(g, upstream);
  }
  g.give(1, tb ? product(upstream, a, true, ta) : product(a, upstream, !ta, false));
}

std::vector<split_axis> split_matmul(const typed_call& call) {
  std::vector<split_axis> axes;
  bool ta = flag(call.attributes[0]), tb = flag(call.attributes[1]);
  auto& to = call.result->dims;
  auto rank = static_cast<int>(to.rank());
  auto at = [&call](size_t operand, size_t back) {
    return static_cast<int>(call.operands[operand]->dims.rank() - 1 - back);
  };
  for (int i = 0; i + 2 < rank; ++i) {
    split_axis axis{{}, i, join::none};
    for (auto operand : call.operands) {
      auto here = i - (rank - static_cast<int>(operand->dims.rank()));
      bool has =
        here >= 0 && operand->dims[static_cast<size_t>(here)] == to[static_cast<size_t>(i)];
      axis.operand_dims.push_back(has ? here : -1);
    }
    axes.push_back(std::move(axis));
  }
  axes.push_back({{at(0, rows_back(ta)), -1}, rank - 2, join::none});
  axes.push_back({{-1, at(1, 1 - rows_back(tb))}, rank - 1, join::none});
  axes.push_back({{at(0, 1 - rows_back(ta)), at(1, rows_back(tb))}, -1, join::sum});
  return axes;
}

cost matmul_cost(const typed_call& call) {
  auto inner = call.operands[0]->dims.last(1 - rows_back(flag(call.attributes[0])));
  return traffic(call, 2 * static_cast<double>(inner));
}

sample matmul_example(sampler& random) {
  auto batch = random.dims(0, 2), narrow = random.broadcast_to(batch);
  if (random.below(3) == 0) narrow = {};
  auto m = random.size(), n = random.size(), k = random.size();
  bool ta = random.coin(), tb = random.coin(), swapped = random.coin();
  auto with = [](shape dims, int64_t rows, int64_t columns, bool transposed) {
    dims.push(transposed ? columns : rows);
    dims.push(transposed ? rows : columns);
    return dims;
  };
  return {{random.tensor(with(swapped ? narrow : batch, m, k, ta)),
           random.tensor(with(swapped ? batch : narrow, k, n, tb))},
          {ta ? attribute{true} : attribute{}, tb ? attribute{true} : attribute{false}}};
}

wrong_sample wrong_matmul(sampler& random) {
  return {{{random.tensor({2, 3}), random.tensor({2, 4})}, {{}, {}}}, device_errc::shape_mismatch};
}

// -- einsum --------------------------------------------------------------------

result<einsum> equation_of(const rule_context& c, bool loose) {
  std::vector<shape> dims;
  for (size_t i = 0; i < c.operand_count(); ++i) {
    auto name = fmt::format("xs[{}]", i);
    if (auto ok = want_float(name, c.operand(i)); !ok) return ok.error();
    if (auto ok = want_same_type("xs[0]", c.operand(0), name, c.operand(i)); !ok) return ok.error();
    dims.push_back(c.operand(i).dims);
  }
  return parse_einsum(c.text(0), dims, loose);
}

/// The axis factors of a label are those of the first operand that has it.
register_type einsum_type(const einsum& what, const rule_context& c, const shape& dims) {
  register_type out{c.operand(0).type, c.operand(0).storage, dims, {}};
  for (size_t d = 0; d < what.out.size(); ++d) {
    axis_factors found = c.fresh_axis(dims[d]);
    // A label that stands twice in the result is a diagonal: neither dimension can be split.
    bool once = std::ranges::count(what.out, what.out[d]) == 1;
    for (size_t i = what.in.size(); i-- > 0 && once;)
      if (auto at = what.in[i].find(what.out[d]); at != std::string::npos)
        found = c.operand(i).factors[at];
    out.factors.push_back(std::move(found));
  }
  return out;
}

result<register_type> infer_einsum(const rule_context& c) {
  auto what = equation_of(c, false);
  if (!what) return what.error();
  shape dims;
  for (auto label : what->out) dims.push(what->size_of(label));
  if (auto ok = want_size(dims); !ok) return ok.error();
  return einsum_type(*what, c, dims);
}

result<register_type> infer_einsum_backward(const rule_context& c) {
  auto what = equation_of(c, true);
  if (!what) return what.error();
  shape dims;
  for (auto size : c.list(1)) dims.push(size);
  return einsum_type(*what, c, dims);
}

/// Each factor's gradient is the sum of the products of all others with the upstream gradient: an
/// einsum again.
void einsum_gradient(gradient_context& g) {
  std::vector<reg> xs;
  std::vector<shape> dims;
  for (size_t i = 0; g.has(i); ++i) {
    xs.push_back(g.operand(i));
    dims.push_back(g.type_of(xs.back()).dims);
  }
  auto what = *parse_einsum(std::get<std::string>(g.attr(0)), dims, true);
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!g.wants(i)) continue;
    auto operands = xs;
    auto in = what.in;
    operands[i] = g.upstream();
    in[i] = what.out;
    std::vector<uint32_t> sizes;
    for (auto size : dims[i].sizes()) sizes.push_back(static_cast<uint32_t>(size));
    g.give(i, g.emit(op::einsum_backward, operands,
                     {fmt::format("{}->{}", fmt::join(in, ","), what.in[i]), sizes}));
  }
}

einsum equation_of(const typed_call& call) {
  std::vector<shape> dims;
  for (auto x : call.operands) dims.push_back(x->dims);
  return *parse_einsum(std::get<std::string>(call.attributes[0]), dims, true);
}

std::vector<split_axis> split_einsum(const typed_call& call) {
  auto what = equation_of(call);
  std::vector<split_axis> axes;
  for (auto [label, size] : what.sizes) {
    split_axis axis;
    bool once = std::ranges::count(what.out, label) < 2;
    for (auto& in : what.in) {
      once = once && std::ranges::count(in, label) < 2;
      auto at = in.find(label);
      axis.operand_dims.push_back(at == std::string::npos ? -1 : static_cast<int>(at));
    }
    auto at = what.out.find(label);
    if (at == std::string::npos)
      axis.how = join::sum;
    else
      axis.result_dim = static_cast<int>(at);
    if (call.attributes.size() > 1 && axis.result_dim >= 0) {
      axis.attribute = 1;
      axis.entry = axis.result_dim;
      once = once && std::ranges::any_of(axis.operand_dims, [](int dim) { return dim >= 0; });
    }
    if (once) axes.push_back(std::move(axis));
  }
  return axes;
}

cost einsum_cost(const typed_call& call) {
  auto what = equation_of(call);
  auto sum = traffic(call, 0);
  sum.flops = static_cast<double>(call.operands.size());
  for (auto [label, size] : what.sizes) sum.flops *= static_cast<double>(size);
  return sum;
}

sample einsum_example(sampler& random) {
  constexpr std::string_view equations[] = {
    "ij,jk->ik", "bij,bkj->bik", "ij,jk,kl->il", "ij->ji",   "ij->",
    "ii->i",     "ii",           "i,j->ij",      "ij,ij->i", "bhqd,bhkd->bhqk",
    "ij , i",    "abc,cd",       "iij,j->ij",    "ij,kj->",  "z,z"};
  std::string equation(equations[random.below(std::ssize(equations))]);
  std::map<char, int64_t> sizes;
  sample out{{}, {equation}};
  shape dims;
  for (auto c : equation + ",") {
    if (c == '-' || c == '>') break;
    if (c == ' ') continue;
    if (c != ',') {
      dims.push(sizes.try_emplace(c, random.size()).first->second);
      continue;
    }
    out.operands.push_back(random.tensor(dims));
    dims = {};
  }
  if (equation.find("->") != std::string::npos) out.operands.push_back(random.tensor(dims));
  return out;
}

sample einsum_backward_example(sampler& random) {
  auto n = random.size(), m = random.size();
  auto size = [](int64_t x) { return static_cast<uint32_t>(x); };
  switch (random.below(3)) {
    case 0:
      return {{random.tensor({n})}, {std::string("i->ii"), std::vector{size(n), size(n)}}};
    case 1:
      return {{random.tensor({n}), random.tensor({n, m})},
              {std::string("i,ij->jik"), std::vector{size(m), size(n), 3u}}};
    default:
      return {{random.tensor({n, m}), random.tensor({m})},
              {std::string("ij,j->iij"), std::vector{size(n), size(n), size(m)}}};
  }
}

wrong_sample wrong_einsum(sampler& random) {
  return {{{random.tensor({2, 3}), random.tensor({2, 3})}, {std::string("ij,jk->ik")}},
          device_errc::shape_mismatch};
}

} // namespace

std::vector<row> matmul_rows() {
  row einsum{
    .id = op::einsum,
    .name = "einsum",
    .sentence = "The sum of products that `eq` writes, as \"bij,bjk->bik\": one letter for each "
                "dimension of each x; letters that the result lacks are summed over.",
    .reference = "torch.einsum",
    .fields = {{"eq", field_kind::text}, {"xs", field_kind::regs}},
    .infer = infer_einsum,
    .gradient = einsum_gradient,
    .split = split_einsum,
    .costs = einsum_cost,
    .pytorch = "torch.einsum(eq, *xs)",
    .example = einsum_example,
    .wrong = wrong_einsum,
    .tolerance = 16,
  };
  auto backward = einsum;
  backward.id = op::einsum_backward;
  backward.name = "einsum_backward";
  backward.sentence = "einsum to a result of these `sizes`, which may have a letter twice (its "
                      "diagonal is filled) or one that no x has (it is repeated).";
  backward.fields = {
    {"eq", field_kind::text}, {"sizes", field_kind::nat32s}, {"xs", field_kind::regs}};
  backward.infer = infer_einsum_backward;
  backward.example = einsum_backward_example;
  return {
    {
      .id = op::matmul,
      .name = "matmul",
      .sentence = "a [.., m, k] times b [.., k, n]; `ta` and `tb` say that the last two dimensions "
                  "come swapped, leading ones broadcast.",
      .reference = "torch.matmul",
      .fields = {{"a", field_kind::reg},
                 {"b", field_kind::reg},
                 {"ta", field_kind::boolean, true},
                 {"tb", field_kind::boolean, true}},
      .strided = true,
      .infer = infer_matmul,
      .gradient = matmul_gradient,
      .split = split_matmul,
      .costs = matmul_cost,
      .pytorch = "torch.matmul(a.mT if ta else a, b.mT if tb else b)",
      .example = matmul_example,
      .wrong = wrong_matmul,
      .tolerance = 16,
    },
    einsum,
    backward,
  };
}

} // namespace moxzi::device
