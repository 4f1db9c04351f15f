// random and dropout; categorical is ATen's.

#include <algorithm>

#include "device/torch/draws.hpp"
#include "device/torch/kernels.hpp"
#include "device/torch/loops.hpp"

namespace moxzi::device::torch {

namespace {

constexpr int64_t elements_at_once = 16384; // per thread

float normal_at(const uint32_t* words, int64_t j) {
  const auto lane = j % lanes;
  return normal_of(
    {words[lane], words[lanes + lane], words[2 * lanes + lane], words[3 * lanes + lane]},
    static_cast<uint64_t>(j));
}

bool random(const kernel_call& call, fault&) {
  auto& out = call.outputs[0];
  const draw_counters draws(*call.draws, call.origin, call.attributes[2]);
  auto* p = std::get_if<double>(&call.attributes[1]);
  const bool normal = !p && std::get<int64_t>(call.attributes[1]) == 1;
  const uint64_t bound = p ? words_below(*p) : 0;
  const int64_t groups = (out.elements + words_at_once - 1) / words_at_once;
  for_parts(call.threads, groups, elements_at_once / words_at_once,
            [&, p, normal, bound](int64_t begin, int64_t end) {
              uint32_t words[words_at_once];
              for (int64_t group = begin; group < end; group++) {
                draw_words(draws, static_cast<uint64_t>(group), words);
                float* to = out.as<float>() + group * words_at_once;
                const auto some = std::min(words_at_once, out.elements - group * words_at_once);
                for (int64_t j = 0; j < some; j++)
                  to[j] = normal ? normal_at(words, j)
                          : p    ? static_cast<float>(words[j] < bound)
                                 : uniform_of(words[j]);
              }
            });
  return true;
}

template <class T>
void dropout_of(const kernel_call& call) {
  auto &x = call.inputs[0], &out = call.outputs[0];
  const auto p = std::get<double>(call.attributes[0]);
  const draw_counters draws(*call.draws, call.origin, call.attributes[1]);
  const uint64_t bound = words_below(p);
  const auto scale = static_cast<T>(dropout_scale(p));
  for_parts(call.threads, out.elements, elements_at_once,
            [&, bound, scale](int64_t begin, int64_t end) {
              drop(draws, static_cast<uint64_t>(begin), bound, scale, x.as<const T>() + begin,
                   out.as<T>() + begin, end - begin);
            });
}

bool dropout(const kernel_call& call, fault&) {
  if (call.outputs[0].type == elem::f64)
    dropout_of<double>(call);
  else
    dropout_of<float>(call);
  return true;
}

} // namespace

kernel_function find_random_kernel(op id) noexcept {
  switch (id) {
    case op::random:
      return random;
    case op::dropout_active:
      return dropout;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::torch
