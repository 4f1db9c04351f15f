#pragma once

// Written from the table of operations. After a change of the table:
//   MOXZI_WRITE_INTERFACE=1 ctest --preset release -R operations_text
// clang-format off

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/var.hpp"

/// All operations of programs. Shapes are written [rows, columns]; what an option is when it is
/// absent, its operation's sentence or the named reference says.
namespace moxzi::device {

// -- sources

/// The operations that take no value: members of `program_builder`.
class operations_without_operands {
public:
  /// The tensor sent as input of this number; integers compute as i64, floats as f32.
  var input(uint32_t number);

  /// The parameter of this name, as it is before the step.
  var param(std::string name);

protected:
  operations_without_operands() = default;
  void attach(program_under_way* to) noexcept {
    in_ = to;
  }

private:
  program_under_way* in_ = nullptr;
};

// -- shape

/// `len` places of dimension `dim`, from `start` on.
/// As torch.narrow.
var narrow(var x, uint32_t dim, uint32_t start, uint32_t len);

/// The same elements in another shape; one size may be 4294967295, which leaves it open.
/// As torch.reshape.
var reshape(var x, std::vector<uint32_t> shape);

// -- indexing

/// For each of `ids` that row of `table` [rows, columns]: ids' shape with columns added.
/// As torch.nn.functional.embedding.
var embedding(var table, var ids);

// -- linear algebra, convolution, pooling

/// x [.., in] times the transpose of w [out, in], plus b [out] if given.
/// As torch.nn.functional.linear.
var linear(var x, var w, std::optional<var> b = {});

// -- losses

/// The mean over rows of -log softmax(logits [rows, classes]) at targets [rows], in natural
/// logarithms.
/// As torch.nn.functional.cross_entropy.
var cross_entropy(var logits, var targets);

} // namespace moxzi::device
