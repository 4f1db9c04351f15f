// Prints the tokens of programs as a grammar must see them: one JSON object a file, each token as
// [line, begin, end, class] with columns in UTF-16 units.

#include <fmt/format.h>

#include "shapescript/lsp/document.hpp"
#include "shapescript/syntax/token.hpp"

using namespace shapescript;

namespace {

std::string_view class_of(token_kind kind) {
  switch (kind) {
    case token_kind::newline:
    case token_kind::indent:
    case token_kind::dedent:
    case token_kind::end:
    case token_kind::bad:
      return {};
    case token_kind::name:
      return "name";
    case token_kind::integer:
    case token_kind::decimal:
      return "number";
    case token_kind::string:
      return "string";
    case token_kind::dot:
    case token_kind::comma:
    case token_kind::colon:
    case token_kind::open_paren:
    case token_kind::close_paren:
    case token_kind::open_bracket:
    case token_kind::close_bracket:
      return "punctuation";
    default:
      return kind >= token_kind::kw_fn && kind <= token_kind::kw_false ? "keyword" : "operator";
  }
}

} // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const auto text = read_source(argv[i]);
    if (!text) return 1;
    const lsp::document document{std::string{text->text()}};
    fmt::print("{{\"file\":\"{}\",\"tokens\":[", argv[i]);
    bool first = true;
    const auto print = [&](span where, std::string_view name) {
      if (name.empty()) return;
      const auto begin = document.place_of(where.begin, lsp::encoding::utf16);
      const auto end = document.place_of(where.end, lsp::encoding::utf16);
      fmt::print("{}[{},{},{},\"{}\"]", first ? "" : ",", begin.line, begin.column, end.column,
                 name);
      first = false;
    };
    const auto all = lex(*text);
    for (const auto& one : all.tokens) print(one.where, class_of(one.kind));
    for (const auto& one : all.comments) print(one.where, "comment");
    fmt::print("]}}\n");
  }
  return 0;
}
