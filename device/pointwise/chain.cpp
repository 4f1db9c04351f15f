#include "device/pointwise/chain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/assert.hpp"
#include "device/half.hpp"

namespace moxzi::device::pointwise {

namespace {

/// Elements of a piece: what fits into the nearest cache with a few others like it.
constexpr int64_t piece = 512;

// -- conversions ---------------------------------------------------------------

struct f16_bits {
  uint16_t bits;
};
struct bf16_bits {
  uint16_t bits;
};
struct boolean_byte {
  uint8_t byte;
};

/// Calls `work` with a null pointer to the C++ type that holds such elements.
template <class Work>
void with_type(elem type, const Work& work) {
  switch (type) {
    case elem::u8:
      return work(static_cast<uint8_t*>(nullptr));
    case elem::i8:
      return work(static_cast<int8_t*>(nullptr));
    case elem::u16:
      return work(static_cast<uint16_t*>(nullptr));
    case elem::i16:
      return work(static_cast<int16_t*>(nullptr));
    case elem::u32:
      return work(static_cast<uint32_t*>(nullptr));
    case elem::i32:
      return work(static_cast<int32_t*>(nullptr));
    case elem::i64:
      return work(static_cast<int64_t*>(nullptr));
    case elem::f16:
      return work(static_cast<f16_bits*>(nullptr));
    case elem::bf16:
      return work(static_cast<bf16_bits*>(nullptr));
    case elem::f32:
      return work(static_cast<float*>(nullptr));
    case elem::f64:
      return work(static_cast<double*>(nullptr));
    case elem::boolean:
      return work(static_cast<boolean_byte*>(nullptr));
  }
}

template <class T, class S>
T loaded(S value) noexcept {
  if constexpr (std::is_same_v<S, f16_bits>)
    return static_cast<T>(from_f16(value.bits));
  else if constexpr (std::is_same_v<S, bf16_bits>)
    return static_cast<T>(from_bf16(value.bits));
  else if constexpr (std::is_same_v<S, boolean_byte>)
    return static_cast<T>(value.byte);
  else
    return static_cast<T>(value);
}

/// A float as an integer: towards 0, the nearest there is where it doesn't fit, 0 for NaN; then the
/// low bits, where the integer is narrower than 64.
template <class T>
int64_t truncated(T value) noexcept {
  if constexpr (std::is_same_v<T, int64_t>) {
    return value;
  } else {
    if (value != value) return 0;
    if (value >= static_cast<T>(9223372036854775807.0)) return std::numeric_limits<int64_t>::max();
    if (value <= static_cast<T>(-9223372036854775808.0)) return std::numeric_limits<int64_t>::min();
    return static_cast<int64_t>(value);
  }
}

template <class S, class T>
S stored(T value) noexcept {
  if constexpr (std::is_same_v<S, f16_bits>)
    return {to_f16(static_cast<float>(value))};
  else if constexpr (std::is_same_v<S, bf16_bits>)
    return {to_bf16(static_cast<float>(value))};
  else if constexpr (std::is_same_v<S, boolean_byte>)
    return {static_cast<uint8_t>(value != T{0})};
  else if constexpr (std::is_floating_point_v<S>)
    return static_cast<S>(value);
  else
    return static_cast<S>(truncated(value));
}

/// Elements [begin, begin + n), counted in row-major order, of a tensor with any strides.
template <class T, class S>
void gather(const tensor_view& from, int64_t begin, int64_t n, T* to) {
  auto data = from.as<const S>();
  auto rank = from.dims.rank();
  if (rank == 0) {
    *to = loaded<T>(data[0]);
    return;
  }
  std::array<int64_t, rank_max> at{};
  int64_t offset = 0;
  for (size_t i = rank; i-- > 0;) {
    at[i] = begin % from.dims[i];
    begin /= from.dims[i];
    offset += at[i] * from.strides[i];
  }
  auto last = rank - 1;
  auto step = from.strides[last];
  while (n > 0) {
    auto run = std::min(n, from.dims[last] - at[last]);
    for (int64_t j = 0; j < run; ++j) to[j] = loaded<T>(data[offset + j * step]);
    to += run;
    n -= run;
    // To the next row.
    offset -= at[last] * step;
    at[last] = 0;
    for (size_t i = last; i-- > 0;) {
      offset += from.strides[i];
      if (++at[i] < from.dims[i]) break;
      offset -= at[i] * from.strides[i];
      at[i] = 0;
    }
  }
}

// -- running -------------------------------------------------------------------

template <class T>
bool holds(elem type) noexcept {
  return type
         == (std::is_same_v<T, float>    ? elem::f32
             : std::is_same_v<T, double> ? elem::f64
                                         : elem::i64);
}

bool one_for_all(const tensor_view& x) noexcept {
  for (size_t i = 0; i < x.dims.rank(); ++i)
    if (x.dims[i] != 1 && x.strides[i] != 0) return false;
  return true;
}

template <class T>
T constant(const pointwise_step& step, size_t n) noexcept {
  if (n >= step.constants.size()) return T{};
  if constexpr (std::is_same_v<T, int64_t>)
    return truncated(step.constants[n]);
  else
    return static_cast<T>(step.constants[n]);
}

/// How a chain finds an operand piece by piece.
enum class source : uint8_t { direct, once, gathered };

constexpr size_t slots_max = chain_inputs_max + chain_steps_max;

template <class T>
class chain_run {
public:
  chain_run(const kernel_call& call, loop<T> (*find)(op) noexcept)
      : call_(call), chain_(*call.chain) {
    auto inputs = call.inputs.size();
    for (size_t i = 0; i < inputs; ++i) {
      auto& x = call.inputs[i];
      from_[i] = holds<T>(x.type) && is_row_major(x.dims, x.strides) ? source::direct
                 : one_for_all(x)                                    ? source::once
                                                                     : source::gathered;
      if (from_[i] != source::once) continue;
      with_type(x.type, [&]<class S>(S*) {
        std::fill_n(slots_[i], piece, loaded<T>(*x.template as<const S>()));
      });
      at_[i] = slots_[i];
    }
    output_of_.fill(-1);
    for (size_t i = 0; i < chain_.results.size(); ++i)
      output_of_[chain_.results[i]] = static_cast<int>(i);
    for (size_t i = 0; i < chain_.steps.size(); ++i) {
      loops_[i] = find(chain_.steps[i].id);
      moxzi_assert(loops_[i], "no loop for {}", static_cast<int>(chain_.steps[i].id));
    }
  }

