// rnn, gru, lstm and their backward rows of f32 and f64: one product for all places, then one for
// each step, with w_hh brought into order once.

#include <algorithm>
#include <optional>
#include <vector>

#include "device/ops/options.hpp"
#include "device/torch/gates.hpp"
#include "device/torch/gemm.hpp"
#include "device/torch/kernels.hpp"
#include "device/torch/loops.hpp"
#include "device/torch/wide_product.hpp"

namespace moxzi::device::torch {

namespace {

/// The right side of many products: `inner` rows of `columns`.
template <class T>
class right_side {
public:
  right_side(int64_t inner, int64_t columns, const T* data, bool transposed)
      : inner_(inner), columns_(columns), data_(data), transposed_(transposed) {
    if constexpr (sizeof(T) == sizeof(float))
      if (inner > 0 && has_wide_products())
        packed_.emplace(inner, columns,
                        transposed ? strided_matrix{data, 1, inner}
                                   : strided_matrix{data, columns, 1});
  }

  /// c [rows, columns] = a [rows, inner] · this, plus c if `add`.
  void multiply(int64_t rows, const T* a, int64_t a_step, T* c, int64_t c_step, bool add) const {
    if constexpr (sizeof(T) == sizeof(float))
      if (packed_) return packed_->multiply(rows, {a, a_step, 1}, c, c_step, add);
    gemm(rows, columns_, inner_, T(1), {a, std::max<int64_t>(a_step, 1)},
         {data_, std::max<int64_t>(transposed_ ? inner_ : columns_, 1), transposed_}, {c, c_step},
         add);
  }

private:
  int64_t inner_, columns_;
  const T* data_;
  bool transposed_;
  std::optional<packed_matrix> packed_;
};

struct kind {
  int64_t gates, kept;
};
constexpr kind plain{1, 2}, gated{3, 5}, lstm{4, 7};

/// Sizes, and the order in which the places of a sequence are visited.
struct course {
  int64_t batch, time, in, hidden;
  bool reverse;
  recurrent_out out;

