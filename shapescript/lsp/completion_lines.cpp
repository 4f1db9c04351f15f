#include <algorithm>

#include <fmt/format.h>

#include "shapescript/lsp/completion.hpp"

namespace shapescript::lsp {

namespace {

// What stands in a folder with this ending, without it.
std::vector<std::string> files_in(const view& of, const std::string& folder,
                                  std::string_view ending) {
  std::vector<std::string> out;
  if (of.around == nullptr || !of.around->list_folder) return out;
  for (auto& name : of.around->list_folder(folder)) {
    if (!name.ends_with(ending) || name.size() == ending.size()) continue;
    name.resize(name.size() - ending.size());
    const bool word = std::all_of(name.begin(), name.end(), [](char c) {
      return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    });
    if (word) out.push_back(std::move(name));
  }
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace

void complete_import(const completion_place& at, completion_items& out) {
  const auto& all = at.of.file().program.tokens;
  const bool python = at.where.what == wanted::module;
  auto folder = path_of(at.of.uri);
  const auto slash = folder.rfind('/');
  const auto own = folder.substr(slash == folder.npos ? 0 : slash + 1);
  folder.resize(slash == folder.npos ? 0 : slash);
  // `import models.small`: a folder beside the file.
  for (auto i = at.where.line.first + (python ? 2 : 1); i + 1 < at.where.line.end; i += 2)
    if (all[i + 1].kind == token_kind::dot) folder += fmt::format("/{}", at.of.at(all[i].where));
  const std::string_view ending = python ? ".py" : ".ss";
  for (const auto& name : files_in(at.of, folder, ending)) {
    if (!at.where.after_dot && !python
        && (name + ".ss" == own || at.of.file().names.contains(name)))
      continue;
    out.add({name, item_kind::module, name + std::string{ending}, {}, {}, {}, {}}, 0);
  }
  if (!python && !at.where.after_dot) out.word("python", 1);
}

namespace {

void declarations(const completion_place& at, completion_items& out) {
  out.word("fn", 0, "fn ${1:name}($2) -> ${3:[]}:\n    $0");
  out.word("dim", 0, "dim ${1:NAME} = $0");
  out.word("model", 0, "model ${1:Name}:\n    param ${2:w}: [$3] = ${4:normal(std=0.02)}$0");
  out.word("data", 0, "data ${1:Name}:\n    ${2:field}: [$3]$0");
  out.word("extern", 0,
           "extern fn ${1:name}(${2:x}: [b $3]) -> [b $4] = \"${5:module.function}\"$0");
  out.word("import", 0);
  if (at.of.program().devices.empty()) out.word("devices", 0);
}

void members(completion_items& out) {
  out.word("param", 0, "param ${1:w}: [$2] = ${3:normal(std=0.02)}$0");
  out.word("buffer", 0, "buffer ${1:state}: [$2] = ${3:zeros()}$0");
  out.word("layer", 0, "layer ${1:name}: $0");
  out.word("fn", 0, "fn ${1:forward}(self, ${2:x}: [b $3]) -> [b $4]:\n    $0");
  out.word("pass", 1);
}

void options(const completion_place& at, completion_items& out) {
  bool sharded = false;
  for (const auto& line : at.of.program().devices)
    for (const auto& one : line.options)
      sharded |= at.of.at(one.word) == "shard" && one.where.begin != at.begin;
  if (!sharded) {
    item one{"shard params", item_kind::keyword, {}, {}, {}, {}, "word:shard"};
    out.add(std::move(one), 0);
  }
  out.word("split", 0);
}

void statements(const completion_place& at, completion_items& out) {
  bool in_loop = false;
  for (const auto first : at.where.headers) {
    const auto word = first_word(at.of, first);
    if (word == "fn") break;
    in_loop |= word == "for" || word == "while";
  }
  out.word("return", 4);
  out.word("for", 4, "for ${1:x} in $2:\n    $0");
  out.word("if", 4, "if $1:\n    $0");
  out.word("while", 4, "while $1:\n    $0");
  out.word("pass", 5);
  if (in_loop) {
    out.word("break", 4);
    out.word("continue", 4);
  }
  const auto above = line_above(at.of, at.begin);
  const auto word = above ? first_word(at.of, *above) : std::string_view{};
  if (word == "if" || word == "elif") {
    out.word("elif", 0, "elif $1:\n    $0");
    out.word("else", 0, "else:\n    $0");
  }
  complete_value(at, out);
}

// Whether a parameter would be a method's first.
bool is_first_of_method(const completion_place& at) {
  const auto& all = at.of.file().program.tokens;
  const bool in_model =
    !at.where.headers.empty() && first_word(at.of, at.where.headers.front()) == "model";
  if (!in_model || at.where.line.empty()) return false;
  const auto last = all[at.where.line.end - 1].kind;
  const bool mut = last == token_kind::kw_mut && at.where.line.end >= 2
                   && all[at.where.line.end - 2].kind == token_kind::open_paren;
  return last == token_kind::open_paren || mut;
}

void parameters(const completion_place& at, completion_items& out) {
  const auto& all = at.of.file().program.tokens;
  const bool mut = all[at.where.line.end - 1].kind == token_kind::kw_mut;
  if (is_first_of_method(at)) {
    item one{"self", item_kind::variable, "the model itself", {}, {}, {}, {}};
    out.add(std::move(one), 0);
  }
  if (!mut) out.word("mut", 1);
  // What other functions take, this one may take too.
  const auto line = at.of.at({all[at.where.line.first].where.begin, at.begin});
  for (const auto& f : at.of.all().functions) {
    if (f.module != 0 || f.decl->where.begin == all[at.where.line.first].where.begin) continue;
    for (const auto& one : f.decl->parameters) {
      if (one.type == type_id::none || one.initial != expr_id::none) continue;
      const auto end = at.of.program().at(one.type).where.end;
      const auto text = at.of.at({one.name.begin, end});
      if (line.find(std::string{at.of.at(one.name)} + ":") != std::string_view::npos) continue;
      out.add({std::string{text}, item_kind::variable, {}, {}, {}, {}, {}}, 2);
    }
  }
}

} // namespace

void complete_line(const completion_place& at, completion_items& out) {
  switch (at.where.what) {
    case wanted::declaration:
      return declarations(at, out);
    case wanted::member:
      return members(out);
    case wanted::option:
      return options(at, out);
    case wanted::statement:
      return statements(at, out);
    case wanted::device:
      out.word("cpu", 0);
      out.word("cuda", 0, "cuda[${1:0}]");
      out.word("mps", 0);
      return;
    case wanted::share:
      return out.word("params", 0);
    case wanted::imported:
      return out.word("as", 0);
    case wanted::fn:
      return out.word("fn", 0);
    case wanted::parameter:
      return parameters(at, out);
    default:
      return;
  }
}

} // namespace shapescript::lsp
