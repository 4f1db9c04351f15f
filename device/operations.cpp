// Written from the table of operations. After a change of the table:
//   MOXZI_WRITE_INTERFACE=1 ctest --preset release -R operations_text
// clang-format off

#include "device/operations.hpp"

namespace moxzi::device {

var operations_without_operands::input(uint32_t number) {
  return operation_call(op::input, in_).with(number).made();
}

var operations_without_operands::param(std::string name) {
  return operation_call(op::param, in_).with(name).made();
}

var narrow(var x, uint32_t dim, uint32_t start, uint32_t len) {
  return operation_call(op::narrow).on(x).with(dim).with(start).with(len).made();
}

var reshape(var x, std::vector<uint32_t> shape) {
  return operation_call(op::reshape).on(x).with(shape).made();
}

var embedding(var table, var ids) {
  return operation_call(op::embedding).on(table).on(ids).made();
}

var linear(var x, var w, std::optional<var> b) {
  return operation_call(op::linear).on(x).on(w).on(b).made();
}

var cross_entropy(var logits, var targets) {
  return operation_call(op::cross_entropy).on(logits).on(targets).made();
}

} // namespace moxzi::device
