#include <algorithm>

#include "shapescript/lsp/extent.hpp"
#include "shapescript/lsp/features.hpp"

namespace shapescript::lsp {

std::vector<extent> blocks_of(const std::vector<token>& tokens) {
  std::vector<extent> out;
  std::vector<size_t> open;
  uint32_t line_begin = 0;
  uint32_t last_end = 0;
  bool fresh = true; // the next token begins a line
  for (const auto& one : tokens) {
    switch (one.kind) {
      case token_kind::indent:
        open.push_back(out.size());
        out.push_back({{line_begin, last_end}, last_end});
        break;
      case token_kind::dedent:
        if (open.empty()) break;
        out[open.back()].where.end = last_end;
        open.pop_back();
        break;
      case token_kind::newline:
        fresh = true;
        break;
      case token_kind::end:
        break;
      default:
        if (std::exchange(fresh, false)) line_begin = one.where.begin;
        last_end = one.where.end;
    }
  }
  return out;
}

span extent_from(const std::vector<extent>& blocks, span line) {
  const auto place =
    std::lower_bound(blocks.begin(), blocks.end(), line.begin,
                     [](const extent& x, uint32_t begin) { return x.where.begin < begin; });
  if (place == blocks.end() || place->where.begin != line.begin) return line;
  return {line.begin, std::max(line.end, place->where.end)};
}

// Blocks fold below the line that opens them, and so do comments of several lines.
outcome folding_ranges(const view& of, const json::value&) {
  json::array out;
  const auto line = [&](uint32_t offset) { return of.text.place_of(offset, of.unit).line; };
  for (const auto& one : blocks_of(of.file().program.tokens)) {
    const auto first = line(one.header_end);
    const auto last = line(one.where.end);
    if (last > first) out.push_back(json::object{{"startLine", first}, {"endLine", last}});
  }
  const auto& comments = of.file().program.comments;
  for (size_t i = 0; i < comments.size();) {
    size_t next = i + 1;
    const auto first = line(comments[i].where.begin);
    while (next < comments.size() && comments[i].alone && comments[next].alone
           && line(comments[next].where.begin) == first + (next - i))
      ++next;
    if (next - i > 1)
      out.push_back(json::object{
        {"startLine", first}, {"endLine", first + (next - i) - 1}, {"kind", "comment"}});
    i = next;
  }
  return json::value(std::move(out));
}

} // namespace shapescript::lsp
