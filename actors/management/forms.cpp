#include "actors/management/forms.hpp"

namespace moxzi::actors::management {

using candid::value;

void declarations::define(std::string_view name, candid::type_ref type, std::string_view body,
                          std::string_view note) {
  moxzi_assert(types_.define(name, type).has_value(), "{} is taken", name);
  alias(name, body, note);
}

void declarations::alias(std::string_view name, std::string_view body, std::string_view note) {
  if (!text_.empty()) text_ += '\n';
  if (!note.empty()) text_ += fmt::format("// {}\n", note);
  text_ += fmt::format("type {} = {};\n", name, body);
}

std::string braces(std::string_view word, const std::vector<std::string>& parts,
                   const std::vector<std::string>& notes, bool is_block) {
  if (!is_block) return fmt::format("{} {{ {} }}", word, fmt::join(parts, "; "));
  std::string text = fmt::format("{} {{\n", word);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!notes[i].empty()) text += fmt::format("  // {}\n", notes[i]);
    text += fmt::format("  {};\n", parts[i]);
  }
  return text + "}";
}

form<bool> boolean_form() {
  return {candid::kind::boolean, "bool", [](value v) { return v.as_boolean(); },
          [](writer& out, const bool& x) { out.boolean(x); }};
}

form<uint32_t> nat32_form() {
  return {candid::kind::nat32, "nat32",
          [](value v) { return static_cast<uint32_t>(v.as_fixed_nat()); },
          [](writer& out, const uint32_t& x) { out.u32(x); }};
}

form<uint64_t> nat64_form() {
  return {candid::kind::nat64, "nat64", [](value v) { return v.as_fixed_nat(); },
          [](writer& out, const uint64_t& x) { out.u64(x); }};
}

form<double> float64_form() {
  return {candid::kind::float64, "float64", [](value v) { return v.as_float64(); },
          [](writer& out, const double& x) { out.f64(x); }};
}

form<std::string> text_form() {
  return {candid::kind::text, "text", [](value v) { return std::move(v.as_string()); },
          [](writer& out, const std::string& x) { out.bytes(x); }};
}

form<byte_string> blob_form(declarations& in) {
  return {in.types().blob(), "blob", [](value v) { return std::move(v.as_string()); },
          [](writer& out, const byte_string& x) { out.bytes(x); }};
}

} // namespace moxzi::actors::management
