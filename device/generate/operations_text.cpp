#include "device/generate/operations_text.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "device/generate/headings.hpp"

namespace moxzi::device {

namespace {

constexpr size_t columns_max = 100;

struct operator_sign {
  std::string_view row;
  char sign;
};
constexpr operator_sign operator_signs[] = {{"add", '+'}, {"sub", '-'}, {"mul", '*'}, {"div", '/'}};

// -- text ----------------------------------------------------------------------

/// Parts one after the other, with `between` and a new line before what would not fit.
std::string filled(std::string first, std::string_view indent,
                   const std::vector<std::string>& parts, std::string_view between) {
  auto text = std::move(first);
  auto line_start = size_t{0};
  for (size_t i = 0; i < parts.size(); ++i) {
    auto gap = i == 0 ? std::string_view{} : between;
    // One more for what may follow the last.
    if (text.size() - line_start + gap.size() + parts[i].size() + 2 > columns_max) {
      while (gap.ends_with(' ')) gap.remove_suffix(1);
      text += gap;
      text += '\n';
      line_start = text.size();
      text += indent;
    } else {
      text += gap;
    }
    text += parts[i];
  }
  return text;
}

std::string comment(std::string_view indent, std::string_view sentence) {
  std::vector<std::string> words;
  for (size_t from = 0; from < sentence.size();) {
    auto to = std::min(sentence.find(' ', from), sentence.size());
    words.emplace_back(sentence.substr(from, to - from));
    from = to + 1;
  }
  auto line = fmt::format("{}/// ", indent);
  return filled(line, line, words, " ") + "\n";
}

// -- names and types -----------------------------------------------------------

/// A word of the table as a C++ name.
std::string name_in_cpp(std::string_view word) {
  constexpr std::string_view keywords[] = {"and",   "bool",   "case",  "default", "do",   "double",
                                           "else",  "float",  "for",   "if",      "int",  "long",
                                           "new",   "not",    "or",    "short",   "this", "while",
                                           "class", "switch", "union", "xor"};
  auto taken = std::ranges::find(keywords, word) != std::end(keywords);
  return fmt::format("{}{}", word, taken ? "_" : "");
}

/// How an operation is named: those that `ids.hpp` has no name for go by their number.
std::string number_of(const row& of) {
  if (of.id >= first_without_name) return fmt::format("op{{{}}}", static_cast<int>(of.id));
  return "op::" + name_in_cpp(of.name);
}

/// The enumerations of fields with a choice, by name. Fields of one name with the same choices
/// share one.
using enumerations = std::vector<std::pair<std::string, std::vector<std::string_view>>>;

std::string enumeration_name(const row& of, const field& what, enumerations& known) {
  for (auto name :
       {fmt::format("{}_choice", what.name), fmt::format("{}_{}_choice", of.name, what.name)}) {
    auto found = std::ranges::find(known, name, [](auto& entry) { return entry.first; });
    if (found == known.end()) {
      known.emplace_back(name, what.choices);
      return name;
    }
    if (found->second == what.choices) return name;
  }
  moxzi_assert(false, "{}.{} has two lists of choices", of.name, what.name);
  return {};
}

std::string plain_type(const row& of, const field& what, enumerations& known) {
  switch (what.kind) {
    case field_kind::reg:
    case field_kind::opt_reg:
      return "var";
    case field_kind::regs:
      return "const std::vector<var>&";
    case field_kind::boolean:
      return "bool";
    case field_kind::nat32:
      return "uint32_t";
    case field_kind::int32:
      return "int32_t";
    case field_kind::int64:
      return "int64_t";
    case field_kind::nat64:
      return "uint64_t";
    case field_kind::float64:
      return "double";
    case field_kind::text:
      return "std::string";
    case field_kind::nat32s:
      return "std::vector<uint32_t>";
    case field_kind::dtype:
      return "device::dtype";
    case field_kind::distribution:
      return "distribution";
    case field_kind::choice:
      return enumeration_name(of, what, known);
  }
  return {};
}

bool is_optional(const field& what) {
  return what.optional || what.kind == field_kind::opt_reg;
}

// -- one row as a call ---------------------------------------------------------

/// How a row is called.
struct call {
  const row* of = nullptr;
  std::vector<std::string> required;   ///< parameters
  std::vector<std::string> defaulted;  ///< optional operands that come before other options
  std::vector<std::string> options;    ///< members of its options
  std::vector<std::string> collecting; ///< `.on(x)`, `.with(dim)`, in the row's order

