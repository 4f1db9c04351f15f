#include "device/ops/einsum.hpp"

#include <algorithm>

#include "device/ops/rows.hpp"

namespace moxzi::device {

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// The letters that stand once, in order.
std::string implied_result(const einsum& what) {
  std::map<char, int> times;
  for (auto& labels : what.in)
    for (auto label : labels) ++times[label];
  std::string out;
  for (auto [label, count] : times)
    if (count == 1) out += label;
  return out;
}

/// Splits the text into labels, without looking at the operands.
result<einsum> read(std::string_view equation) {
  einsum out;
  out.in.emplace_back();
  bool arrow = false;
  for (size_t i = 0; i < equation.size(); ++i) {
    auto c = equation[i];
    if (c == ' ') continue;
    if (is_letter(c)) {
      (arrow ? out.out : out.in.back()) += c;
    } else if (c == ',' && !arrow) {
      out.in.emplace_back();
    } else if (c == '-' && !arrow && i + 1 < equation.size() && equation[i + 1] == '>') {
      arrow = true;
      ++i;
    } else {
      return complain(device_errc::invalid_value,
                      "eq \"{}\" can't be read at character {}; letters, commas and one -> wanted, "
                      "one letter for each dimension",
                      equation, i + 1);
    }
  }
  if (!arrow) out.out = implied_result(out);
  return out;
}

} // namespace

result<einsum> parse_einsum(std::string_view equation, std::span<const shape> operands,
                            bool loose) {
  auto out = read(equation);
  if (!out) return out;
  if (operands.empty() || out->in.size() != operands.size())
    return complain(device_errc::shape_mismatch, "eq \"{}\" is of {} operands, but xs has {}",
                    equation, out->in.size(), operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    auto& labels = out->in[i];
    if (labels.size() != operands[i].rank())
      return complain(device_errc::shape_mismatch,
                      "\"{}\" has {} letters, but xs[{}] is {}; one for each dimension wanted",
                      labels, labels.size(), i, to_string(operands[i]));
    for (size_t d = 0; d < labels.size(); ++d) {
      auto [found, fresh] = out->sizes.try_emplace(labels[d], operands[i][d]);
      if (found->second != operands[i][d])
        return complain(device_errc::shape_mismatch,
                        "axis {} is {} in xs[{}], which is {}, but {} before", labels[d],
                        operands[i][d], i, to_string(operands[i]), found->second);
    }
  }
  if (out->out.size() > rank_max)
    return complain(device_errc::shape_mismatch, "eq \"{}\": a result has at most {} dimensions",
                    equation, rank_max);
  for (auto label : out->out) {
    if (loose) break;
    if (!out->sizes.contains(label))
      return complain(device_errc::shape_mismatch, "eq \"{}\": no operand has the axis {}",
                      equation, label);
    if (std::ranges::count(out->out, label) > 1)
      return complain(device_errc::shape_mismatch, "eq \"{}\": the result has the axis {} twice",
                      equation, label);
  }
  return out;
}

} // namespace moxzi::device
