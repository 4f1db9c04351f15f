#include "device/pointwise/gpu_source.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "device/ops/table.hpp"

namespace moxzi::device::pointwise {

namespace {

/// The formula of a row, as it is written.
std::string_view formula_of(op id) {
  static const std::map<std::string_view, std::string_view> all{
#define POINTWISE(name, formula) {#name, #formula},
#define POINTWISE_FLOAT POINTWISE
#include "device/pointwise/formulas.inc"
#undef POINTWISE
#undef POINTWISE_FLOAT
  };
  auto found = all.find(find_row(id)->name);
  moxzi_assert(found != all.end(), "no formula of {}", find_row(id)->name);
  return found->second;
}

/// The functions that the formulas name, as CUDA has them, and reading and writing of elements. `T`
/// is the chain's type.
constexpr std::string_view functions = R"(
typedef long long int64;
struct arguments {
  const void* inputs[16];
  void* outputs[16];
  int64 elements, rank, sizes[8], strides[16][8];
  unsigned long long gaps;
};
__device__ int64 place(const arguments& with, int input, int64 n) {
  if (!(with.gaps >> input & 1)) return n;
  int64 offset = 0;
  for (int64 i = with.rank; i-- > 0;) {
    offset += n % with.sizes[i] * with.strides[input][i];
    n /= with.sizes[i];
  }
  return offset;
}
struct f16 { unsigned short bits; };
struct bf16 { unsigned short bits; };
template <class S> __device__ T load(const void* from, int64 at) { return T(((const S*)from)[at]); }
template <> __device__ T load<f16>(const void* from, int64 at) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(((const f16*)from)[at].bits));
  return T(value);
}
template <> __device__ T load<bf16>(const void* from, int64 at) {
  return T(__uint_as_float((unsigned)((const bf16*)from)[at].bits << 16));
}
template <class S> __device__ S convert(T value) { return S(value); }
template <> __device__ f16 convert<f16>(T value) {
  f16 to;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(float(value)));
  return to;
}
template <> __device__ bf16 convert<bf16>(T value) {
  unsigned bits = __float_as_uint(float(value));
  if (float(value) != float(value)) return bf16{(unsigned short)(bits >> 16 | 0x40)};
  return bf16{(unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
template <> __device__ bool convert<bool>(T value) { return value != T(0); }
template <class S> __device__ void store(void* to, int64 at, T value) {
  ((S*)to)[at] = convert<S>(value);
}
)";

constexpr std::string_view float_functions = R"(
__device__ T exponential(T x) { return exp(x); }
__device__ T exponential_less_1(T x) { return expm1(x); }
__device__ T logarithm(T x) { return log(x); }
__device__ T logarithm_of_1_plus(T x) { return log1p(x); }
__device__ T hyperbolic_tangent(T x) { return tanh(x); }
__device__ T error_function(T x) { return erf(x); }
__device__ T sine(T x) { return sin(x); }
__device__ T cosine(T x) { return cos(x); }
__device__ T square_root(T x) { return sqrt(x); }
__device__ T power(T x, T y) { return pow(x, y); }
__device__ T round_down(T x) { return floor(x); }
__device__ T round_even(T x) { return rint(x); }
__device__ T floor_rem(T x, T y) {
  const T rest = fmod(x, y);
  return rest != T(0) && (rest < T(0)) != (y < T(0)) ? rest + y : rest;
}
__device__ T tanh_gelu_slope(T x) {
  const T k = T(0.79788456080286536);
  const T t = tanh(k * (x + T(0.044715) * x * x * x));
  return T(0.5) * (T(1) + t)
         + T(0.5) * x * (T(1) - t * t) * k * (T(1) + T(3) * T(0.044715) * x * x);
}
)";

constexpr std::string_view integer_functions = R"(
__device__ T floor_rem(T x, T y) {
  if (y == 0 || y == -1) return 0;
  const T rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
)";

std::string_view type_in_cuda(elem type) {
  switch (type) {
    case elem::u8:
      return "unsigned char";
    case elem::i8:
      return "signed char";
    case elem::u16:
      return "unsigned short";
    case elem::i16:
      return "short";
    case elem::u32:
      return "unsigned int";
    case elem::i32:
      return "int";
    case elem::i64:
      return "int64";
    case elem::f16:
      return "f16";
    case elem::bf16:
      return "bf16";
    case elem::f32:
      return "float";
    case elem::f64:
      return "double";
    case elem::boolean:
      return "bool";
  }
  return {};
}

/// A constant in the chain's type, exactly.
std::string constant(double value, dtype in) {
  if (in == dtype::i64) {
    if (!(value > -9.2e18)) return "(-9223372036854775807LL - 1)";
    if (value > 9.2e18) return "9223372036854775807LL";
    return fmt::format("{}LL", static_cast<int64_t>(value));
  }
  if (std::isnan(value)) return "T(__int_as_float(0x7fc00000))";
  if (std::isinf(value))
    return value > 0 ? "T(__int_as_float(0x7f800000))" : "T(__int_as_float(0xff800000))";
  return fmt::format("T({:a})", value);
}

} // namespace

std::string gpu_source(const pointwise_chain& what, std::span<const elem> inputs,
                       std::span<const elem> outputs) {
  auto in = what.computes;
  auto out = fmt::format("typedef {} T;\n{}{}",
                         in == dtype::i64   ? "long long"
                         : in == dtype::f64 ? "double"
                                            : "float",
                         functions, in == dtype::i64 ? integer_functions : float_functions);
  out += "extern \"C\" __global__ void chain(const __grid_constant__ arguments with) {\n"
         "  const int64 all = (int64)gridDim.x * blockDim.x;\n"
         "  for (int64 n = (int64)blockIdx.x * blockDim.x + threadIdx.x; n < with.elements; "
         "n += all) {\n";
  for (size_t i = 0; i < inputs.size(); ++i)
    out += fmt::format("    const T r{0} = load<{1}>(with.inputs[{0}], place(with, {0}, n));\n", i,
                       type_in_cuda(inputs[i]));
  for (size_t i = 0; i < what.steps.size(); ++i) {
    auto& step = what.steps[i];
    out += fmt::format("    T r{};\n    {{", inputs.size() + i);
    for (size_t k = 0; k < step.operands.size(); ++k)
      out += fmt::format(" const T {} = r{};", "abc"[k], step.operands[k]);
    for (size_t k = 0; k < step.constants.size() && k < 2; ++k)
      out += fmt::format(" const T {} = {};", "pq"[k], constant(step.constants[k], in));
    out += fmt::format(" r{} = {}; }}\n", inputs.size() + i, formula_of(step.id));
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    out += fmt::format("    store<{}>(with.outputs[{}], n, r{});\n", type_in_cuda(outputs[i]), i,
                       inputs.size() + what.results[i]);
  return out + "  }\n}\n";
}

} // namespace moxzi::device::pointwise
