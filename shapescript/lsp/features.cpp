#include "shapescript/lsp/features.hpp"

namespace shapescript::lsp {

std::span<const feature> features() noexcept {
  static constexpr feature all[] = {
    {"textDocument/codeAction", code_actions},
    {"textDocument/completion", completion},
    {"textDocument/definition", definition},
    {"textDocument/documentHighlight", highlights},
    {"textDocument/documentSymbol", document_symbols},
    {"textDocument/foldingRange", folding_ranges},
    {"textDocument/formatting", formatting},
    {"textDocument/hover", hover},
    {"textDocument/inlayHint", inlay_hints},
    {"textDocument/prepareRename", prepare_rename},
    {"textDocument/references", references},
    {"textDocument/rename", rename},
    {"textDocument/semanticTokens/full", semantic_tokens},
    {"textDocument/semanticTokens/range", semantic_tokens_in},
    {"textDocument/signatureHelp", signature_help},
  };
  return all;
}

json::object capabilities(encoding unit) {
  constexpr std::string_view names[] = {"utf-8", "utf-16", "utf-32"};
  json::object out;
  out["positionEncoding"] = json::string{names[static_cast<size_t>(unit)]};
  // 2: changes come as ranges.
  out["textDocumentSync"] = {{"openClose", true}, {"change", 2}};
  out["codeActionProvider"] = {{"codeActionKinds", json::array{"quickfix"}}};
  out["documentSymbolProvider"] = true;
  out["workspaceSymbolProvider"] = true;
  out["foldingRangeProvider"] = true;
  out["completionProvider"] = {{"triggerCharacters", json::array{".", "=", "[", " "}},
                               {"resolveProvider", true}};
  out["definitionProvider"] = true;
  out["documentHighlightProvider"] = true;
  out["hoverProvider"] = true;
  out["inlayHintProvider"] = true;
  out["referencesProvider"] = true;
  out["renameProvider"] = {{"prepareProvider", true}};
  out["semanticTokensProvider"] = {{"legend", semantic_legend()}, {"full", true}, {"range", true}};
  out["signatureHelpProvider"] = {{"triggerCharacters", json::array{"(", ","}}};
  out["documentFormattingProvider"] = true;
  return out;
}

std::variant<uint32_t, refusal> offset_of(const view& of, const json::value& params) {
  const auto* where = member(params, "position");
  const auto found = where == nullptr ? std::nullopt : read_place(*where);
  if (!found) return refusal{invalid_params, "`position` is not a line and a character"};
  return of.text.offset_of(*found, of.unit);
}

} // namespace shapescript::lsp
