#include "device/ops/options.hpp"
#include "device/ops/rows.hpp"

// Recurrences over x [batch, time, in]. A training form keeps, for each place, what its backward
// row needs; that row gives the gradients of the gates before their functions, from which the
// weights' gradients are the same products as those of `linear`.

namespace moxzi::device {

namespace {

/// A kind of recurrence: how many gates it has, and how many parts as long as the state are kept
/// for each place; the last of these is the state before.
struct kind {
  op forward, train, backward;
  int64_t gates;
  int64_t kept;
};
constexpr kind plain{op::rnn, op::rnn_train, op::rnn_backward, 1, 2};
constexpr kind gated{op::gru, op::gru_train, op::gru_backward, 3, 5};
constexpr kind lstm{op::lstm, op::lstm_train, op::lstm_backward, 4, 7};

enum operand : size_t { x_at, w_ih_at, w_hh_at, b_ih_at, b_hh_at, h0_at, c0_at };
enum attribute_position : size_t { reverse_at, out_at };

// -- shapes --------------------------------------------------------------------

result<void> want_shape(std::string_view name, const register_type& what, const shape& wanted,
                        std::string_view meaning, const register_type& x) {
  if (auto ok = want_same_type("x", x, name, what); !ok) return ok;
  if (what.dims == wanted) return {};
  return complain(device_errc::shape_mismatch, "{} is {}; {} {} wanted with x {}", name,
                  to_string(what.dims), meaning, to_string(wanted), to_string(x.dims));
}

template <const kind& Kind>
result<register_type> infer(const rule_context& c) {
  auto &x = c.operand(x_at), &w_hh = c.operand(w_hh_at);
  if (auto ok = want_float("x", x); !ok) return ok.error();
  if (x.dims.rank() != 3)
    return complain(device_errc::shape_mismatch, "x is {}; [batch, time, in] wanted",
                    to_string(x.dims));
  if (w_hh.dims.rank() != 2 || w_hh.dims[0] != Kind.gates * w_hh.dims[1])
    return complain(device_errc::shape_mismatch, "w_hh is {}; [{} · hidden, hidden] wanted",
                    to_string(w_hh.dims), Kind.gates);
  auto batch = x.dims[0], hidden = w_hh.dims[1], rows = w_hh.dims[0];
  auto check = [&](size_t at, std::string_view name, const shape& wanted,
                   std::string_view meaning) -> result<void> {
    if (!c.has(at)) return {};
    return want_shape(name, c.operand(at), wanted, meaning, x);
  };
  if (auto ok = check(w_hh_at, "w_hh", {rows, hidden}, "[gates · hidden, hidden]"); !ok)
    return ok.error();
  if (auto ok = check(w_ih_at, "w_ih", {rows, x.dims[2]}, "[gates · hidden, in]"); !ok)
    return ok.error();
  if (auto ok = check(b_ih_at, "b_ih", {rows}, "[gates · hidden]"); !ok) return ok.error();
  if (auto ok = check(b_hh_at, "b_hh", {rows}, "[gates · hidden]"); !ok) return ok.error();
  if (auto ok = check(h0_at, "h0", {batch, hidden}, "[batch, hidden]"); !ok) return ok.error();
  if (c.has(c0_at) && &Kind != &lstm)
    return complain(device_errc::invalid_value, "c0 is for lstm; leave it out");
  if (auto ok = check(c0_at, "c0", {batch, hidden}, "[batch, hidden]"); !ok) return ok.error();
  auto out = recurrent_out_of(c.attr(out_at));
  if (out == recurrent_out::cell && &Kind != &lstm)
    return complain(device_errc::invalid_value,
                    "only lstm has a cell; `last` or `sequence` wanted");
  register_type made{x.type, x.storage, {batch}, {x.factors[0]}};
  if (out == recurrent_out::sequence) {
    made.dims.push(x.dims[1]);
    made.factors.push_back(x.factors[1]);
  }
  made.dims.push(hidden);
  made.factors.push_back(w_hh.factors[1]);
  if (auto ok = want_size(made.dims); !ok) return ok.error();
  if (auto ok = want_size({batch, x.dims[1], Kind.kept * hidden}); !ok) return ok.error();
  return made;
}

/// [batch, time, width] like x.
register_type per_place(const register_type& x, int64_t width, axis_factors of) {
  return {
    x.type, x.storage, {x.dims[0], x.dims[1], width}, {x.factors[0], x.factors[1], std::move(of)}};
}

template <const kind& Kind>
register_type infer_kept(const rule_context& c) {
  auto width = Kind.kept * c.operand(w_hh_at).dims[1];
  return per_place(c.operand(x_at), width, c.fresh_axis(width));
}

// Operands of the backward rows.
enum backward_operand : size_t { gradient_at, kept_at, weights_at };

template <const kind& Kind>
result<register_type> infer_backward(const rule_context& c) {
  auto& w = c.operand(weights_at);
  return per_place(c.operand(kept_at), w.dims[0], w.factors[0]);
}

/// The gradient of the states before the first place: h0's, for lstm followed by c0's.
template <const kind& Kind>
register_type infer_start(const rule_context& c) {
  auto &kept = c.operand(kept_at), &w = c.operand(weights_at);
  auto width = w.dims[1] * (&Kind == &lstm ? 2 : 1);
  return {kept.type,
          kept.storage,
          {kept.dims[0], width},
          {kept.factors[0], &Kind == &lstm ? c.fresh_axis(width) : w.factors[1]}};
}

/// For gru the gates as the state's side sees them, else the gradient of the first states.
template <const kind& Kind>
register_type infer_second_backward(const rule_context& c) {
  return &Kind == &gated ? *infer_backward<Kind>(c) : infer_start<Kind>(c);
}

// -- gradients -----------------------------------------------------------------

reg narrow_last(gradient_context& g, reg x, int64_t start, int64_t len) {
  auto dim = static_cast<int64_t>(g.type_of(x).dims.rank()) - 1;
  return g.emit(op::narrow, {x}, {dim, start, len});
}

template <const kind& Kind>
void gradient(gradient_context& g) {
  auto w_hh = g.operand(w_hh_at);
  auto hidden = g.type_of(w_hh).dims[1];
  auto kept = g.emit(op::second_of, {g.self()});
  std::vector<reg> operands{g.upstream(), kept, w_hh};
  std::vector<attribute> attributes{g.attr(reverse_at), g.attr(out_at)};
  auto gates = g.emit(Kind.backward, operands, attributes);
  // The gates as the state's side sees them: for gru the last one was scaled.
  auto inner = &Kind == &gated ? g.emit(op::second_of, {gates}) : gates;
  if (g.wants(x_at)) g.give(x_at, g.emit(op::linear_input_backward, {gates, g.operand(w_ih_at)}));
  if (g.wants(w_ih_at))
    g.give(w_ih_at, g.emit(op::linear_weight_backward, {gates, g.operand(x_at)}));
  if (g.wants(w_hh_at)) {
    auto before = narrow_last(g, kept, (Kind.kept - 1) * hidden, hidden);
    g.give(w_hh_at, g.emit(op::linear_weight_backward, {inner, before}));
  }
  if (g.wants(b_ih_at)) g.give(b_ih_at, g.emit(op::linear_bias_backward, {gates}));
  if (g.wants(b_hh_at)) g.give(b_hh_at, g.emit(op::linear_bias_backward, {inner}));
  if (!g.wants(h0_at) && !g.wants(c0_at)) return;
  auto start = &Kind == &gated ? g.emit(op::gru_start_backward, operands, attributes)
                               : g.emit(op::second_of, {gates});
  if (g.wants(h0_at)) g.give(h0_at, narrow_last(g, start, 0, hidden));
  if (g.wants(c0_at)) g.give(c0_at, narrow_last(g, start, hidden, hidden));
}

// -- splits and costs ----------------------------------------------------------

std::vector<split_axis> split_batch(const typed_call& call) {
  split_axis axis{std::vector<int>(call.operands.size(), -1), 0, join::none};
  for (size_t i : {x_at, h0_at, c0_at})
    if (call.operands[i]) axis.operand_dims[i] = 0;
  axis.second_dim = 0;
  return {axis};
}

std::vector<split_axis> split_backward(const typed_call&) {
  return {{.operand_dims = {0, 0, -1}, .result_dim = 0, .second_dim = 0}};
}

cost forward_cost(const typed_call& call) {
  auto& x = call.operands[x_at]->dims;
  auto sum = traffic(call, 0);
  sum.flops = 2 * static_cast<double>(x[0]) * static_cast<double>(x[1])
              * static_cast<double>(call.operands[w_ih_at]->dims.elements()
                                    + call.operands[w_hh_at]->dims.elements());
  return sum;
}

template <const kind& Kind>
cost train_cost(const typed_call& call) {
  auto sum = forward_cost(call);
  auto& x = *call.operands[x_at];
  sum.bytes += static_cast<double>(x.dims[0] * x.dims[1] * Kind.kept)
               * static_cast<double>(call.operands[w_hh_at]->dims[1]) * size_of(x.storage);
  return sum;
}

cost backward_cost(const typed_call& call) {
  auto& kept = call.operands[kept_at]->dims;
  auto sum = traffic(call, 0);
  sum.flops = 2 * static_cast<double>(kept[0]) * static_cast<double>(kept[1])
              * static_cast<double>(call.operands[weights_at]->dims.elements());
  return sum;
}

// -- samples -------------------------------------------------------------------

attribute some_out(sampler& random, const kind& of) {
  if (random.coin()) return {};
  return random.below(&of == &lstm ? 3 : 2);
}

attribute some_reverse(sampler& random) {
  return random.coin() ? attribute{} : attribute{random.coin()};
}

template <const kind& Kind>
sample example(sampler& random) {
  auto batch = random.size(), in = random.some(), hidden = random.some();
  auto time = 1 + random.below(4), rows = Kind.gates * hidden;
  sample out{{random.tensor({batch, time, in}),
              random.tensor({rows, in}),
              random.tensor({rows, hidden}),
              {},
              {},
              {},
              {}},
             {some_reverse(random), some_out(random, Kind)}};
  if (random.coin()) {
    out.operands[b_ih_at] = random.tensor({rows});
    out.operands[b_hh_at] = random.tensor({rows});
  }
  if (random.coin()) {
    out.operands[h0_at] = random.tensor({batch, hidden});
    if (&Kind == &lstm) out.operands[c0_at] = random.tensor({batch, hidden});
  }
  return out;
}

template <const kind& Kind>
sample backward_example(sampler& random) {
  auto batch = random.size(), hidden = random.some(), time = random.below(4);
  auto how = some_out(random, Kind);
  shape gradient{batch};
  if (recurrent_out_of(how) == recurrent_out::sequence) gradient.push(time);
  gradient.push(hidden);
  return {{random.tensor(gradient),
           random.tensor({batch, time, Kind.kept * hidden}, contents::unit),
           random.tensor({Kind.gates * hidden, hidden})},
          {some_reverse(random), how}};
}

template <const kind& Kind>
wrong_sample wrong(sampler& random) {
  return {{{random.tensor({2, 3, 4}),
            random.tensor({Kind.gates * 5, 3}),
            random.tensor({Kind.gates * 5, 5}),
            {},
            {},
            {},
            {}},
           {{}, {}}},
          device_errc::shape_mismatch};
}

// -- rows ----------------------------------------------------------------------

template <const kind& Kind>
std::vector<row> rows_of(std::string_view name, std::string_view train_name,
                         std::string_view backward_name, std::string_view sentence,
                         std::string_view reference, std::string_view pytorch) {
  row forward;
  forward.id = Kind.forward;
  forward.name = name;
  forward.sentence = sentence;
  forward.reference = reference;
  forward.fields = {{"x", field_kind::reg},
                    {"w_ih", field_kind::reg},
                    {"w_hh", field_kind::reg},
                    {"b_ih", field_kind::opt_reg, true},
                    {"b_hh", field_kind::opt_reg, true},
                    {"h0", field_kind::opt_reg, true},
                    {"c0", field_kind::opt_reg, true},
                    {"reverse", field_kind::boolean, true},
                    {"out", field_kind::choice, true, {"sequence", "last", "cell"}}};
  forward.infer = infer<Kind>;
  forward.gradient = gradient<Kind>;
  forward.training_form = Kind.train;
  forward.split = split_batch;
  forward.costs = forward_cost;
  forward.pytorch = pytorch;
  forward.example = example<Kind>;
  forward.wrong = wrong<Kind>;
  forward.tolerance = 32;
  auto train = forward;
  train.id = train.training_form = Kind.train;
  train.name = train_name;
  train.sentence = "The same, and as second result what the backward row needs of each place.";
  train.infer_second = infer_kept<Kind>;
  train.costs = train_cost<Kind>;
  auto backward = forward;
  backward.id = backward.training_form = Kind.backward;
  backward.name = backward_name;
  backward.sentence = "The gradients of the gates before their functions.";
  backward.fields = {{"gradient", field_kind::reg},
                     {"kept", field_kind::reg},
                     {"w_hh", field_kind::reg},
                     {"reverse", field_kind::boolean, true},
                     {"out", field_kind::choice, true, {"sequence", "last", "cell"}}};
  backward.infer = infer_backward<Kind>;
  backward.infer_second = infer_second_backward<Kind>;
  backward.gradient = nullptr;
  backward.no_gradient = "second derivatives of recurrences have no rule";
  backward.split = split_backward;
  backward.costs = backward_cost;
  backward.pytorch = {};
  backward.example = backward_example<Kind>;
  backward.wrong = nullptr;
  return {forward, train, backward};
}

constexpr std::string_view rnn_pytorch = "recurrent('rnn_tanh', x, w_ih, w_hh, b_ih, b_hh, h0, c0, "
                                         "reverse, out)";
constexpr std::string_view gru_pytorch = "recurrent('gru', x, w_ih, w_hh, b_ih, b_hh, h0, c0, "
                                         "reverse, out)";
constexpr std::string_view lstm_pytorch = "recurrent('lstm', x, w_ih, w_hh, b_ih, b_hh, h0, c0, "
                                          "reverse, out)";

} // namespace

std::vector<row> recurrent_rows() {
  auto out = rows_of<plain>(
    "rnn", "rnn_train", "rnn_backward",
    "h = tanh(w_ih · x + b_ih + w_hh · h + b_hh) over x [batch, time, in], from h0 [batch, hidden] "
    "or zeros: all h [batch, time, hidden] or the last.",
    "torch.nn.RNN", rnn_pytorch);
  auto gru = rows_of<gated>(
    "gru", "gru_train", "gru_backward",
    "A gated recurrence over x [batch, time, in]: all states [batch, time, hidden] or the last; "
    "gates in PyTorch's order (reset, update, new).",
    "torch.nn.GRU", gru_pytorch);
  auto start = gru.back();
  start.id = start.training_form = op::gru_start_backward;
  start.name = "gru_start_backward";
  start.sentence = "The gradient of h0.";
  start.infer = [](const rule_context& c) -> result<register_type> {
    return infer_start<gated>(c);
  };
  start.infer_second = nullptr;
  auto lstm_rows = rows_of<lstm>(
    "lstm", "lstm_train", "lstm_backward",
    "Long short-term memory over x [batch, time, in]: all states [batch, time, hidden], the last, "
    "or the last cell; gates in PyTorch's order (input, forget, cell, output).",
    "torch.nn.LSTM", lstm_pytorch);
  for (auto& one : gru) out.push_back(std::move(one));
  out.push_back(std::move(start));
  for (auto& one : lstm_rows) out.push_back(std::move(one));
  return out;
}

} // namespace moxzi::device
