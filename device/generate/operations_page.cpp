#include "device/generate/operations_page.hpp"

#include <iterator>
#include <vector>

#include "device/generate/headings.hpp"

namespace moxzi::device {

namespace {

std::string type_of(const field& f) {
  auto text = [&f]() -> std::string {
    switch (f.kind) {
      case field_kind::reg:
      case field_kind::opt_reg:
        return "Reg";
      case field_kind::regs:
        return "vec Reg";
      case field_kind::boolean:
        return "bool";
      case field_kind::nat32:
        return "nat32";
      case field_kind::int32:
        return "int32";
      case field_kind::int64:
        return "int64";
      case field_kind::nat64:
        return "nat64";
      case field_kind::float64:
        return "float64";
      case field_kind::text:
        return "text";
      case field_kind::nat32s:
        return "vec nat32";
      case field_kind::dtype:
        return "Dtype";
      case field_kind::distribution:
        return "variant { uniform; normal; bernoulli : float64 }";
      case field_kind::choice:
        return fmt::format("variant {{ {} }}", fmt::join(f.choices, "; "));
    }
    return {};
  }();
  return f.optional || f.kind == field_kind::opt_reg ? "opt " + text : text;
}

/// As the interface writes it: `narrow : record { x : Reg; … }`.
std::string declaration(const row& of) {
  if (of.form == field_form::bare) return fmt::format("{} : {}", of.name, type_of(of.fields[0]));
  std::vector<std::string> parts;
  for (auto& f : of.fields) parts.push_back(fmt::format("{} : {}", f.name, type_of(f)));
  return fmt::format("{} : record {{ {} }}", of.name, fmt::join(parts, "; "));
}

std::string types(const row& of) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < dtype_count; ++i)
    if (of.takes.contains(static_cast<dtype>(i))) names.push_back(name_of(static_cast<dtype>(i)));
  return fmt::format("{}", fmt::join(names, " "));
}

std::string entry(const row& of) {
  auto out = fmt::format("### {}\n\n    {}\n\n{}\n\n", of.name, declaration(of), of.sentence);
  if (of.runs != row_runs::bound) out += fmt::format("- Takes: {}\n", types(of));
  out += of.gradient ? std::string("- Gradient: yes\n")
                     : fmt::format("- Gradient: none; {}\n", of.no_gradient);
  out += fmt::format("- As: `{}`\n", of.reference);
  if (of.runs == row_runs::view) out += "- Costs nothing: the same memory, looked at otherwise\n";
  if (of.runs == row_runs::pointwise) out += "- Operands broadcast as in NumPy\n";
  return out + "\n";
}

} // namespace

std::string operations_page(std::span<const row> rows) {
  std::string out =
    "# Operations\n\n"
    "The operations that a [program](device.md) is made of, as the interface spells them\n"
    "(`device/interface.did`); each makes one register. Made from the table in `device/ops/`, so\n"
    "[a new one](adding-an-operation.md) is here by itself. \"Takes\" lists the types that the "
    "main\n"
    "operands may have. Integers and a floating-point type compute in the latter; other types "
    "must\n"
    "agree, or be [cast](#cast).\n\n";
  auto next = std::begin(headings);
  for (auto& of : rows) {
    if (of.internal()) continue;
    std::string_view title;
    for (; next != std::end(headings) && next->from <= of.id; ++next) title = next->title;
    if (!title.empty()) out += fmt::format("## {}\n\n", title);
    out += entry(of);
  }
  out.pop_back();
  return out;
}

} // namespace moxzi::device
