#pragma once

#include <cstdint>

namespace moxzi::device {

// clang-format off

/// The number of an operation: in plans, hashes, records and kernels. Given out once, append-only,
/// never used again; whether there is a row for it yet is another matter (`find_row`). Operations
/// that only gradients and plans use start at 1000 and are not in the interface.
enum class op : uint16_t {
  input = 0, param = 1, value = 2, scalar = 3, full = 4, arange = 5, eye = 6, random = 7,
  narrow = 8, slice = 9, select = 10, reshape = 11, flatten = 12, permute = 13, transpose = 14,
  squeeze = 15, unsqueeze = 16, expand = 17, repeat = 18, concat = 19, stack = 20, pad = 21,
  flip = 22, roll = 23, tril = 24, triu = 25, cast = 26, detach = 27, recompute = 28,
  embedding = 29, gather = 30, index_select = 31, scatter = 32, scatter_add = 33, one_hot = 34,
  where = 35, mask_fill = 36, neg = 37, abs = 38, sign = 39, exp = 40, expm1 = 41, log = 42,
  log1p = 43, sqrt = 44, rsqrt = 45, square = 46, reciprocal = 47, sin = 48, cos = 49, tanh = 50,
  erf = 51, floor = 52, ceil = 53, round = 54, logical_not = 55, is_nan = 56, relu = 57,
  sigmoid = 58, silu = 59, gelu = 60, gelu_tanh = 61, softplus = 62, mish = 63, leaky_relu = 64,
  elu = 65, clamp = 66, add = 67, sub = 68, mul = 69, div = 70, rem = 71, pow = 72, minimum = 73,
  maximum = 74, add_scalar = 75, mul_scalar = 76, pow_scalar = 77, eq = 78, ne = 79, lt = 80,
  le = 81, gt = 82, ge = 83, logical_and = 84, logical_or = 85, logical_xor = 86, linear = 87,
  matmul = 88, einsum = 89, conv = 90, conv_transpose = 91, unfold = 92, max_pool = 93,
  avg_pool = 94, global_avg_pool = 95, upsample = 96, softmax = 97, log_softmax = 98,
  layer_norm = 99, rms_norm = 100, group_norm = 101, batch_norm = 102, dropout = 103,
  attention = 104, rope = 105, rnn = 106, gru = 107, lstm = 108, sum = 109, mean = 110,
  prod = 111, max = 112, min = 113, logsumexp = 114, any = 115, all = 116, variance = 117,
  std = 118, norm = 119, argmax = 120, argmin = 121, cumsum = 122, cumprod = 123, sort = 124,
  argsort = 125, topk_values = 126, topk_indices = 127, cross_entropy = 128, nll = 129,
  bce_logits = 130, mse = 131, l1 = 132, huber = 133, kl = 134, categorical = 135, store = 136,
  assign = 137, iterate = 138, carried = 139, grad = 140,

  // internal; 1002 and 1010 were other names of add and mul
  second_of = 1000,               // the second result of the operation that made the register
  ones_like = 1001,               // where a gradient starts
  contiguous = 1003,              // a strided view, copied without gaps
  narrow_backward = 1004,
  embedding_backward = 1005,
  linear_input_backward = 1006,
  linear_weight_backward = 1007,
  linear_bias_backward = 1008,
  cross_entropy_train = 1009,     // cross_entropy, and its gradient as the second result
  sum_to = 1011,                  // the sum over what was broadcast
  nonzero = 1012,                 // a cast to boolean
  gelu_slope = 1013, gelu_tanh_slope = 1014,
  keep_positive = 1015,           // a where b is above 0, else 0
  choose_positive = 1016,         // b where a is above 0, else c
  keep_between = 1017,            // a where b is within bounds, else 0
  share_of_less = 1018,           // c where a < b, half of it where they are equal, else 0

  // normalisation, attention
  softmax_backward = 1300, log_softmax_backward = 1301,
  layer_norm_train = 1302,        // layer_norm, and [mean, 1 / deviation] of each row
  layer_norm_backward = 1303,     // of x, and of w and b as the second result
  rms_norm_train = 1304, rms_norm_backward = 1305,
  group_norm_train = 1306, group_norm_backward = 1307,
  attention_train = 1308,         // attention, and its weights or what makes them again
  attention_backward = 1309,      // of q, k and v, packed
  attention_mask_backward = 1310,
  rope_backward = 1311,
  dropout_active = 1312,          // dropout in a run that trains
  batch_norm_active = 1313,       // batch_norm by the batch's own statistics, which it writes
  batch_norm_backward = 1314, batch_norm_active_backward = 1315,

  // shapes, order
  slice_backward = 1100,          // with steps
  repeat_backward = 1101,
  cumprod_backward = 1102,

  // products, windows, losses, recurrence
  einsum_backward = 1200, conv_weight_backward = 1201,
  max_pool_train = 1202,          // max_pool, and where each largest was as the second result
  max_pool_backward = 1203, avg_pool_backward = 1204, unfold_backward = 1205,
  upsample_backward = 1206, nll_backward = 1207,
  rnn_train = 1208, rnn_backward = 1209, gru_train = 1210, gru_backward = 1211,
  gru_start_backward = 1212, lstm_train = 1213, lstm_backward = 1214,
};

// clang-format on

/// Internal operations start here.
inline constexpr uint16_t internal_ops_from = 1000;

} // namespace moxzi::device
