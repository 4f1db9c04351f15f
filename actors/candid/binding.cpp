#include "actors/candid/binding.hpp"

namespace moxzi::candid {

namespace {

/// `(nat, opt Pair)`.
std::string tuple_text(const std::vector<typed_text>& items) {
  std::vector<std::string_view> texts;
  for (const auto& item : items) texts.push_back(item.text);
  return fmt::format("({})", fmt::join(texts, ", "));
}

/// `(nat) -> (text) query`.
std::string func_text(const std::vector<typed_text>& arguments,
                      const std::vector<typed_text>& results, uint8_t annotations) {
  std::string marks;
  if ((annotations & annotation::query) != 0) marks += " query";
  if ((annotations & annotation::composite_query) != 0) marks += " composite_query";
  if ((annotations & annotation::oneway) != 0) marks += " oneway";
  return fmt::format("{} -> {}{}", tuple_text(arguments), tuple_text(results), marks);
}

std::vector<type_ref> types_of(const std::vector<typed_text>& items) {
  std::vector<type_ref> types;
  for (const auto& item : items) types.push_back(item.type);
  return types;
}

} // namespace

// -- declarations -------------------------------------------------------------

void declarations::define(std::string_view name, type_ref type, std::string_view body,
                          std::string_view note) {
  moxzi_assert(types_.define(name, type).has_value(), "{} is taken", name);
  alias(name, body, note);
}

void declarations::alias(std::string_view name, std::string_view body, std::string_view note) {
  if (!note.empty()) text_ += fmt::format("// {}\n", note);
  text_ += fmt::format("type {} = {};\n\n", name, body);
}

void declarations::add_method(std::string_view name, std::string_view note,
                              const std::vector<typed_text>& arguments,
                              const std::vector<typed_text>& results, uint8_t annotations) {
  const auto func = types_.declare();
  types_.set_func(func, types_of(arguments), types_of(results), annotations);
  methods_.push_back({std::string{name}, func});
  if (!note.empty()) method_text_ += fmt::format("  // {}\n", note);
  method_text_ += fmt::format("  {} : {};\n", name, func_text(arguments, results, annotations));
}

bool declarations::takes_bytes(type_ref type) const {
  switch (types_.kind_of(type)) {
    case kind::null:
    case kind::reserved:
      return false;
    case kind::record: {
      const auto all = types_.fields(type);
      return std::any_of(all.begin(), all.end(),
                         [this](const field& f) { return takes_bytes(f.type); });
    }
    default:
      return true;
  }
}

interface declarations::service() const {
  auto types = std::make_shared<type_table>(types_);
  const auto actor = types->declare();
  const auto done = types->set_service(actor, methods_);
  moxzi_assert(done.has_value(), "a method is declared twice");
  return make_interface(std::move(types), actor);
}

std::string declarations::text() const {
  return fmt::format("{}service : {{\n{}}};\n", text_, method_text_);
}

// -- forms --------------------------------------------------------------------

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
  return {{kind::boolean, "bool"},
          [](value v) { return v.as_boolean(); },
          [](writer& out, const bool& x) { out.boolean(x); }};
}

form<uint32_t> nat32_form() {
  return {{kind::nat32, "nat32"},
          [](value v) { return static_cast<uint32_t>(v.as_fixed_nat()); },
          [](writer& out, const uint32_t& x) { out.u32(x); }};
}

form<uint64_t> nat64_form() {
  return {{kind::nat64, "nat64"},
          [](value v) { return v.as_fixed_nat(); },
          [](writer& out, const uint64_t& x) { out.u64(x); }};
}

form<double> float64_form() {
  return {{kind::float64, "float64"},
          [](value v) { return v.as_float64(); },
          [](writer& out, const double& x) { out.f64(x); }};
}

form<std::string> text_form() {
  return {{kind::text, "text"},
          [](value v) { return std::move(v.as_string()); },
          [](writer& out, const std::string& x) { out.bytes(x); }};
}

form<byte_string> blob_form(declarations& in) {
  return {{in.types().blob(), "blob"},
          [](value v) { return std::move(v.as_string()); },
          [](writer& out, const byte_string& x) { out.bytes(x); }};
}

form<integer> nat_form() {
  return {{kind::nat, "nat"},
          [](value v) { return v.as_whole(); },
          [](writer& out, const integer& x) {
            byte_string bytes;
            x.append_leb128(bytes);
            out.raw(bytes);
          }};
}

namespace {

// As `principal` and `service` are written.
void append_reference(writer& out, const moxzi::principal& x) {
  out.u8(1);
  out.bytes(x.bytes());
}

} // namespace

form<moxzi::principal> principal_form() {
  return {{kind::principal, "principal"},
          [](value v) { return v.as_principal(); },
          [](writer& out, const moxzi::principal& x) { append_reference(out, x); }};
}

form<value::func_ref> func_form(declarations& in, const std::vector<typed_text>& arguments,
                                const std::vector<typed_text>& results, uint8_t annotations) {
  const auto type = in.types().declare();
  in.types().set_func(type, types_of(arguments), types_of(results), annotations);
  return {{type, "func " + func_text(arguments, results, annotations)},
          [](value v) { return v.as_func(); },
          [](writer& out, const value::func_ref& x) {
            out.u8(1);
            append_reference(out, x.service);
            out.bytes(x.method);
          }};
}

form<std::monostate> reserved_form() {
  return {{kind::reserved, "reserved"},
          [](value) { return std::monostate{}; },
          [](writer&, const std::monostate&) {
            // nop
          }};
}

} // namespace moxzi::candid
