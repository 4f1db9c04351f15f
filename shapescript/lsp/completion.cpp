#include "shapescript/lsp/completion.hpp"

#include <algorithm>

#include "shapescript/lsp/cursor.hpp"
#include "shapescript/lsp/features.hpp"
#include "shapescript/syntax/lexical.hpp"

namespace shapescript::lsp {

namespace {

bool in_text(const view& of, uint32_t offset) {
  for (const auto& one : of.file().program.comments)
    if (one.where.begin < offset && offset <= one.where.end) return true;
  for (const auto& one : of.file().program.tokens) {
    const auto where = one.where;
    if (where.begin >= offset) break;
    if (one.kind == token_kind::string && offset < where.end) return true;
    // A string that is not closed goes on to the end of its line.
    if (one.kind == token_kind::bad && offset <= where.end && of.at(where).starts_with('"'))
      return true;
  }
  return false;
}

// Whether a sign that was just written asks for completions that nobody wants there: it does where
// anything may follow.
bool is_noise(const completion_place& at, const json::value& params) {
  const auto* context = member(params, "context");
  const auto sign = context == nullptr ? std::nullopt : text_member(*context, "triggerCharacter");
  if (!sign || *sign == ".") return false;
  const auto what = at.where.what;
  if (at.begin != at.offset || at.where.after_dot) return true;
  if (*sign == "=") return !names_axes(at.of, at.begin);
  if (*sign == "[") return what != wanted::size && what != wanted::record && what != wanted::model;
  switch (what) { // after a space
    case wanted::device:
    case wanted::share:
    case wanted::split:
    case wanted::import:
    case wanted::fn:
    case wanted::type:
    case wanted::cast:
    case wanted::layer:
    case wanted::initialiser:
    case wanted::stage:
      return false;
    case wanted::size: // of a dim
      return at.where.bracket.has_value();
    default:
      return true;
  }
}

void complete(const completion_place& at, completion_items& out) {
  if (at.where.what == wanted::import || at.where.what == wanted::module)
    return complete_import(at, out);
  if (at.where.after_dot) return complete_inside(at, out);
  switch (at.where.what) {
    case wanted::type:
    case wanted::element:
    case wanted::refinement:
    case wanted::cast:
    case wanted::record:
    case wanted::model:
    case wanted::layer:
      return complete_type(at, out);
    case wanted::size:
    case wanted::pattern:
    case wanted::split:
      return complete_size(at, out);
    case wanted::value:
    case wanted::changed:
    case wanted::stage:
    case wanted::argument:
    case wanted::index:
    case wanted::initialiser:
    case wanted::operation:
    case wanted::in:
      return complete_value(at, out);
    default:
      return complete_line(at, out);
  }
}

} // namespace

outcome completion(const view& of, const json::value& params) {
  const auto place = offset_of(of, params);
  if (const auto* refused = std::get_if<refusal>(&place)) return *refused;
  const auto offset = std::get<uint32_t>(place);
  const auto& text = of.text.text();
  const auto is_word = [](char c) { return is_letter(c) || is_digit(c); };
  auto begin = offset; // of the word that is being written
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  auto end = offset;
  while (end < text.size() && is_word(text[end])) ++end;
  const bool number = begin < offset && is_digit(text[begin]);
  if (number || in_text(of, offset)) return json::value(json::array{});
  const completion_place at{of, begin, offset, end, setting_at(of, begin)};
  if (is_noise(at, params)) return json::value(json::array{});
  completion_items out{of, begin, offset, end};
  complete(at, out);
  return json::value(out.take());
}

outcome resolved_completion(const view& of, const json::value& item) {
  auto out = item;
  const auto* data = member(item, "data");
  const auto about = data == nullptr ? std::nullopt : text_member(*data, "about");
  if (!about || !out.is_object()) return out;
  if (auto text = documentation_about(of, *about); !text.empty())
    out.as_object()["documentation"] = {{"kind", "markdown"}, {"value", text}};
  return out;
}

} // namespace shapescript::lsp
