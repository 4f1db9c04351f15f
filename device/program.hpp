#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.hpp"
#include "base/codec.hpp"
#include "device/ops/ids.hpp"
#include "device/shape.hpp"
#include "device/shared_bytes.hpp"

namespace moxzi::device {

// -- programs ------------------------------------------------------------------

/// A register: the position of the operation that makes it.
using reg = uint32_t;
/// An optional register operand that was not given.
inline constexpr reg no_register = UINT32_MAX;

/// The value of one attribute. Which alternative an attribute uses follows from the kind of its
/// field in the operation's row: `monostate` = an optional one that was not given; integers of all
/// widths and choices (the choice's position) are `int64_t`.
using attribute =
  std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<uint32_t>>;

/// One operation: a row of the table, one operand for each of its register fields (a field of
/// several registers is the last of them and takes the rest), one attribute for each other field,
/// both in the order of the row's fields.
struct operation {
  op id{};
  std::vector<reg> operands;
  std::vector<attribute> attributes;
  bool operator==(const operation&) const = default;
};

using program = std::vector<operation>;

/// The program's bytes in one fixed form; equal bytes mean an equal program.
void encode(writer& out, const program& what);

// -- requests and replies ------------------------------------------------------

/// Elements as they travel: little-endian, row-major, without gaps. Copies share them.
struct tensor {
  shared_bytes data;
  elem type = elem::f32;
  std::vector<uint32_t> dims;
  bool operator==(const tensor&) const = default;
};

/// How a new parameter is filled; as torch.nn.init, where `fan_in` is the second size times all
/// that follow and `fan_out` the first times them.
struct init_normal {
  double deviation = 0; ///< of N(0, deviation²)
};
struct init_uniform {
  double low = 0;
  double high = 0; ///< excluded
};
struct init_trunc_normal {
  double deviation = 0; ///< of N(0, deviation²) without what is beyond the cut
  double cut = 0;       ///< the largest magnitude
};
struct init_constant {
  double value = 0; ///< 0 and 1 are the interface's `zeros` and `ones`
};
/// gain · sqrt(2 / (fan_in + fan_out)) is the standard deviation.
struct init_xavier_uniform {
  double gain = 1;
};
struct init_xavier_normal {
  double gain = 1;
};
/// sqrt(2 / (1 + slope²) / fan_in) is the standard deviation.
struct init_kaiming_uniform {
  double slope = 0; ///< of the leaky relu that follows: 0 for relu
};
struct init_kaiming_normal {
  double slope = 0;
};
/// Rows or columns, whichever are fewer, of length `gain` and orthogonal; the dimensions after the
/// first count as one.
struct init_orthogonal {
  double gain = 1;
};
/// Ones on the diagonal of a matrix.
struct init_eye {};
struct init_data {
  tensor contents; ///< same shape, a type of floats
};
using initializer =
  std::variant<init_normal, init_uniform, init_constant, init_data, init_trunc_normal,
               init_xavier_uniform, init_xavier_normal, init_kaiming_uniform, init_kaiming_normal,
               init_orthogonal, init_eye>;

enum class if_exists : uint8_t { replace, keep, fail };

/// One parameter to make.
struct param_spec {
  std::string name;
  std::vector<uint32_t> dims;
  initializer init;
  dtype type = dtype::f32; ///< f32 or f64
  if_exists existing = if_exists::replace;
  bool frozen = false; ///< takes no gradient and no optimizer
  /// Of the draw: the same seed and name give the same contents anywhere. Without one they depend
  /// on the device's seed, the owner, the name and how often it was made before.
  std::optional<uint64_t> seed = {};
};

/// How gradients move parameters; the order is that of `OptKind` in the interface.
enum class optimizer_kind : uint8_t {
  adamw,
  adam,
  sgd,
  nesterov,
  rmsprop,
  adagrad,
  lion,
  adamax,
  adafactor,
  muon
};

/// The learning rate over the steps; `s` steps were taken before this one.
struct schedule_constant {
  bool operator==(const schedule_constant&) const = default;
};
/// From lr / steps up to lr.
struct schedule_warmup {
  uint64_t steps = 0;
  bool operator==(const schedule_warmup&) const = default;
};
/// A warm-up, then half a cosine down to `floor`, reached at step `total`.
struct schedule_cosine {
  uint64_t warmup = 0;
  uint64_t total = 0;
  double floor = 0; ///< a learning rate
  bool operator==(const schedule_cosine&) const = default;
};
/// A warm-up, then a straight line down to `floor`, reached at step `total`.
struct schedule_linear {
  uint64_t warmup = 0;
  uint64_t total = 0;
  double floor = 0; ///< a learning rate
  bool operator==(const schedule_linear&) const = default;
};
/// Times `gamma` after every so many steps.
struct schedule_step {
  uint64_t every = 0;
  double gamma = 0;
  bool operator==(const schedule_step&) const = default;
};
using lr_schedule =
  std::variant<schedule_constant, schedule_warmup, schedule_cosine, schedule_linear, schedule_step>;

/// An optimizer over named parameters.
struct optimizer_spec {
  std::string name;
  std::vector<std::string> params;
  double lr = 0;
  double beta1 = 0; ///< sgd, nesterov, rmsprop, muon: momentum
  double beta2 = 0;
  double eps = 0;
  double weight_decay = 0;
  optimizer_kind kind = optimizer_kind::adamw;
  lr_schedule schedule;
  bool amsgrad = false;              ///< adamw, adam: divide by the largest second moment so far
  std::vector<std::string> no_decay; ///< those of `params` that have no weight decay
  bool keep_state = false;           ///< keep state and step counts if the name exists
};

/// Makes a run a training step.
struct train_spec {
  reg loss = 0;
  std::string optimizer;
  std::optional<double> clip;    ///< bound of the gradients' global L2 norm
  std::optional<double> lr;      ///< for this step only
  std::vector<std::string> also; ///< more optimizers stepped by the same gradients
  /// Adds the gradients to those gathered so far and takes no step; the next run that steps uses
  /// the sum.
  bool accumulate = false;
  bool skip_nonfinite = false;      ///< no step if a gradient is NaN or infinite
  std::optional<double> clip_value; ///< each element to [-v, v], before the norm is taken
};

/// One run of a program. `code` is shared so that a caller who runs it often does not copy it.
struct run_request {
  std::vector<tensor> inputs;
  std::shared_ptr<const program> code;
  std::optional<train_spec> train;
  std::vector<reg> scalars; ///< registers of one element, answered as numbers
  std::vector<reg> tensors; ///< registers answered whole
  /// Of random numbers; the same for the same seed, and in training for the same step. Without one
  /// they are others in each run.
  std::optional<uint64_t> seed = {};
};

/// The answer of a run. Values are those before the training step.
struct run_reply {
  std::vector<double> scalars;
  std::vector<tensor> tensors;
  std::optional<double> grad_norm; ///< before clipping; only with `clip`
  std::optional<uint64_t> step; ///< how many steps the train's optimizer has taken, this included
  std::optional<bool> skipped;  ///< with `skip_nonfinite` only: whether a gradient was not finite
};

} // namespace moxzi::device
