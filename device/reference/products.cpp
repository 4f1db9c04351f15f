// matmul, einsum and convolutions.

#include <vector>

#include "device/ops/einsum.hpp"
#include "device/ops/options.hpp"
#include "device/ops/windows.hpp"
#include "device/reference/kernels.hpp"

namespace moxzi::device::reference {

namespace {

// -- matmul --------------------------------------------------------------------

/// Where element (row, column) of one matrix of an operand is; `place` numbers the result's
/// matrices.
struct matrices {
  const tensor_view& x;
  const shape& to;
  bool transposed;

  int64_t at(int64_t place, int64_t row, int64_t column) const {
    auto rank = x.dims.rank();
    int64_t out =
      row * x.strides[rank - 2 + transposed] + column * x.strides[rank - 1 - transposed];
    for (size_t back = 2; back < to.rank(); ++back) {
      auto i = place % to.last(back);
      place /= to.last(back);
      if (back < rank && x.dims.last(back) != 1) out += i * x.strides[rank - 1 - back];
    }
    return out;
  }
};

bool matmul(const kernel_call& call, fault&) {
  auto& out = call.outputs[0];
  bool ta = flag(call.attributes[0]), tb = flag(call.attributes[1]);
  matrices a{call.inputs[0], out.dims, ta}, b{call.inputs[1], out.dims, tb};
  auto inner = a.x.dims.last(ta ? 1 : 0), rows = out.dims.last(1), columns = out.dims.last();
  for (int64_t n = 0; n < out.elements; ++n) {
    auto column = n % columns, row = n / columns % rows, place = n / columns / rows;
    double sum = 0;
    for (int64_t k = 0; k < inner; ++k)
      sum += get(a.x, a.at(place, row, k)) * get(b.x, b.at(place, k, column));
    set(out, n, sum);
  }
  return true;
}

// -- einsum --------------------------------------------------------------------

/// All letters count through their sizes; each place adds a product to one element of the result.
bool einsum_of(const kernel_call& call, fault&) {
  std::vector<shape> dims;
  for (auto& x : call.inputs) dims.push_back(x.dims);
  auto what = *parse_einsum(std::get<std::string>(call.attributes[0]), dims, true);
  auto& out = call.outputs[0];
  for (size_t d = 0; d < what.out.size(); ++d) what.sizes.try_emplace(what.out[d], out.dims[d]);
  std::vector<double> sums(static_cast<size_t>(out.elements));
  int64_t count = 1;
  for (auto [label, size] : what.sizes) count *= size;
  for (int64_t n = 0; n < count; ++n) {
    std::map<char, int64_t> at;
    auto rest = n;
    for (auto [label, size] : what.sizes) {
      at[label] = rest % size;
      rest /= size;
    }
    auto place = [&at](const std::string& labels, const shape& in) {
      int64_t index = 0;
      for (size_t d = 0; d < labels.size(); ++d) index = index * in[d] + at[labels[d]];
      return index;
    };
    double product = 1;
    for (size_t i = 0; i < what.in.size(); ++i)
      product *= get(call.inputs[i], place(what.in[i], dims[i]));
    sums[static_cast<size_t>(place(what.out, out.dims))] += product;
  }
  for (int64_t n = 0; n < out.elements; ++n) set(out, n, sums[static_cast<size_t>(n)]);
  return true;
}

// -- convolutions --------------------------------------------------------------

/// Calls `work(x, y, w)` with the positions in the larger tensor x [batch, inner, ..], the smaller
/// y [batch, outer, ..] and w [outer, inner / groups, ..] of everything that meets in a
/// convolution.
template <class Work>
void for_meetings(const shape& x, const shape& y, const shape& w,
                  std::span<const attribute> attributes, const Work& work) {
  auto how = convolution_windows(w, attributes).three();
  auto groups = whole_number(attributes[3], 1);
  auto from = three_sizes(x, x.rank() - 2), to = three_sizes(y, y.rank() - 2);
  auto plane = from[0] * from[1] * from[2], places = to[0] * to[1] * to[2];
  auto volume = how[0].kernel * how[1].kernel * how[2].kernel;
  auto outer_each = y[1] / groups, inner_each = w[1];
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t o = 0; o < y[1]; ++o)
      for (int64_t i = 0; i < inner_each; ++i)
        for (int64_t p = 0; p < places; ++p)
          for (int64_t k = 0; k < volume; ++k) {
            int64_t at[3], window_place = k, place = p;
            bool inside = true;
            for (size_t d = 3; d-- > 0;) {
              at[d] = place % to[d] * how[d].stride - how[d].padding
                      + window_place % how[d].kernel * how[d].dilation;
              place /= to[d];
              window_place /= how[d].kernel;
              inside = inside && at[d] >= 0 && at[d] < from[d];
            }
            if (!inside) continue;
            auto channel = o / outer_each * inner_each + i;
            work((n * x[1] + channel) * plane + (at[0] * from[1] + at[1]) * from[2] + at[2],
                 (n * y[1] + o) * places + p, (o * inner_each + i) * volume + k);
          }
}

void set_sums(const tensor_view& out, std::vector<double>& sums, const tensor_view* bias) {
  int64_t places = 1;
  for (size_t i = 2; i < out.dims.rank(); ++i) places *= out.dims[i];
  for (int64_t n = 0; n < out.elements; ++n)
    set(out, n,
        sums[static_cast<size_t>(n)]
          + (bias && bias->data ? get(*bias, n / places % out.dims[1]) : 0));
}

bool conv(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &w = call.inputs[1], &out = call.outputs[0];
  std::vector<double> sums(static_cast<size_t>(out.elements));
  for_meetings(x.dims, out.dims, w.dims, call.attributes, [&](int64_t i, int64_t o, int64_t k) {
    sums[static_cast<size_t>(o)] += get(x, i) * get(w, k);
  });
  set_sums(out, sums, &call.inputs[2]);
  return true;
}

bool conv_transpose(const kernel_call& call, fault&) {
  auto &x = call.inputs[0], &w = call.inputs[1], &out = call.outputs[0];
  std::vector<double> sums(static_cast<size_t>(out.elements));
  for_meetings(out.dims, x.dims, w.dims, call.attributes, [&](int64_t i, int64_t o, int64_t k) {
    sums[static_cast<size_t>(i)] += get(x, o) * get(w, k);
  });
  set_sums(out, sums, &call.inputs[2]);
  return true;
}

bool conv_weight_backward(const kernel_call& call, fault&) {
  auto &gradient = call.inputs[0], &x = call.inputs[1], &out = call.outputs[0];
  std::vector<double> sums(static_cast<size_t>(out.elements));
  for_meetings(x.dims, gradient.dims, out.dims, call.attributes,
               [&](int64_t i, int64_t o, int64_t k) {
                 sums[static_cast<size_t>(k)] += get(x, i) * get(gradient, o);
               });
  set_sums(out, sums, nullptr);
  return true;
}

} // namespace

kernel_function find_product_kernel(op id) noexcept {
  switch (id) {
    case op::matmul:
      return matmul;
    case op::einsum:
    case op::einsum_backward:
      return einsum_of;
    case op::conv:
      return conv;
    case op::conv_transpose:
      return conv_transpose;
    case op::conv_weight_backward:
      return conv_weight_backward;
    default:
      return nullptr;
  }
}

} // namespace moxzi::device::reference
