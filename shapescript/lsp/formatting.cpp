#include <algorithm>

#include "shapescript/lsp/features.hpp"
#include "shapescript/syntax/format.hpp"

namespace shapescript::lsp {

// One edit for the part that differs, so that an editor keeps its places elsewhere.
outcome formatting(const view& of, const json::value&) {
  const auto formatted = shapescript::format(of.file().text, parse(of.file().text));
  if (!formatted) return json::value(nullptr); // it can't be read to its end
  const std::string_view old = of.text.text();
  const std::string_view fresh = *formatted;
  json::array edits;
  if (old == fresh) return json::value(std::move(edits));
  const auto inside = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  const auto shorter = std::min(old.size(), fresh.size());
  size_t head = 0;
  while (head < shorter && old[head] == fresh[head]) ++head;
  // An edit neither begins inside a character nor between `\r` and `\n`.
  const auto splits = [&](std::string_view text, size_t at) {
    return at < text.size() && at > 0
           && (inside(text[at]) || (text[at] == '\n' && text[at - 1] == '\r'));
  };
  while (head > 0 && (splits(old, head) || splits(fresh, head))) --head;
  size_t tail = 0;
  while (tail < shorter - head && old[old.size() - 1 - tail] == fresh[fresh.size() - 1 - tail])
    ++tail;
  while (tail > 0 && (splits(old, old.size() - tail) || splits(fresh, fresh.size() - tail))) --tail;
  const span where{static_cast<uint32_t>(head), static_cast<uint32_t>(old.size() - tail)};
  edits.push_back(json::object{{"range", to_json(of.range_of(where))},
                               {"newText", fresh.substr(head, fresh.size() - tail - head)}});
  return json::value(std::move(edits));
}

} // namespace shapescript::lsp
