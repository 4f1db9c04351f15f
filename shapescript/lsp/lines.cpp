#include "shapescript/lsp/lines.hpp"

#include <algorithm>

namespace shapescript::lsp {

namespace {

bool ends_line(token_kind kind) noexcept {
  return kind == token_kind::newline || kind == token_kind::indent || kind == token_kind::dedent
         || kind == token_kind::end;
}

// Where a bracket was never closed: it holds no text.
bool is_mark(const token& one) noexcept {
  return one.kind == token_kind::bad && one.where.begin == one.where.end;
}

// The tokens that end at or before a place.
size_t tokens_until(const view& of, uint32_t offset) {
  const auto& all = of.file().program.tokens;
  const auto next = std::partition_point(all.begin(), all.end(),
                                         [&](const token& one) { return one.where.end <= offset; });
  return static_cast<size_t>(next - all.begin());
}

uint32_t column_of(const view& of, uint32_t offset) {
  const auto& text = of.text.text();
  uint32_t column = 0;
  while (offset > column && text[offset - column - 1] != '\n') ++column;
  return column;
}

// The first tokens of the logical lines that begin before a place, the nearest first, as long as
// `take` wants more.
template <class Take>
void lines_upwards(const view& of, uint32_t offset, Take take) {
  const auto& all = of.file().program.tokens;
  for (auto i = tokens_until(of, offset); i-- > 0;) {
    if (ends_line(all[i].kind) || is_mark(all[i]) || all[i].where.begin >= offset) continue;
    const bool first = i == 0 || ends_line(all[i - 1].kind) || is_mark(all[i - 1]);
    if (first && !take(i)) return;
  }
}

} // namespace

token_line line_before(const view& of, uint32_t offset) {
  const auto& all = of.file().program.tokens;
  token_line out;
  out.end = tokens_until(of, offset);
  while (out.end > 0 && (ends_line(all[out.end - 1].kind) || is_mark(all[out.end - 1]))) --out.end;
  out.first = out.end;
  while (out.first > 0 && !ends_line(all[out.first - 1].kind) && !is_mark(all[out.first - 1]))
    --out.first;
  if (out.empty()) return out;
  // A line break since the last token ends the line, unless a bracket is still open.
  const auto last = all[out.end - 1].where.end;
  if (of.at({last, offset}).find('\n') == std::string_view::npos) return out;
  size_t open = 0;
  for (size_t i = out.first; i < out.end; ++i) {
    const auto kind = all[i].kind;
    if (kind == token_kind::open_paren || kind == token_kind::open_bracket) ++open;
    if ((kind == token_kind::close_paren || kind == token_kind::close_bracket) && open > 0) --open;
  }
  if (open == 0) out.first = out.end;
  return out;
}

uint32_t indentation_of(const view& of, uint32_t offset) {
  const auto& text = of.text.text();
  auto begin = std::min<size_t>(offset, text.size());
  while (begin > 0 && text[begin - 1] != '\n') --begin;
  uint32_t column = 0;
  while (begin + column < offset && text[begin + column] == ' ') ++column;
  return column;
}

std::vector<size_t> headers_around(const view& of, uint32_t offset) {
  const auto& all = of.file().program.tokens;
  const auto line = line_before(of, offset);
  const auto begin = line.empty() ? offset : all[line.first].where.begin;
  auto column = line.empty() ? indentation_of(of, offset) : column_of(of, begin);
  std::vector<size_t> out;
  lines_upwards(of, begin, [&](size_t first) {
    const auto at = column_of(of, all[first].where.begin);
    if (at < column) {
      out.push_back(first);
      column = at;
    }
    return column > 0;
  });
  return out;
}

std::optional<size_t> line_above(const view& of, uint32_t offset) {
  const auto& all = of.file().program.tokens;
  const auto line = line_before(of, offset);
  const auto begin = line.empty() ? offset : all[line.first].where.begin;
  const auto column = line.empty() ? indentation_of(of, offset) : column_of(of, begin);
  std::optional<size_t> out;
  lines_upwards(of, begin, [&](size_t first) {
    const auto at = column_of(of, all[first].where.begin);
    if (at == column) out = first;
    return at > column;
  });
  return out;
}

} // namespace shapescript::lsp
