#include "device/pointwise/chain.hpp"
#include "device/pointwise/math.hpp"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wtautological-compare"

namespace moxzi::device::pointwise {

namespace {

using T = int64_t;

#define POINTWISE(name, formula)                                                                   \
  void run_##name(T* out, const T* a_, const T* b_, const T* c_, T p, T q, int64_t n) {            \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; ++i) {                                         \
      const T a = a_[i], b = b_[i], c = c_[i];                                                     \
      out[i] = formula;                                                                            \
    }                                                                                              \
  }
#define POINTWISE_FLOAT(name, formula)
#include "device/pointwise/formulas.inc"
#undef POINTWISE

#define POINTWISE(name, formula) {#name, run_##name},
const loop_table<T> all({
#include "device/pointwise/formulas.inc"
});

} // namespace

loop<T> find_i64(op id) noexcept {
  return all.find(id);
}

} // namespace moxzi::device::pointwise
