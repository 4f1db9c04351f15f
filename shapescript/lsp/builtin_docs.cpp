#include "shapescript/lsp/builtin_docs.hpp"

#include <algorithm>
#include <iterator>

namespace shapescript::lsp {

namespace {

struct entry {
  std::string_view name;
  std::string_view text;
};

constexpr entry table[] = {
#define DOC(name, text) {name, text},
#include "shapescript/lsp/builtin_docs.def"
#undef DOC
};

} // namespace

std::string_view documentation_of(std::string_view builtin) noexcept {
  const auto place =
    std::lower_bound(std::begin(table), std::end(table), builtin,
                     [](const entry& one, std::string_view name) { return one.name < name; });
  return place != std::end(table) && place->name == builtin ? place->text : std::string_view{};
}

std::string parameter_text(const parameter_slot& one) {
  if (one.variadic) return "...";
  std::string out = one.is_mut ? "mut " : "";
  out += one.name;
  if (one.by_name) out += '=';
  if (one.optional) out += '?';
  return out;
}

std::string signature_of(const builtin& what) {
  std::string out{what.name};
  if (what.how == rule::pattern) {
    out += what.name == "einsum" ? "(x, y: P, Q -> R" : "(x: P -> Q";
    return out + (what.name == "reduce" ? ", by=)" : ")");
  }
  out += '(';
  bool first = true;
  for (const auto& one : slots_of(what)) {
    if (!first) out += ", ";
    first = false;
    out += parameter_text(one);
  }
  return out + ")";
}

} // namespace shapescript::lsp
