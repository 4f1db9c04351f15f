#include "shapescript/lsp/analysis.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "shapescript/lsp/lines.hpp"

namespace shapescript::lsp {

namespace {

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

} // namespace

std::string path_of(std::string_view uri) {
  constexpr std::string_view scheme = "file://";
  if (!uri.starts_with(scheme)) return std::string{uri};
  uri.remove_prefix(scheme.size());
  if (const auto slash = uri.find('/'); slash != uri.npos) uri.remove_prefix(slash); // the host
  std::string out;
  for (size_t i = 0; i < uri.size(); ++i) {
    const int high = uri[i] == '%' && i + 2 < uri.size() ? hex_digit(uri[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(uri[i + 2]) : -1;
    if (low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += uri[i];
    }
  }
  return out;
}

std::string uri_of(std::string_view path) {
  if (path.find("://") != path.npos) return std::string{path};
  std::string out = "file://";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                       || c == '/' || c == '-' || c == '.' || c == '_' || c == '~';
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

span signature_of(const module_info& in, const function_decl& f) {
  const auto& all = in.program.tokens;
  span out = f.name;
  size_t depth = 0;
  for (auto i = std::partition_point(
         all.begin(), all.end(), [&](const token& one) { return one.where.begin < f.name.begin; });
       i != all.end(); ++i) {
    const auto kind = i->kind;
    if (kind == token_kind::newline || kind == token_kind::indent || kind == token_kind::end) break;
    if (depth == 0 && (kind == token_kind::colon || kind == token_kind::assign)) break;
    if (kind == token_kind::open_paren || kind == token_kind::open_bracket) ++depth;
    if ((kind == token_kind::close_paren || kind == token_kind::close_bracket) && depth > 0)
      --depth;
    out.end = i->where.end;
  }
  return out;
}

namespace {

// The lines around a place by their first tokens.
std::vector<size_t> lines_around(const view& of, uint32_t offset) {
  auto out = headers_around(of, offset);
  const auto line = line_before(of, offset);
  if (!line.empty()) out.insert(out.begin(), line.first);
  return out;
}

// Where the block ends that a line begins: at the next line that is indented no more.
uint32_t block_end(const view& of, size_t first) {
  const auto& all = of.file().program.tokens;
  size_t depth = 0;
  for (size_t i = first; i < all.size(); ++i) {
    const auto kind = all[i].kind;
    if (kind == token_kind::indent) ++depth;
    if (kind == token_kind::dedent && depth > 0 && --depth == 0) return all[i].where.begin;
    const bool next = kind == token_kind::newline && depth == 0 && i + 1 < all.size();
    if (next && all[i + 1].kind != token_kind::indent) return all[i].where.end;
  }
  return static_cast<uint32_t>(of.text.text().size()) + 1;
}

} // namespace

uint32_t function_at(const view& of, uint32_t offset) {
  const auto& functions = of.all().functions;
  for (const auto first : lines_around(of, offset)) {
    const auto begin = of.file().program.tokens[first].where.begin;
    for (uint32_t i = 0; i < functions.size(); ++i)
      if (functions[i].module == 0 && functions[i].decl->where.begin == begin) return i;
  }
  return no_index;
}

uint32_t model_at(const view& of, uint32_t offset) {
  const auto& models = of.all().models;
  for (const auto first : lines_around(of, offset)) {
    const auto begin = of.file().program.tokens[first].where.begin;
    for (uint32_t i = 0; i < models.size(); ++i)
      if (models[i].decl != nullptr && models[i].module == 0
          && models[i].decl->where.begin == begin)
        return i;
  }
  return no_index;
}

std::vector<const name_info*> names_at(const view& of, uint32_t offset) {
  const auto& tokens = of.file().program.tokens;
  const auto line = line_before(of, offset);
  const auto line_begin = line.empty() ? offset : tokens[line.first].where.begin;
  const auto around = lines_around(of, offset);
  const auto f = function_at(of, offset);
  const auto m = model_at(of, offset);
  span body;
  for (const auto first : around)
    if (f != no_index && tokens[first].where.begin == of.all().functions[f].decl->where.begin)
      body = {tokens[first].where.begin, block_end(of, first)};
  const auto in_body = [&](const name_info& one) {
    return body.begin <= one.declared.begin && one.declared.begin < body.end;
  };
  // A variable is known after the line that it is first assigned in; that of a loop, in the loop.
  const auto is_known = [&](const name_info& one) {
    if (one.kind == name_kind::parameter) return true;
    const auto at = line_before(of, one.declared.end);
    if (at.empty() || tokens[at.first].kind != token_kind::kw_for)
      return one.declared.begin < line_begin;
    return at.first != line.first
           && std::find(around.begin(), around.end(), at.first) != around.end();
  };
  std::vector<const name_info*> out;
  for (const auto& one : of.all().names) {
    if (one.module != 0 || one.name.empty()) continue;
    switch (one.kind) {
      case name_kind::field:
      case name_kind::member:
      case name_kind::method:
        break;
      case name_kind::parameter:
      case name_kind::local:
        if (in_body(one) && is_known(one)) out.push_back(&one);
        break;
      case name_kind::axis: {
        const auto& dims = m == no_index ? std::vector<span>{} : of.all().models[m].decl->dims;
        const bool of_model = std::find(dims.begin(), dims.end(), one.declared) != dims.end();
        if (of_model || in_body(one)) out.push_back(&one);
        break;
      }
      default:
        out.push_back(&one);
    }
  }
  return out;
}

} // namespace shapescript::lsp
