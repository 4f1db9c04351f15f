#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/check.hpp"
#include "device/operations.hpp"
#include "device/program.hpp"

namespace moxzi::device {

/// What a run answers.
struct answers {
  std::vector<var> scalars = {}; ///< of one element each, answered as numbers
  std::vector<var> tensors = {}; ///< answered whole
};

/// A program and what a run of it does: what `device_handle::compile` takes.
struct runnable {
  run_request request;            ///< all but the inputs
  std::vector<input_type> inputs; ///< of the inputs that were declared with a type, from 0 on
};

/// Writes a program as the mathematics is written; see `operations.hpp` for all operations.
///
///     program_builder p;
///     auto text = p.input(elem::u8, {1, 65});
///     auto x = narrow(text, 1, 0, 64), y = reshape(narrow(text, 1, 1, 64), {64});
///     auto h = embedding(p.param("embed"), x);
///     auto logits = reshape(linear(h, p.param("head")), {64, 256});
///     auto loss = cross_entropy(logits, y);
///     auto step = p.training(loss, {.optimizer = "adam"}, {.scalars = {loss}});
///
/// Calls are found by their arguments, so that nobody needs `using namespace`; those that take no
/// value (`input`, `param`) and those that take a list of them in braces are qualified. `x + y`,
/// `x - y`, `x * y`, `x / y` and `-x` are `add`, `sub`, `mul`, `div` and `neg`, and either side may
/// be a number.
///
/// Where several arguments of a call are calls themselves, the compiler says which comes first: the
/// program means the same, but its registers are numbered otherwise.
///
/// The program's shapes are checked by the device, which knows the parameters. Not thread safe; it
/// may be moved, and its vars go on.
class program_builder : public operations_without_operands {
public:
  program_builder();
  program_builder(program_builder&&) noexcept;
  program_builder& operator=(program_builder&&) noexcept;
  ~program_builder();

  /// An input by its number, of whatever type is sent.
  using operations_without_operands::input;
  /// The next input that is declared so; its type is checked when the program is compiled.
  var input(elem type, std::vector<uint32_t> dims);

  /// A run that computes what is asked for.
  result<runnable> answering(const answers& wanted) const;
  /// A run that is a training step on `loss`. `how` is all but the loss: the optimizer above all.
  /// What is answered was computed before the step.
  result<runnable> training(var loss, train_spec how, const answers& wanted) const;

private:
  result<runnable> finished(const answers& wanted, std::optional<train_spec> train) const;

  std::unique_ptr<program_under_way> code_;
};

} // namespace moxzi::device
