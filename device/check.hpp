#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/ops/table.hpp"
#include "device/program.hpp"

namespace moxzi::device {

/// The type and shape of one input as sent.
struct input_type {
  elem type = elem::u8;
  shape dims;
  bool operator==(const input_type&) const = default;
};

/// What a program is checked against.
struct environment {
  std::vector<input_type> inputs;
  std::map<std::string, register_type, std::less<>> parameters;  ///< those the program names
  std::map<std::string, register_type, std::less<>> values = {}; ///< stored ones that it names
  bool trains = false;                                           ///< it is a training step
};

/// A program whose every register has a type.
struct typed_program {
  program code;
  std::vector<register_type> types;   ///< one per operation
  std::vector<register_type> seconds; ///< of operations with a second result; else empty shape
  std::vector<uint32_t> origins;      ///< which operation of the caller each one comes from
  uint32_t axes = 0;                  ///< how many axes there are
  environment where;
};

/// `program[7] linear`.
std::string place_of(size_t position, op id);

/// Finds each operation's row, checks operands, attributes and types, in order, and stops at the
/// first fault. Allocates no more than the registers' types. Internal rows are refused.
result<typed_program> check(const program& code, environment where);

/// Appends one operation to a checked program (internal rows too). Its operands exist.
result<reg> append(typed_program& to, operation what, uint32_t origin);

/// Puts the row's training form in the operation's place: the same register, and a second one.
void take_training_form(typed_program& in, reg at);

/// The shape of a request's dims, within the limits of rank, size and number of elements.
result<shape> checked_shape(std::span<const uint32_t> dims);

} // namespace moxzi::device
