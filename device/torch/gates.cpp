#include "device/torch/gates.hpp"

#include "device/pointwise/math.hpp"
#include "device/torch/loops.hpp"

namespace moxzi::device::torch {

namespace {

using pointwise::exponential;
using pointwise::hyperbolic_tangent;

template <class T>
MOXZI_INLINE T sigmoid(T x) {
  return T(1) / (T(1) + exponential(-x));
}

// -- forward -------------------------------------------------------------------

template <class T>
MOXZI_INLINE void rnn_loop(int64_t n, T* __restrict gate, T* __restrict h, T* __restrict before) {
  if (before)
    for (int64_t j = 0; j < n; j++) before[j] = h[j];
  for (int64_t j = 0; j < n; j++) {
    gate[j] = hyperbolic_tangent(gate[j]);
    h[j] = gate[j];
  }
}

template <class T>
MOXZI_INLINE void gru_loop(int64_t n, T* __restrict r, T* __restrict z, T* __restrict fresh,
                           const T* __restrict own_r, const T* __restrict own_z,
                           const T* __restrict own, T* __restrict h) {
  for (int64_t j = 0; j < n; j++) {
    const T reset = sigmoid(r[j] + own_r[j]), update = sigmoid(z[j] + own_z[j]);
    const T value = hyperbolic_tangent(fresh[j] + reset * own[j]);
    r[j] = reset;
    z[j] = update;
    fresh[j] = value;
    h[j] = value + update * (h[j] - value);
  }
}

template <class T>
MOXZI_INLINE void lstm_loop(int64_t n, T* __restrict gi, T* __restrict gf, T* __restrict gg,
                            T* __restrict go, T* __restrict h, T* __restrict c) {
  for (int64_t j = 0; j < n; j++) {
    const T i = sigmoid(gi[j]), f = sigmoid(gf[j]), g = hyperbolic_tangent(gg[j]);
    const T o = sigmoid(go[j]), cell = f * c[j] + i * g;
    c[j] = cell;
    h[j] = o * hyperbolic_tangent(cell);
  }
}

template <class T>
MOXZI_INLINE void lstm_keeping_loop(int64_t n, T* __restrict gi, T* __restrict gf, T* __restrict gg,
                                    T* __restrict go, T* __restrict h, T* __restrict c,
                                    T* __restrict old_c, T* __restrict seen, T* __restrict old_h) {
  for (int64_t j = 0; j < n; j++) {
    const T i = sigmoid(gi[j]), f = sigmoid(gf[j]), g = hyperbolic_tangent(gg[j]);
    const T o = sigmoid(go[j]), before = c[j], cell = f * before + i * g;
    const T tanh_cell = hyperbolic_tangent(cell);
    gi[j] = i;
    gf[j] = f;
    gg[j] = g;
    go[j] = o;
    old_c[j] = before;
    seen[j] = tanh_cell;
    old_h[j] = h[j];
    c[j] = cell;
    h[j] = o * tanh_cell;
  }
}

// -- backward ------------------------------------------------------------------

template <class T>
MOXZI_INLINE void rnn_back_loop(int64_t n, const T* __restrict h, const T* __restrict dh,
                                T* __restrict slope) {
  for (int64_t j = 0; j < n; j++) slope[j] = dh[j] * (T(1) - h[j] * h[j]);
}

template <class T>
MOXZI_INLINE void gru_back_loop(int64_t n, const T* __restrict kept, T* __restrict dh,
                                T* __restrict outer, T* __restrict inner) {
  const T *r = kept, *z = kept + n, *fresh = kept + 2 * n, *own = kept + 3 * n, *old = kept + 4 * n;
  T *outer_z = outer + n, *outer_n = outer + 2 * n, *inner_z = inner + n, *inner_n = inner + 2 * n;
  for (int64_t j = 0; j < n; j++) {
    const T slope = dh[j] * (T(1) - z[j]) * (T(1) - fresh[j] * fresh[j]);
    const T dr = slope * own[j] * r[j] * (T(1) - r[j]);
    const T dz = dh[j] * (old[j] - fresh[j]) * z[j] * (T(1) - z[j]);
    outer[j] = dr;
    inner[j] = dr;
    outer_z[j] = dz;
    inner_z[j] = dz;
    outer_n[j] = slope;
    inner_n[j] = slope * r[j];
    dh[j] *= z[j];
  }
}

template <class T>
MOXZI_INLINE void lstm_back_loop(int64_t n, const T* __restrict kept, const T* __restrict dh,
                                 T* __restrict dc, T* __restrict to) {
  const T *gi = kept, *gf = kept + n, *gg = kept + 2 * n, *go = kept + 3 * n;
  const T *old_c = kept + 4 * n, *seen = kept + 5 * n;
  T *di = to, *df = to + n, *dg = to + 2 * n, *dO = to + 3 * n;
  for (int64_t j = 0; j < n; j++) {
    const T i = gi[j], f = gf[j], g = gg[j], o = go[j], t = seen[j];
    const T through = dc[j] + dh[j] * o * (T(1) - t * t);
    di[j] = through * g * i * (T(1) - i);
    df[j] = through * old_c[j] * f * (T(1) - f);
    dg[j] = through * i * (T(1) - g * g);
    dO[j] = dh[j] * t * o * (T(1) - o);
    dc[j] = through * f;
  }
}

// Both types of each, for all instruction sets.
#define MOXZI_LOOPS(T)                                                                             \
  MOXZI_CLONES void rnn_row(int64_t n, T* gate, T* h, T* before) {                                 \
    rnn_loop(n, gate, h, before);                                                                  \
  }                                                                                                \
  MOXZI_CLONES void gru_row(int64_t n, T* gates, const T* own, T* h) {                             \
    gru_loop(n, gates, gates + n, gates + 2 * n, own, own + n, own + 2 * n, h);                    \
  }                                                                                                \
  MOXZI_CLONES void lstm_row(int64_t n, T* gates, T* h, T* c) {                                    \
    lstm_loop(n, gates, gates + n, gates + 2 * n, gates + 3 * n, h, c);                            \
  }                                                                                                \
  MOXZI_CLONES void lstm_keeping_row(int64_t n, T* gates, T* h, T* c, T* kept) {                   \
    lstm_keeping_loop(n, gates, gates + n, gates + 2 * n, gates + 3 * n, h, c, kept, kept + n,     \
                      kept + 2 * n);                                                               \
  }                                                                                                \
  MOXZI_CLONES void rnn_back_row(int64_t n, const T* h, const T* dh, T* slope) {                   \
    rnn_back_loop(n, h, dh, slope);                                                                \
  }                                                                                                \
  MOXZI_CLONES void gru_back_row(int64_t n, const T* kept, T* dh, T* outer, T* inner) {            \
    gru_back_loop(n, kept, dh, outer, inner);                                                      \
  }                                                                                                \
  MOXZI_CLONES void lstm_back_row(int64_t n, const T* kept, const T* dh, T* dc, T* to) {           \
    lstm_back_loop(n, kept, dh, dc, to);                                                           \
  }                                                                                                \
  MOXZI_CLONES void add_row(int64_t n, T* __restrict to, const T* __restrict more) {               \
    for (int64_t j = 0; j < n; j++) to[j] += more[j];                                              \
  }
MOXZI_LOOPS(float)
MOXZI_LOOPS(double)
#undef MOXZI_LOOPS

} // namespace

template <class T>
void rnn_step(int64_t n, T* gate, T* h, T* before) {
  rnn_row(n, gate, h, before);
}

template <class T>
void gru_step(int64_t n, T* gates, const T* own, T* h, T* kept) {
  if (kept)
    for (int64_t j = 0; j < n; j++) {
      kept[j] = own[2 * n + j];
      kept[n + j] = h[j];
    }
  gru_row(n, gates, own, h);
}

template <class T>
void lstm_step(int64_t n, T* gates, T* h, T* c, T* kept) {
  if (kept)
    lstm_keeping_row(n, gates, h, c, kept);
  else
    lstm_row(n, gates, h, c);
}

template <class T>
void add_gradient(int64_t n, T* dh, const T* more) {
  if (more) add_row(n, dh, more);
}

template <class T>
void rnn_step_back(int64_t n, const T* kept, const T* dh, T* slope) {
  rnn_back_row(n, kept, dh, slope);
}

template <class T>
void gru_step_back(int64_t n, const T* kept, T* dh, T* outer, T* inner) {
  gru_back_row(n, kept, dh, outer, inner);
}

template <class T>
void lstm_step_back(int64_t n, const T* kept, const T* dh, T* dc, T* slopes) {
  lstm_back_row(n, kept, dh, dc, slopes);
}

#define MOXZI_STEPS(T)                                                                             \
  template void rnn_step(int64_t, T*, T*, T*);                                                     \
  template void gru_step(int64_t, T*, const T*, T*, T*);                                           \
  template void lstm_step(int64_t, T*, T*, T*, T*);                                                \
  template void add_gradient(int64_t, T*, const T*);                                               \
  template void rnn_step_back(int64_t, const T*, const T*, T*);                                    \
  template void gru_step_back(int64_t, const T*, T*, T*, T*);                                      \
  template void lstm_step_back(int64_t, const T*, const T*, T*, T*);
MOXZI_STEPS(float)
MOXZI_STEPS(double)
#undef MOXZI_STEPS

} // namespace moxzi::device::torch
