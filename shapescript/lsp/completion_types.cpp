#include <algorithm>

#include <fmt/format.h>

#include "shapescript/lsp/calls.hpp"
#include "shapescript/lsp/completion.hpp"
#include "shapescript/lsp/cursor.hpp"

namespace shapescript::lsp {

namespace {

// Where in its declaration a type stands.
enum class type_place : uint8_t { any, field, weight };

type_place place_of_type(const completion_place& at) {
  if (at.where.line.empty() || at.where.bracket) return type_place::any;
  const auto first = first_word(at.of, at.where.line.first);
  if (first == "param" || first == "buffer") return type_place::weight;
  const bool in_data = !at.where.headers.empty() && at.where.headers.size() == 1
                       && first_word(at.of, at.where.headers.front()) == "data";
  return in_data ? type_place::field : type_place::any;
}

void models(const completion_place& at, completion_items& out, int rank) {
  // A model does not contain itself.
  const auto own = model_at(at.of, at.offset);
  const auto* decl = own == no_index ? nullptr : at.of.all().models[own].decl;
  const bool before = std::exchange(out.mentioned, true);
  for (const auto* one : names_at(at.of, at.offset))
    if (one->kind == name_kind::model && (decl == nullptr || !(one->declared == decl->name)))
      out.name(*one, rank);
  out.word("BatchNorm", rank + 1, "BatchNorm[$1]");
  out.names({name_kind::file}, rank + 2);
  out.mentioned = before;
}

void records(completion_items& out, int rank) {
  out.names({name_kind::record}, rank);
  out.names({name_kind::file}, rank + 2);
}

void tensor(completion_items& out, int rank) {
  item one{"[ ]", item_kind::type, "[axes]", {}, {}, {}, {}};
  one.documentation = "A tensor of these axes, of f32 unless a dtype follows.";
  one.insert = "[]";
  one.snippet = "[$1]";
  out.add(std::move(one), rank);
}

void any_type(const completion_place& at, completion_items& out) {
  tensor(out, 0);
  if (place_of_type(at) != type_place::any) return;
  out.mentioned = true;
  out.names({name_kind::record, name_kind::model}, 1);
  out.mentioned = false;
  out.words({word_role::scalar, word_role::of_model, word_role::of_record, word_role::layer,
             word_role::generator},
            2);
  out.word("fn", 3, "fn($1) -> $2");
  out.names({name_kind::file}, 3);
}

} // namespace

void complete_type(const completion_place& at, completion_items& out) {
  switch (at.where.what) {
    case wanted::element:
      out.words({word_role::dtype, word_role::refinement}, 1);
      out.word("bool", 1);
      if (place_of_type(at) == type_place::any) records(out, 0);
      return;
    case wanted::refinement:
      out.words({word_role::refinement}, 0);
      return;
    case wanted::cast:
      out.words({word_role::dtype, word_role::refinement}, 0);
      out.words({word_role::scalar}, 1);
      tensor(out, 1);
      records(out, 2);
      return;
    case wanted::record:
      return records(out, 0);
    case wanted::model:
      return models(at, out, 0);
    case wanted::layer:
      models(at, out, 0);
      // A list has a number before it.
      if (at.of.file().program.tokens[at.where.line.end - 1].kind == token_kind::colon)
        out.names({name_kind::dim}, 3);
      return;
    default:
      return any_type(at, out);
  }
}

// -- sizes ---------------------------------------------------------------------

namespace {

// The dim that the line declares is no part of itself.
std::string_view declared_dim(const completion_place& at) {
  const auto& line = at.where.line;
  const auto& all = at.of.file().program.tokens;
  if (line.end - line.first < 2 || first_word(at.of, line.first) != "dim") return {};
  return at.of.at(all[line.first + 1].where);
}

// Whether axes of any size may stand there: in the types of a function, not in those of members.
bool takes_axes(const completion_place& at) {
  const auto first = first_word(at.of, at.where.line.first);
  const bool member = first == "param" || first == "buffer" || first == "layer";
  return !member && first != "dim" && place_of_type(at) != type_place::field;
}

void axis(std::string_view name, completion_items& out, int rank) {
  out.add({std::string{name}, item_kind::type, fmt::format("axis {}", name), {}, {}, {}, {}}, rank);
}

bool in_header(const completion_place& at) {
  const auto first = first_word(at.of, at.where.line.first);
  return !at.where.line.empty() && (first == "fn" || first == "extern");
}

// What the other functions of the file call their axes: one may be meant again.
void axes_of_others(const completion_place& at, completion_items& out) {
  for (const auto& one : at.of.all().names)
    if (one.module == 0 && one.kind == name_kind::axis
        && !(one.declared.begin <= at.offset && at.offset <= one.declared.end))
      axis(one.name, out, 2);
}

void split_dims(const completion_place& at, completion_items& out) {
  const auto& all = at.of.file().program.tokens;
  const auto count = static_cast<int64_t>(at.of.all().devices.count);
  for (const auto* one : names_at(at.of, at.offset)) {
    if (one->kind != name_kind::dim) continue;
    bool listed = false;
    for (auto i = at.where.line.first; i < at.where.line.end; ++i)
      listed |= at.of.at(all[i].where) == one->name;
    const auto value = one->what.value ? one->what.value->number() : std::nullopt;
    // What the devices do not divide is an error, so it comes last.
    if (!listed) out.name(*one, value && *value % count == 0 ? 0 : 1);
  }
}

// `zeros[n]` takes ints too.
void whole_numbers(const completion_place& at, completion_items& out) {
  for (const auto* one : names_at(at.of, at.offset)) {
    const bool variable = one->kind == name_kind::local || one->kind == name_kind::parameter;
    if (variable && is(one->what, base_type::integer)) out.name(*one, 2);
  }
}

} // namespace

void complete_size(const completion_place& at, completion_items& out) {
  if (at.where.what == wanted::split) return split_dims(at, out);
  const auto own = declared_dim(at);
  for (const auto where : at.where.axes) axis(at.of.at(where), out, 0);
  for (const auto* one : names_at(at.of, at.offset)) {
    const bool axis = one->kind == name_kind::axis;
    if (one->kind == name_kind::dim && one->name != own) out.name(*one, 1);
    if (axis && (takes_axes(at) || model_at(at.of, at.offset) != no_index)) out.name(*one, 0);
  }
  const auto& tokens = at.of.file().program.tokens;
  const bool after_result = at.where.bracket && tokens[*at.where.bracket].arrow_inside
                            && tokens[at.where.line.end - 1].kind == token_kind::comma;
  if (at.where.in_patterns && after_result) {
    if (const auto call = call_at(at.of, at.begin))
      for (const auto& signature : signatures_of(at.of, *call))
        for (const auto& one : signature.parameters)
          if (one.by_name) out.add({one.name + "=", item_kind::field, one.text, {}, {}, {}, {}}, 0);
    // Sizes that the call itself gives.
    for (const auto where : at.where.axes)
      out.add({std::string{at.of.at(where)} + "=",
               item_kind::field,
               "size of a new axis",
               {},
               {},
               {},
               {}},
              2);
  }
  if (at.where.what == wanted::pattern) return;
  if (at.where.bracket && function_at(at.of, at.offset) != no_index && !at.where.in_type) {
    const auto& all = at.of.file().program.tokens;
    const auto open = *at.where.bracket;
    const auto called = open == 0 ? callee{} : callee_at(at.of, open - 1);
    if (all[open].kind == token_kind::open_bracket && called.known != nullptr)
      whole_numbers(at, out);
  }
  if (in_header(at)) axes_of_others(at, out);
  out.names({name_kind::file}, 3);
}

} // namespace shapescript::lsp