  void run(int64_t begin, int64_t end) {
    for (auto from = begin; from < end; from += piece) run_piece(from, std::min(piece, end - from));
  }

private:
  void run_piece(int64_t from, int64_t n) {
    auto inputs = call_.inputs.size();
    for (size_t i = 0; i < inputs; ++i) {
      auto& x = call_.inputs[i];
      if (from_[i] == source::direct) {
        at_[i] = x.template as<const T>() + from;
      } else if (from_[i] == source::gathered) {
        with_type(x.type, [&]<class S>(S*) { gather<T, S>(x, from, n, slots_[i]); });
        at_[i] = slots_[i];
      }
    }
    for (size_t i = 0; i < chain_.steps.size(); ++i) {
      auto& step = chain_.steps[i];
      auto output = output_of_[i];
      T* out = slots_[inputs + i];
      if (output >= 0 && holds<T>(call_.outputs[static_cast<size_t>(output)].type))
        out = call_.outputs[static_cast<size_t>(output)].template as<T>() + from;
      const T* operands[3] = {out, out, out};
      for (size_t k = 0; k < step.operands.size(); ++k) operands[k] = at_[step.operands[k]];
      loops_[i](out, operands[0], operands[1], operands[2], constant<T>(step, 0),
                constant<T>(step, 1), n);
      at_[inputs + i] = out;
      if (output >= 0) write(call_.outputs[static_cast<size_t>(output)], out, from, n);
    }
  }

  void write(const tensor_view& to, const T* values, int64_t from, int64_t n) {
    if (holds<T>(to.type)) return;
    with_type(to.type, [&]<class S>(S*) {
      auto data = to.template as<S>() + from;
      for (int64_t j = 0; j < n; ++j) data[j] = stored<S>(values[j]);
    });
  }

  const kernel_call& call_;
  const pointwise_chain& chain_;
  std::array<source, chain_inputs_max> from_;
  std::array<const T*, slots_max> at_;
  std::array<int, chain_steps_max> output_of_;
  std::array<loop<T>, chain_steps_max> loops_;
  alignas(64) T slots_[slots_max][piece];
};

} // namespace

void run_chain(const kernel_call& call, precision with, int64_t begin, int64_t end) {
  if (begin >= end) return;
  auto computes = call.chain->computes;
  if (computes == dtype::i64)
    chain_run<int64_t>(call, find_i64).run(begin, end);
  else if (computes == dtype::f64 || with == precision::wide)
    chain_run<double>(call, find_f64).run(begin, end);
  else
    chain_run<float>(call, find_f32).run(begin, end);
}

} // namespace moxzi::device::pointwise
