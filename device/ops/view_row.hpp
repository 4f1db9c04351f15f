#pragma once

#include "device/ops/rows.hpp"

/// What rows that only look at memory have in common.
namespace moxzi::device {

/// A row of x and more, without its rules.
inline row view(op id, std::string_view name, std::string_view sentence, std::vector<field> more,
                std::string_view pytorch) {
  row out;
  out.id = id;
  out.name = name;
  out.sentence = sentence;
  out.reference = pytorch.substr(0, pytorch.find('('));
  out.fields = std::move(more);
  out.fields.insert(out.fields.begin(), {"x", field_kind::reg});
  out.runs = row_runs::view;
  out.takes = all_types;
  out.costs = free_of_charge;
  out.pytorch = pytorch;
  return out;
}

/// A view's rules.
struct view_rules {
  result<register_type> (*infer)(const rule_context&);
  std::optional<device::look> (*look)(const typed_call&, const shape&);
  void (*gradient)(gradient_context&);
  std::vector<split_axis> (*split)(const typed_call&);
  sample (*example)(sampler&);
  wrong_sample (*wrong)(sampler&);
};

/// The row with them.
inline row with_rules(row out, const view_rules& rules) {
  out.infer = rules.infer;
  out.look = rules.look;
  out.gradient = rules.gradient;
  out.split = rules.split;
  out.example = rules.example;
  out.wrong = rules.wrong;
  return out;
}

inline int64_t integer(const attribute& from) {
  return std::get<int64_t>(from);
}
inline size_t dim_at(const attribute& from) {
  return static_cast<size_t>(integer(from));
}
inline const std::vector<uint32_t>& list(const attribute& from) {
  return std::get<std::vector<uint32_t>>(from);
}

} // namespace moxzi::device
