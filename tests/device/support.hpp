#pragma once

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/device_core.hpp"
#include "device/open.hpp"
#include "device/program.hpp"

/// Short ways to write programs in tests.
namespace moxzi::device::testing {

inline operation input(int64_t n) {
  return {op::input, {}, {n}};
}
inline operation param(std::string name) {
  return {op::param, {}, {std::move(name)}};
}
inline operation narrow(reg x, int64_t dim, int64_t start, int64_t len) {
  return {op::narrow, {x}, {dim, start, len}};
}
inline operation reshape(reg x, std::vector<uint32_t> shape) {
  return {op::reshape, {x}, {std::move(shape)}};
}
inline operation embedding(reg table, reg ids) {
  return {op::embedding, {table, ids}, {}};
}
inline operation linear(reg x, reg w, reg b = no_register) {
  return {op::linear, {x, w, b}, {}};
}
inline operation cross_entropy(reg logits, reg targets) {
  return {op::cross_entropy, {logits, targets, no_register}, {{}, {}, {}}};
}

/// Elements of a C++ type as a tensor.
template <class T>
tensor tensor_of(elem type, std::vector<uint32_t> dims, const std::vector<T>& values) {
  byte_string data(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(data.data(), values.data(), data.size());
  return {std::move(data), type, std::move(dims)};
}

/// The same bytes but one.
inline shared_bytes changed(const shared_bytes& from, size_t at, char to) {
  byte_string bytes(from.view());
  bytes[at] = to;
  return bytes;
}

inline tensor text_tensor(std::string_view text) {
  return {std::string(text), elem::u8, {1, static_cast<uint32_t>(text.size())}};
}

/// The elements of an f32 or f64 tensor as doubles.
inline std::vector<double> numbers(const tensor& from) {
  std::vector<double> out;
  auto bytes = size_of(from.type);
  for (size_t i = 0; i + bytes <= from.data.size(); i += bytes) {
    float narrow = 0;
    double wide = 0;
    std::memcpy(from.type == elem::f64 ? static_cast<void*>(&wide) : &narrow, from.data.data() + i,
                bytes);
    out.push_back(from.type == elem::f64 ? wide : narrow);
  }
  return out;
}

inline std::shared_ptr<const program> shared(program code) {
  return std::make_shared<const program>(std::move(code));
}

inline device_core reference_core(core_options options = {}) {
  return device_core(make_reference_backend(), options);
}

/// The page's model: what comes next in a text of `length` + 1 bytes.
inline program letters_program(uint32_t length, uint32_t classes = 256) {
  return {input(0),
          narrow(0, 1, 0, length),
          narrow(0, 1, 1, length),
          reshape(2, {length}),
          param("embed"),
          embedding(4, 1),
          param("head"),
          linear(5, 6),
          reshape(7, {length, classes}),
          cross_entropy(8, 3)};
}

inline constexpr std::string_view letters_text =
  "hello moxzi, hello actors, hello tensors on a device. hello again";

inline std::vector<param_spec> letters_params() {
  return {{.name = "embed", .dims = {256, 16}, .init = init_normal{0.1}},
          {.name = "head", .dims = {256, 16}, .init = init_normal{0.1}}};
}

inline optimizer_spec letters_optimizer() {
  return {.name = "adam",
          .params = {"embed", "head"},
          .lr = 0.05,
          .beta1 = 0.9,
          .beta2 = 0.99,
          .eps = 1e-8};
}

inline run_request letters_step() {
  return {.inputs = {text_tensor(letters_text)},
          .code = shared(letters_program(64)),
          .train = train_spec{.loss = 9, .optimizer = "adam"},
          .scalars = {9}};
}

} // namespace moxzi::device::testing
