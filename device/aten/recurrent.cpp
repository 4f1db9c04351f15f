// rnn, gru, lstm and their backward rows, one step after the other.

#include "device/aten/kernels.hpp"
#include "device/ops/options.hpp"

namespace moxzi::device::aten {

namespace {

/// Part `n` of a row of parts of equal length.
at::Tensor part(const at::Tensor& x, int64_t n, int64_t length) {
  return x.narrow(-1, n * length, length);
}

struct state {
  at::Tensor h, c;
};

/// One step; `from` and `own` are the gates' inputs from x and from the state. Gives what is kept.
template <op Id>
std::vector<at::Tensor> step(const at::Tensor& from, const at::Tensor& own, state& now) {
  const auto length = now.h.size(1);
  const auto before = now.h;
  const auto both = [&](int64_t n) { return part(from, n, length) + part(own, n, length); };
  if constexpr (Id == op::rnn) {
    now.h = both(0).tanh_();
    return {now.h, before};
  } else if constexpr (Id == op::gru) {
    const auto r = both(0).sigmoid_(), z = both(1).sigmoid_(), inner = part(own, 2, length);
    const auto n = (part(from, 2, length) + r * inner).tanh_();
    now.h = n + z * (before - n);
    return {r, z, n, inner, before};
  } else {
    const auto i = both(0).sigmoid_(), f = both(1).sigmoid_(), g = both(2).tanh_();
    const auto o = both(3).sigmoid_(), cell = now.c;
    now.c = f * cell + i * g;
    const auto seen = now.c.tanh();
    now.h = o * seen;
    return {i, f, g, o, cell, seen, before};
  }
}

template <op Id>
void forward(const aten_call& call, index_watch&) {
  const auto x = at_least_f32(call.inputs[0]), w_ih = at_least_f32(call.inputs[1]);
  const auto w_hh = at_least_f32(call.inputs[2]);
  const auto optional = [&call](size_t n) {
    return call.inputs[n].defined() ? std::optional(at_least_f32(call.inputs[n])) : std::nullopt;
  };
  const auto batch = x.size(0), time = x.size(1), length = w_hh.size(1);
  if (batch == 0 || length == 0) return;
  const auto start = [&](size_t n) {
    return optional(n).value_or(at::zeros({batch, length}, x.options()));
  };
  state now{start(5), start(6)};
  const auto from = at::linear(x, w_ih, optional(3));
  const bool reverse = flag(call.attributes[0]);
  const auto out = recurrent_out_of(call.attributes[1]);
  for (int64_t t = 0; t < time; t++) {
    const auto at = reverse ? time - 1 - t : t;
    const auto kept = step<Id>(from.select(1, at), at::linear(now.h, w_hh, optional(4)), now);
    if (out == recurrent_out::sequence) call.outputs[0].select(1, at).copy_(now.h);
    if (call.outputs.size() > 1) call.outputs[1].select(1, at).copy_(at::cat(kept, 1));
  }
  if (out == recurrent_out::last) call.outputs[0].copy_(now.h);
  if (out == recurrent_out::cell) call.outputs[0].copy_(now.c);
}

// -- backward ------------------------------------------------------------------

struct slopes {
  at::Tensor outer, inner, direct; ///< the last may be undefined: zeros
};

template <op Id>
slopes step_back(const at::Tensor& kept, const at::Tensor& dh, at::Tensor& dc) {
  const auto length = dh.size(1);
  const auto had = [&](int64_t n) { return part(kept, n, length); };
  if constexpr (Id == op::rnn) {
    const auto h = had(0), slope = dh * (1 - h * h);
    return {slope, slope, {}};
  } else if constexpr (Id == op::gru) {
    const auto r = had(0), z = had(1), n = had(2), inner = had(3);
    const auto dn = dh * (1 - z) * (1 - n * n);
    const auto dr = dn * inner * r * (1 - r), dz = dh * (had(4) - n) * z * (1 - z);
    return {at::cat({dr, dz, dn}, 1), at::cat({dr, dz, dn * r}, 1), dh * z};
  } else {
    const auto i = had(0), f = had(1), g = had(2), o = had(3), seen = had(5);
    const auto through = dc + dh * o * (1 - seen * seen);
    dc = through * f;
    const auto slope = at::cat({through * g * i * (1 - i), through * had(4) * f * (1 - f),
                                through * i * (1 - g * g), dh * seen * o * (1 - o)},
                               1);
    return {slope, slope, {}};
  }
}

/// `Start` = only the gradient of gru's h0.
template <op Id, bool Start = false>
void backward(const aten_call& call, index_watch&) {
  const auto gradient = at_least_f32(call.inputs[0]), kept = at_least_f32(call.inputs[1]);
  const auto w = at_least_f32(call.inputs[2]);
  const auto batch = kept.size(0), time = kept.size(1), length = w.size(1);
  if (batch == 0 || length == 0) return;
  const bool reverse = flag(call.attributes[0]);
  const auto out = recurrent_out_of(call.attributes[1]);
  auto dh = at::zeros({batch, length}, w.options()), dc = dh;
  if (out == recurrent_out::last) dh = gradient;
  if (out == recurrent_out::cell) dc = gradient;
  for (int64_t t = time; t-- > 0;) {
    const auto at = reverse ? time - 1 - t : t;
    if (out == recurrent_out::sequence) dh = dh + gradient.select(1, at);
    const auto slope = step_back<Id>(kept.select(1, at), dh, dc);
    if (!Start) {
      call.outputs[0].select(1, at).copy_(slope.outer);
      if (Id == op::gru) call.outputs[1].select(1, at).copy_(slope.inner);
    }
    dh = at::mm(slope.inner, w);
    if (slope.direct.defined()) dh = dh + slope.direct;
  }
  if (Start)
    call.outputs[0].copy_(dh);
  else if (Id == op::rnn)
    call.outputs[1].copy_(dh);
  else if (Id == op::lstm)
    call.outputs[1].copy_(at::cat({dh, dc}, 1));
}

} // namespace

aten_kernel find_recurrent_kernel(op id) noexcept {
  switch (id) {
    case op::rnn:
    case op::rnn_train:
      return forward<op::rnn>;
    case op::gru:
    case op::gru_train:
      return forward<op::gru>;
    case op::lstm:
    case op::lstm_train:
      return forward<op::lstm>;
    case op::rnn_backward:
      return backward<op::rnn>;
    case op::gru_backward:
      return backward<op::gru>;
    case op::gru_start_backward:
      return backward<op::gru, true>;
    case op::lstm_backward:
      return backward<op::lstm>;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::aten
