#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "shapescript/lsp/analysis.hpp"
#include "shapescript/lsp/json.hpp"

namespace shapescript::lsp {

/// Why a request was refused: one of the protocol's numbers, and a sentence for the person.
struct refusal {
  int code = 0;
  std::string message;
};

/// The protocol's numbers for refusals.
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int not_initialized = -32002;
inline constexpr int request_failed = -32803;
inline constexpr int request_cancelled = -32800;

/// What a request is answered with.
using outcome = std::variant<json::value, refusal>;

/// A request about one document: its method, and what answers it. The parameters hold the
/// document's name, which was used to find it.
struct feature {
  std::string_view method;
  outcome (*answer)(const view& of, const json::value& params);
};

std::span<const feature> features() noexcept;

/// What the server tells the client that it can do.
json::object capabilities(encoding unit);

/// The reports on a program in the editor's form.
json::array diagnostics(const view& of);

/// The declarations of a program whose name holds `query`, in any case, for a whole workspace.
void find_symbols(const view& of, std::string_view query, json::array& out);

/// The place that a request is about; a refusal if its parameters have none.
std::variant<uint32_t, refusal> offset_of(const view& of, const json::value& params);

/// A place that a rename changes.
struct rename_edit {
  const view* in;
  span where;
};

/// Where a name is written in the files that `of.open` shows.
std::vector<rename_edit> rename_edits(const view& of, uint32_t name);

/// The word of a name's kind and what a person wants to know of it, as ShapeScript text:
/// `dim D = 784`, `batch: [b] Digit`, `fn loss(m: Mlp) -> [] NonNeg`.
std::string describe(const view& of, const name_info& what);

/// The first line of a function up to its colon.
std::string header_of(const view& of, const function_info& f);

// One function a feature, each in the file of its name.
outcome code_actions(const view& of, const json::value& params);
outcome completion(const view& of, const json::value& params);
outcome definition(const view& of, const json::value& params);
outcome document_symbols(const view& of, const json::value& params);
outcome folding_ranges(const view& of, const json::value& params);
outcome formatting(const view& of, const json::value& params);
outcome highlights(const view& of, const json::value& params);
outcome hover(const view& of, const json::value& params);
outcome inlay_hints(const view& of, const json::value& params);
outcome prepare_rename(const view& of, const json::value& params);
outcome references(const view& of, const json::value& params);
outcome rename(const view& of, const json::value& params);
outcome semantic_tokens(const view& of, const json::value& params);
outcome semantic_tokens_in(const view& of, const json::value& params);
outcome resolved_completion(const view& of, const json::value& item);
outcome signature_help(const view& of, const json::value& params);

/// The kinds and marks of semantic tokens, by their numbers.
json::object semantic_legend();

} // namespace shapescript::lsp
