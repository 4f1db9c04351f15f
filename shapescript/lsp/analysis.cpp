#include "shapescript/lsp/analysis.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace shapescript::lsp {

namespace {

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Where the declaration that a place is in begins and the next one begins.
span declaration_at(const view& of, uint32_t offset) {
  const auto& t = of.program();
  span out{0, static_cast<uint32_t>(of.text.text().size()) + 1};
  const auto take = [&](uint32_t begin) {
    if (begin <= offset)
      out.begin = std::max(out.begin, begin);
    else
      out.end = std::min(out.end, begin);
  };
  for (const auto& [kind, index] : t.order) {
    switch (kind) {
      case decl_kind::devices:
        take(t.devices[index].where.begin);
        break;
      case decl_kind::dim:
        take(t.dim_decls[index].where.begin);
        break;
      case decl_kind::data:
        take(t.data[index].where.begin);
        break;
      case decl_kind::model:
        take(t.models[index].where.begin);
        break;
      case decl_kind::function:
        take(t.functions[index].where.begin);
        break;
      case decl_kind::import:
        take(t.imports[index].where.begin);
        break;
    }
  }
  return out;
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

uint32_t function_at(const view& of, uint32_t offset) {
  const auto around = declaration_at(of, offset);
  uint32_t best = no_index;
  uint32_t best_begin = 0;
  const auto& functions = of.all().functions;
  for (uint32_t i = 0; i < functions.size(); ++i) {
    const auto& f = functions[i];
    if (f.module != 0) continue;
    const auto begin = f.decl->where.begin;
    if (begin > offset || begin < around.begin) continue;
    if (best == no_index || begin > best_begin) {
      best = i;
      best_begin = begin;
    }
  }
  return best;
}

uint32_t model_at(const view& of, uint32_t offset) {
  const auto around = declaration_at(of, offset);
  const auto& models = of.all().models;
  for (uint32_t i = 0; i < models.size(); ++i)
    if (models[i].decl != nullptr && models[i].module == 0
        && models[i].decl->where.begin == around.begin && around.begin <= offset)
      return i;
  return no_index;
}

std::vector<const name_info*> names_at(const view& of, uint32_t offset) {
  const auto around = declaration_at(of, offset);
  const auto f = function_at(of, offset);
  const auto begin = f == no_index ? offset : of.all().functions[f].decl->where.begin;
  // A function ends where the next one of its model begins.
  auto end = around.end;
  for (const auto& other : of.all().functions)
    if (other.module == 0 && other.decl->where.begin > offset)
      end = std::min(end, other.decl->where.begin);
  const auto m = model_at(of, offset);
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
        if (one.declared.begin >= begin && one.declared.begin < end) out.push_back(&one);
        break;
      case name_kind::axis: {
        const bool own = one.declared.begin >= begin && one.declared.begin < end;
        // A model's sizes stand in its header.
        const bool of_model = m != no_index && one.owner == m && one.declared.begin < begin
                              && one.declared.begin >= around.begin;
        if (own || of_model) out.push_back(&one);
        break;
      }
      default:
        out.push_back(&one);
    }
  }
  return out;
}

} // namespace shapescript::lsp