  /// True if nothing but the builder says which program it belongs to.
  bool without_operands() const {
    return std::ranges::none_of(of->fields, [](const field& what) {
      return what.kind == field_kind::reg || what.kind == field_kind::regs;
    });
  }
};

call call_of(const row& what, enumerations& known) {
  call out{&what, {}, {}, {}, {}};
  for (auto& each : what.fields) {
    auto type = plain_type(what, each, known);
    auto name = name_in_cpp(each.name);
    std::string from;
    if (!is_optional(each)) {
      out.required.push_back(fmt::format("{} {}", type, name));
    } else if (each.kind == field_kind::opt_reg && out.options.empty()) {
      out.defaulted.push_back(fmt::format("std::optional<var> {}", name));
    } else {
      out.options.push_back(fmt::format("std::optional<{}> {} = {{}};", type, name));
      from = "options.";
    }
    auto collect = is_register(each.kind) ? "on" : "with";
    out.collecting.push_back(fmt::format(".{}({}{})", collect, from, name));
  }
  return out;
}

std::vector<std::string> parameters(const call& what, bool with_defaults) {
  auto out = what.required;
  for (auto& each : what.defaulted) out.push_back(each + (with_defaults ? " = {}" : ""));
  if (!what.options.empty())
    out.push_back(
      fmt::format("const {}_options& options{}", what.of->name, with_defaults ? " = {}" : ""));
  return out;
}

std::vector<call> calls_of(std::span<const row> rows, enumerations& known) {
  std::vector<call> out;
  for (auto& each : rows)
    if (!each.internal()) out.push_back(call_of(each, known));
  return out;
}

// -- the header ----------------------------------------------------------------

constexpr std::string_view origin =
  R"(// Written from the table of operations. After a change of the table:
//   MOXZI_WRITE_INTERFACE=1 ctest --preset release -R operations_text
// clang-format off
)";

void append_options(std::string& to, const call& what) {
  if (what.options.empty()) return;
  to += fmt::format("/// What `{}` can be told beside its operands.\nstruct {}_options {{\n",
                    what.of->name, what.of->name);
  for (auto& each : what.options) to += fmt::format("  {}\n", each);
  to += "};\n\n";
}

/// What the operation follows, for a reader who knows that: a function's whole name.
std::string followed(std::string_view reference) {
  constexpr std::string_view functional = "F.";
  if (reference.starts_with(functional))
    return fmt::format("torch.nn.functional.{}", reference.substr(functional.size()));
  auto is_expression = reference.starts_with("x ") || reference.starts_with("x.");
  return is_expression || reference == "the interface" ? std::string{} : std::string(reference);
}

void append_declaration(std::string& to, const call& what, std::string_view indent) {
  to += comment(indent, what.of->sentence);
  auto reference = followed(what.of->reference);
  if (!reference.empty()) to += comment(indent, fmt::format("As {}.", reference));
  auto start = fmt::format("{}var {}(", indent, name_in_cpp(what.of->name));
  to += filled(start, fmt::format("{}    ", indent), parameters(what, true), ", ") + ");\n\n";
}

/// `x + y` for `add`, and so on, with a number on either side where a row serves for that.
void append_operators(std::string& to, const std::vector<call>& calls) {
  auto has = [&calls](std::string_view name) {
    return std::ranges::any_of(calls, [name](const call& c) { return c.of->name == name; });
  };
  std::string text;
  auto add = [&text](std::string_view parameters, char sign, std::string_view body) {
    text += fmt::format("inline var operator{}({}) {{\n  return {};\n}}\n", sign, parameters, body);
  };
  for (auto& [name, sign] : operator_signs)
    if (has(name)) add("var x, var y", sign, fmt::format("{}(x, y)", name));
  if (has("neg")) add("var x", '-', "neg(x)");
  if (has("add_scalar")) {
    add("var x, double y", '+', "add_scalar(x, y)");
    add("double x, var y", '+', "add_scalar(y, x)");
    add("var x, double y", '-', "add_scalar(x, -y)");
    if (has("neg")) add("double x, var y", '-', "add_scalar(neg(y), x)");
  }
  if (has("mul_scalar")) {
    add("var x, double y", '*', "mul_scalar(x, y)");
    add("double x, var y", '*', "mul_scalar(y, x)");
    text += "/// Times 1 / y.\n";
    add("var x, double y", '/', "mul_scalar(x, 1 / y)");
    if (has("reciprocal")) add("double x, var y", '/', "mul_scalar(reciprocal(y), x)");
  }
  if (!text.empty()) to += "// -- operators\n\n" + text + "\n";
}

} // namespace