  int64_t place(int64_t step) const {
    return reverse ? time - 1 - step : step;
  }
};

/// Memory that a kernel keeps from run to run.
template <class T>
struct workspace {
  std::vector<T> gates, state, more;
};

template <class T>
workspace<T>& workspace_of(const kernel_call& call) {
  if (!*call.memo) *call.memo = std::make_shared<workspace<T>>();
  return *std::static_pointer_cast<workspace<T>>(*call.memo);
}

template <class T>
T* sized(std::vector<T>& memory, int64_t count) {
  memory.resize(static_cast<size_t>(std::max<int64_t>(count, 1)));
  return memory.data();
}

template <class T>
const T* data_of(const tensor_view& x) {
  return x.dims.rank() == 0 ? nullptr : x.as<const T>();
}

/// Starts every row of gates with its biases.
template <class T, const kind& Kind>
void put_biases(const kernel_call& call, const course& way, T* gates, int64_t width, int64_t begin,
                int64_t end) {
  const T *outer = data_of<T>(call.inputs[3]), *inner = data_of<T>(call.inputs[4]);
  const auto n = Kind.gates * way.hidden;
  std::vector<T> sums(static_cast<size_t>(n));
  for (int64_t j = 0; j < n; j++) {
    if (outer) sums[static_cast<size_t>(j)] += outer[j];
    // gru scales what comes from the state, its bias included.
    if (inner && &Kind != &gated) sums[static_cast<size_t>(j)] += inner[j];
  }
  for (int64_t i = begin * way.time; i < end * way.time; i++)
    std::copy(sums.begin(), sums.end(), gates + i * width);
}

template <class T, const kind& Kind>
void forward_of(const kernel_call& call) {
  auto &x = call.inputs[0], &w_hh = call.inputs[2];
  const course way{x.dims[0],
                   x.dims[1],
                   x.dims[2],
                   w_hh.dims[1],
                   flag(call.attributes[0]),
                   recurrent_out_of(call.attributes[1])};
  const auto n = way.hidden, gates_width = Kind.gates * n;
  if (way.batch == 0 || n == 0) return;
  auto& memory = workspace_of<T>(call);
  const bool keep = call.outputs.size() > 1;
  const auto width = keep ? Kind.kept * n : gates_width;
  T* rows = keep ? call.outputs[1].as<T>() : sized(memory.gates, way.batch * way.time * width);
  T* h = sized(memory.state, 2 * way.batch * n);
  T* c = h + way.batch * n;
  T* own = sized(memory.more, &Kind == &gated ? way.batch * gates_width : 0);
  for (auto [to, from] : {std::pair{h, &call.inputs[5]}, {c, &call.inputs[6]}}) {
    if (auto* start = data_of<T>(*from))
      std::copy_n(start, way.batch * n, to);
    else
      std::fill_n(to, way.batch * n, T{});
  }
  const right_side<T> from_x(way.in, gates_width, call.inputs[1].as<const T>(), true);
  const right_side<T> from_h(n, gates_width, w_hh.as<const T>(), true);
  const T* inner_bias = data_of<T>(call.inputs[4]);
  const auto sequences = [&](int64_t begin, int64_t end) {
    put_biases<T, Kind>(call, way, rows, width, begin, end);
    from_x.multiply((end - begin) * way.time, x.as<const T>() + begin * way.time * way.in, way.in,
                    rows + begin * way.time * width, width, true);
    for (int64_t t = 0; t < way.time; t++) {
      const auto place = way.place(t);
      T* gates = rows + (begin * way.time + place) * width;
      if constexpr (&Kind == &gated) {
        for (int64_t b = begin; b < end; b++)
          if (inner_bias)
            std::copy_n(inner_bias, gates_width, own + b * gates_width);
          else
            std::fill_n(own + b * gates_width, gates_width, T{});
        from_h.multiply(end - begin, h + begin * n, n, own + begin * gates_width, gates_width,
                        true);
      } else {
        from_h.multiply(end - begin, h + begin * n, n, gates, way.time * width, true);
      }
      for (int64_t b = begin; b < end; b++, gates += way.time * width) {
        T* kept = keep ? gates + gates_width : nullptr;
        if constexpr (&Kind == &plain)
          rnn_step(n, gates, h + b * n, kept);
        else if constexpr (&Kind == &gated)
          gru_step(n, gates, own + b * gates_width, h + b * n, kept);
        else
          lstm_step(n, gates, h + b * n, c + b * n, kept);
        if (way.out == recurrent_out::sequence)
          std::copy_n(h + b * n, n, call.outputs[0].as<T>() + (b * way.time + place) * n);
      }
    }
  };
  for_parts(call.threads, way.batch, 4, sequences);
  if (way.out != recurrent_out::sequence)
    std::copy_n(way.out == recurrent_out::cell ? c : h, way.batch * n, call.outputs[0].as<T>());
}

// -- backward ------------------------------------------------------------------

template <class T, const kind& Kind, bool Start>
void backward_of(const kernel_call& call) {
  auto &gradient = call.inputs[0], &kept = call.inputs[1], &w = call.inputs[2];
  const course way{kept.dims[0],
                   kept.dims[1],
                   0,
                   w.dims[1],
                   flag(call.attributes[0]),
                   recurrent_out_of(call.attributes[1])};
  const auto n = way.hidden, width = Kind.kept * n, gates_width = Kind.gates * n;
  if (way.batch == 0 || n == 0) return;
  auto& memory = workspace_of<T>(call);
  T* dh = sized(memory.state, 2 * way.batch * n);
  T* dc = dh + way.batch * n;
  std::fill_n(dh, 2 * way.batch * n, T{});
  const bool all = way.out == recurrent_out::sequence;
  if (!all)
    std::copy_n(gradient.as<const T>(), way.batch * n, way.out == recurrent_out::cell ? dc : dh);
  // Only gru has gradients apart for the state's side; for h0 alone both go nowhere.
  const auto places = way.batch * way.time * gates_width;
  T* outer = Start ? sized(memory.gates, 2 * places) : call.outputs[0].as<T>();
  T* inner = Start ? outer + places : &Kind == &gated ? call.outputs[1].as<T>() : outer;
  const right_side<T> back(gates_width, n, w.as<const T>(), false);
  for_parts(call.threads, way.batch, 4, [&](int64_t begin, int64_t end) {
    for (int64_t t = way.time; t-- > 0;) {
      for (int64_t b = begin; b < end; b++) {
        const auto at = b * way.time + way.place(t);
        const T* had = kept.as<const T>() + at * width;
        if (all) add_gradient(n, dh + b * n, gradient.as<const T>() + at * n);
        if constexpr (&Kind == &plain)
          rnn_step_back(n, had, dh + b * n, outer + at * gates_width);
        else if constexpr (&Kind == &gated)
          gru_step_back(n, had, dh + b * n, outer + at * gates_width, inner + at * gates_width);
        else
          lstm_step_back(n, had, dh + b * n, dc + b * n, outer + at * gates_width);
      }
      back.multiply(end - begin, inner + (begin * way.time + way.place(t)) * gates_width,
                    way.time * gates_width, dh + begin * n, n, &Kind == &gated);
    }
  });
  if (&Kind == &gated && !Start) return;
  auto& start = call.outputs[Start ? 0 : 1];
  const auto columns = start.dims.last();
  for (int64_t b = 0; b < way.batch; b++) {
    std::copy_n(dh + b * n, n, start.as<T>() + b * columns);
    if (columns > n) std::copy_n(dc + b * n, n, start.as<T>() + b * columns + n);
  }
}

template <const kind& Kind>
bool forward(const kernel_call& call, fault&) {
  if (call.outputs[0].type == elem::f64)
    forward_of<double, Kind>(call);
  else
    forward_of<float, Kind>(call);
  return true;
}

template <const kind& Kind, bool Start = false>
bool backward(const kernel_call& call, fault&) {
  if (call.outputs[0].type == elem::f64)
    backward_of<double, Kind, Start>(call);
  else
    backward_of<float, Kind, Start>(call);
  return true;
}

} // namespace

kernel_function find_recurrent_kernel(op id) noexcept {
  switch (id) {
    case op::rnn:
    case op::rnn_train:
      return forward<plain>;
    case op::gru:
    case op::gru_train:
      return forward<gated>;
    case op::lstm:
    case op::lstm_train:
      return forward<lstm>;
    case op::rnn_backward:
      return backward<plain>;
    case op::gru_backward:
      return backward<gated>;
    case op::gru_start_backward:
      return backward<gated, true>;
    case op::lstm_backward:
      return backward<lstm>;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::torch
