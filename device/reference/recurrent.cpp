// rnn, gru, lstm and their backward rows.

#include <cmath>
#include <vector>

#include "device/ops/options.hpp"
#include "device/reference/kernels.hpp"

namespace moxzi::device::reference {

namespace {

using numbers = std::vector<double>;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// Sizes, and the order in which the places are visited.
struct course {
  int64_t batch, time, hidden, gates;
  bool reverse;
  recurrent_out out;

  /// Where in x the `step`-th visited place of a sequence is.
  int64_t place(int64_t sequence, int64_t step) const {
    return sequence * time + (reverse ? time - 1 - step : step);
  }
};

/// b + w · x for one row of gates.
double product(const tensor_view& w, int64_t row, int64_t columns, const double* x,
               const tensor_view& b) {
  double sum = b.data ? get(b, row) : 0;
  for (int64_t j = 0; j < columns; ++j) sum += get(w, row * columns + j) * x[j];
  return sum;
}

/// The state of one sequence, and what is kept of one place: parts as long as the state.
struct cell {
  numbers h, c, kept;

  double& part(int64_t n, int64_t j) {
    return kept[static_cast<size_t>(n * static_cast<int64_t>(h.size()) + j)];
  }
};

/// One step; `from` and `to` are the gates' inputs from x and from the state.
void step(op id, cell& now, const numbers& from, const numbers& to) {
  auto hidden = static_cast<int64_t>(now.h.size());
  auto in = [&](int64_t gate, int64_t j) { return from[static_cast<size_t>(gate * hidden + j)]; };
  auto own = [&](int64_t gate, int64_t j) { return to[static_cast<size_t>(gate * hidden + j)]; };
  for (int64_t j = 0; j < hidden; ++j) {
    auto& h = now.h[static_cast<size_t>(j)];
    auto both = [&](int64_t gate) { return in(gate, j) + own(gate, j); };
    if (id == op::rnn) {
      now.part(1, j) = h;
      h = now.part(0, j) = std::tanh(both(0));
    } else if (id == op::gru) {
      auto r = sigmoid(both(0)), z = sigmoid(both(1)), n = std::tanh(in(2, j) + r * own(2, j));
      double parts[] = {r, z, n, own(2, j), h};
      for (int64_t p = 0; p < 5; ++p) now.part(p, j) = parts[p];
      h = (1 - z) * n + z * h;
    } else {
      auto &c = now.c[static_cast<size_t>(j)], before = c;
      auto i = sigmoid(both(0)), f = sigmoid(both(1)), g = std::tanh(both(2)), o = sigmoid(both(3));
      c = f * c + i * g;
      double parts[] = {i, f, g, o, before, std::tanh(c), h};
      for (int64_t p = 0; p < 7; ++p) now.part(p, j) = parts[p];
      h = o * std::tanh(c);
    }
  }
}

struct kind {
  op forward;
  int64_t gates, kept;
};

kind kind_of(op id) {
  switch (id) {
    case op::rnn:
    case op::rnn_train:
    case op::rnn_backward:
      return {op::rnn, 1, 2};
    case op::gru:
    case op::gru_train:
    case op::gru_backward:
    case op::gru_start_backward:
      return {op::gru, 3, 5};
    default:
      return {op::lstm, 4, 7};
  }
}

bool forward(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &w_ih = call.inputs[1], &w_hh = call.inputs[2];
  auto what = kind_of(call.id);
  course way{x.dims[0],
             x.dims[1],
             w_hh.dims[1],
             what.gates,
             flag(call.attributes[0]),
             recurrent_out_of(call.attributes[1])};
  auto in = x.dims[2], hidden = way.hidden;
  for (int64_t b = 0; b < way.batch; ++b) {
    cell now{numbers(static_cast<size_t>(hidden)), numbers(static_cast<size_t>(hidden)),
             numbers(static_cast<size_t>(what.kept * hidden))};
    for (int64_t j = 0; j < hidden; ++j) {
      auto at = static_cast<size_t>(j);
      if (call.inputs[5].data) now.h[at] = get(call.inputs[5], b * hidden + j);
      if (call.inputs[6].data) now.c[at] = get(call.inputs[6], b * hidden + j);
    }
    for (int64_t t = 0; t < way.time; ++t) {
      auto place = way.place(b, t);
      numbers row(static_cast<size_t>(in)), from, to;
      for (int64_t j = 0; j < in; ++j) row[static_cast<size_t>(j)] = get(x, place * in + j);
      for (int64_t g = 0; g < what.gates * hidden; ++g) {
        from.push_back(product(w_ih, g, in, row.data(), call.inputs[3]));
        to.push_back(product(w_hh, g, hidden, now.h.data(), call.inputs[4]));
      }
      step(what.forward, now, from, to);
      for (int64_t j = 0; j < hidden && way.out == recurrent_out::sequence; ++j)
        set(call.outputs[0], place * hidden + j, now.h[static_cast<size_t>(j)]);
      for (int64_t j = 0; j < what.kept * hidden && call.outputs.size() > 1; ++j)
        set(call.outputs[1], place * what.kept * hidden + j, now.kept[static_cast<size_t>(j)]);
    }
    auto& last = way.out == recurrent_out::cell ? now.c : now.h;
    for (int64_t j = 0; j < hidden && way.out != recurrent_out::sequence; ++j)
      set(call.outputs[0], b * hidden + j, last[static_cast<size_t>(j)]);
  }
  return true;
}

// -- backward ------------------------------------------------------------------

/// The gradients of one place's gates, as seen from x and from the state before; `direct` is what
/// reaches that state past the gates.
struct slopes {
  numbers outer, inner, direct;
};

slopes step_back(op id, const numbers& kept, const numbers& dh, numbers& dc) {
  auto hidden = dh.size();
  auto part = [&](size_t n, size_t j) { return kept[n * hidden + j]; };
  auto gates = id == op::rnn ? 1 : id == op::gru ? 3u : 4u;
  slopes out{numbers(gates * hidden), numbers(gates * hidden), numbers(hidden)};
  for (size_t j = 0; j < hidden; ++j) {
    auto put = [&](size_t gate, double value, double inner) {
      out.outer[gate * hidden + j] = value;
      out.inner[gate * hidden + j] = inner;
    };
    if (id == op::rnn) {
      auto slope = dh[j] * (1 - part(0, j) * part(0, j));
      put(0, slope, slope);
    } else if (id == op::gru) {
      auto r = part(0, j), z = part(1, j), n = part(2, j), own = part(3, j), h = part(4, j);
      auto dn = dh[j] * (1 - z) * (1 - n * n);
      auto dr = dn * own * r * (1 - r), dz = dh[j] * (h - n) * z * (1 - z);
      put(0, dr, dr);
      put(1, dz, dz);
      put(2, dn, dn * r);
      out.direct[j] = dh[j] * z;
    } else {
      auto i = part(0, j), f = part(1, j), g = part(2, j), o = part(3, j), tanh_c = part(5, j);
      auto through = dc[j] + dh[j] * o * (1 - tanh_c * tanh_c);
      double each[] = {through * g * i * (1 - i), through * part(4, j) * f * (1 - f),
                       through * i * (1 - g * g), dh[j] * tanh_c * o * (1 - o)};
      for (size_t gate = 0; gate < 4; ++gate) put(gate, each[gate], each[gate]);
      dc[j] = through * f;
    }
  }
  return out;
}

bool backward(const kernel_call& call, fault&) {
  auto &gradient = call.inputs[0], &kept = call.inputs[1], &w = call.inputs[2];
  auto what = kind_of(call.id);
  course way{kept.dims[0],
             kept.dims[1],
             w.dims[1],
             what.gates,
             flag(call.attributes[0]),
             recurrent_out_of(call.attributes[1])};
  auto hidden = way.hidden, width = what.gates * hidden;
  bool only_start = call.id == op::gru_start_backward;
  for (int64_t b = 0; b < way.batch; ++b) {
    numbers dh(static_cast<size_t>(hidden)), dc(dh.size());
    for (int64_t j = 0; j < hidden && way.out != recurrent_out::sequence; ++j)
      (way.out == recurrent_out::cell ? dc : dh)[static_cast<size_t>(j)] =
        get(gradient, b * hidden + j);
    for (int64_t t = way.time; t-- > 0;) {
      auto place = way.place(b, t);
      numbers mine;
      for (int64_t j = 0; j < what.kept * hidden; ++j)
        mine.push_back(get(kept, place * what.kept * hidden + j));
      for (int64_t j = 0; j < hidden && way.out == recurrent_out::sequence; ++j)
        dh[static_cast<size_t>(j)] += get(gradient, place * hidden + j);
      auto slope = step_back(what.forward, mine, dh, dc);
      for (int64_t g = 0; g < width && !only_start; ++g) {
        set(call.outputs[0], place * width + g, slope.outer[static_cast<size_t>(g)]);
        if (what.forward == op::gru)
          set(call.outputs[1], place * width + g, slope.inner[static_cast<size_t>(g)]);
      }
      dh = slope.direct;
      for (int64_t g = 0; g < width; ++g)
        for (int64_t j = 0; j < hidden; ++j)
          dh[static_cast<size_t>(j)] +=
            slope.inner[static_cast<size_t>(g)] * get(w, g * hidden + j);
    }
    if (what.forward == op::gru && !only_start) continue;
    auto& start = call.outputs[only_start ? 0 : 1];
    auto columns = start.dims.last();
    for (int64_t j = 0; j < columns; ++j)
      set(start, b * columns + j,
          j < hidden ? dh[static_cast<size_t>(j)] : dc[static_cast<size_t>(j - hidden)]);
  }
  return true;
}

} // namespace

kernel_function find_recurrent_kernel(op id) noexcept {
  switch (id) {
    case op::rnn:
    case op::rnn_train:
    case op::gru:
    case op::gru_train:
    case op::lstm:
    case op::lstm_train:
      return forward;
    case op::rnn_backward:
    case op::gru_backward:
    case op::gru_start_backward:
    case op::lstm_backward:
      return backward;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::reference