std::string operations_header(std::span<const row> rows) {
  enumerations known;
  auto calls = calls_of(rows, known);
  auto out = fmt::format("#pragma once\n\n{}\n", origin);
  out +=
    "#include <cstdint>\n#include <optional>\n#include <string>\n#include <vector>\n\n"
    "#include \"device/var.hpp\"\n\n"
    "/// All operations of programs. Shapes are written [rows, columns]; what an option is when "
    "it is\n/// absent, its operation's sentence or the named reference says.\n"
    "namespace moxzi::device {\n\n";
  for (auto& [name, choices] : known) {
    std::vector<std::string> words;
    for (auto choice : choices) words.push_back(name_in_cpp(choice));
    out += filled(fmt::format("enum class {} : int64_t {{ ", name), "  ", words, ", ") + " };\n\n";
  }
  out += "// -- sources\n\n";
  for (auto& each : calls)
    if (each.without_operands()) append_options(out, each);
  out += "/// The operations that take no value: members of `program_builder`.\n"
         "class operations_without_operands {\npublic:\n";
  for (auto& each : calls)
    if (each.without_operands()) append_declaration(out, each, "  ");
  out += "protected:\n  operations_without_operands() = default;\n"
         "  void attach(program_under_way* to) noexcept {\n    in_ = to;\n  }\n\n"
         "private:\n  program_under_way* in_ = nullptr;\n};\n\n";
  auto next = std::begin(headings);
  for (auto& each : calls) {
    if (each.without_operands()) continue;
    std::string_view title;
    for (; next != std::end(headings) && next->from <= each.of->id; ++next) title = next->title;
    if (!title.empty()) out += fmt::format("// -- {}\n\n", title);
    append_options(out, each);
    append_declaration(out, each, "");
  }
  append_operators(out, calls);
  return out + "} // namespace moxzi::device\n";
}

std::string operations_source(std::span<const row> rows) {
  enumerations known;
  auto out =
    fmt::format("{}\n#include \"device/operations.hpp\"\n\nnamespace moxzi::device {{\n\n", origin);
  for (auto& each : calls_of(rows, known)) {
    auto inner = each.without_operands();
    auto start = fmt::format("var {}{}(", inner ? "operations_without_operands::" : "",
                             name_in_cpp(each.of->name));
    out += filled(start, "    ", parameters(each, false), ", ") + ") {\n";
    auto body =
      fmt::format("  return operation_call({}{})", number_of(*each.of), inner ? ", in_" : "");
    auto steps = each.collecting;
    steps.emplace_back(".made()");
    out += filled(body, "    ", steps, "") + ";\n}\n\n";
  }
  return out + "} // namespace moxzi::device\n";
}

} // namespace moxzi::device
