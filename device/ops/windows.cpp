#include "device/ops/windows.hpp"

#include <algorithm>

#include "device/ops/rows.hpp"

namespace moxzi::device {

namespace {

/// An entry of a list that may be absent, or one number for all dimensions.
int64_t entry(const attribute& from, size_t i, int64_t otherwise) {
  auto list = std::get_if<std::vector<uint32_t>>(&from);
  if (!list || list->empty()) return otherwise;
  return (*list)[list->size() == 1 ? 0 : i];
}

} // namespace

int64_t windows::volume() const noexcept {
  int64_t places = 1;
  for (auto& one : dims()) places *= one.kernel;
  return places;
}

std::array<window, spatial_max> windows::three() const noexcept {
  std::array<window, spatial_max> out{};
  std::copy_n(each.begin(), count, out.end() - static_cast<ptrdiff_t>(count));
  return out;
}

windows convolution_windows(const shape& weights, std::span<const attribute> attributes) {
  windows out;
  out.count = weights.rank() - 2;
  for (size_t i = 0; i < out.count; ++i)
    out.each[i] = {weights[i + 2], entry(attributes[0], i, 1), entry(attributes[1], i, 0),
                   entry(attributes[2], i, 1), entry(attributes[4], i, 0)};
  return out;
}

windows pooling_windows(std::span<const attribute> attributes, bool apart) {
  windows out;
  auto& kernel = std::get<std::vector<uint32_t>>(attributes[0]);
  out.count = kernel.size();
  for (size_t i = 0; i < out.count; ++i)
    out.each[i] = {kernel[i], entry(attributes[1], i, apart ? 1 : kernel[i]),
                   entry(attributes[2], i, 0), 1, 0};
  return out;
}

std::array<int64_t, spatial_max> three_sizes(const shape& dims, size_t count) noexcept {
  std::array<int64_t, spatial_max> out{1, 1, 1};
  for (size_t i = 0; i < count; ++i) out[spatial_max - count + i] = dims[dims.rank() - count + i];
  return out;
}

result<void> want_entries(std::string_view name, const attribute& list, size_t count,
                          int64_t least) {
  auto entries = std::get_if<std::vector<uint32_t>>(&list);
  if (!entries) return {};
  if (entries->size() != count && entries->size() != 1)
    return complain(device_errc::shape_mismatch,
                    "{} [{}] has {} entries for {} spatial dimensions; one for each or one for all "
                    "wanted",
                    name, fmt::join(*entries, ", "), entries->size(), count);
  for (auto one : *entries)
    if (one < least || one > INT32_MAX)
      return complain(device_errc::invalid_value, "{} [{}]: entries from {} to {} wanted", name,
                      fmt::join(*entries, ", "), least, INT32_MAX);
  return {};
}

result<void> want_spatial(std::string_view name, const shape& dims, size_t count) {
  if (dims.rank() != count + 2)
    return complain(device_errc::shape_mismatch,
                    "{} is {} of rank {}; [batch, channels, ..] with {} spatial dimensions wanted",
                    name, to_string(dims), dims.rank(), count);
  for (size_t i = 2; i < dims.rank(); ++i)
    if (dims[i] == 0)
      return complain(device_errc::shape_mismatch, "{} is {}; spatial sizes of at least 1 wanted",
                      name, to_string(dims));
  return {};
}

} // namespace moxzi::device
