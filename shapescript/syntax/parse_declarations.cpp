#include "shapescript/syntax/parser.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/nearest.hpp"

namespace shapescript {

void parser::declaration() {
  if (accept(token_kind::newline) || accept(token_kind::dedent)) return;
  if (peek() == token_kind::kw_fn) return function(false, nullptr);
  if (peek() == token_kind::name) {
    const auto first = word();
    if (first == "devices" && peek(1) != token_kind::open_paren) return devices();
    if (first == "dim" && peek(1) != token_kind::open_paren) return dim();
    if (first == "data" && peek(1) != token_kind::open_paren) return data();
    if (first == "model" && peek(1) != token_kind::open_paren) return model();
    if (first == "extern") return function(true, nullptr);
    if (first == "import") return import();
  }
  const auto seen = word();
  const bool states = begins_statement();
  const bool returns = peek() == token_kind::kw_return;
  const auto reports = out_.diagnostics.size();
  unexpected("a declaration");
  if (out_.diagnostics.size() == reports || !out_.diagnostics.back().help.empty()) return;
  if (states) {
    out_.diagnostics.back().help.push_back(
      returns ? "`return` belongs into a function: indent it as far as the body above"
              : "statements stand in functions: what the program does goes into `fn main():`");
    return;
  }
  static constexpr std::string_view words[] = {"fn",   "dim",    "devices", "model",
                                               "data", "extern", "import"};
  const auto meant = moxzi::nearest(seen, words);
  if (seen.empty() || !meant) return;
  auto& d = out_.diagnostics.back();
  d.help.push_back(fmt::format("did you mean `{}`?", *meant));
  d.fixes.push_back({d.primary().where, std::string{*meant}});
}

void parser::devices() {
  devices_decl node;
  node.where = here().where;
  ++at_;
  node.kind = expect(token_kind::name, "a kind of device");
  if (peek() == token_kind::open_bracket) {
    node.list = here().where;
    ++at_;
    while (peek() == token_kind::integer) {
      node.indices.push_back(here().where);
      ++at_;
    }
    if (node.indices.empty())
      unexpected("a device number");
    else
      expect(token_kind::close_bracket, "a device number or `]`");
    node.list.end = previous().end;
  }
  node.where.end = previous().end;
  end_of_line("the end of the line");
  if (failed_) return;
  if (accept(token_kind::indent)) {
    while (peek() != token_kind::dedent && peek() != token_kind::end) {
      const auto first = at_;
      auto one = option();
      if (failed_) {
        // What follows are no options either: a declaration that is too far to the right, or what
        // was under one whose head is gone.
        out_.nameless |= !begins_declaration_at(first);
        skip_block();
        continue;
      }
      if (!one.well_formed)
        out_.skipped.push_back({tokens_[first].where.begin, here().where.begin});
      node.options.push_back(std::move(one));
    }
    close_block();
  }
  out_.program.order.push_back({decl_kind::devices, uint32_t(out_.program.devices.size())});
  out_.program.devices.push_back(std::move(node));
}

devices_option parser::option() {
  devices_option one;
  one.where = here().where;
  const auto known = is_word("split") || is_word("shard");
  const auto next = peek(1);
  const bool takes_words = next == token_kind::name || next == token_kind::integer
                           || next == token_kind::string || next == token_kind::newline;
  if (begins_declaration() || (!known && !takes_words)) unexpected("an option");
  one.word = expect(token_kind::name, "an option");
  while (peek() == token_kind::name) {
    one.names.push_back(here().where);
    ++at_;
  }
  const auto first = text_.text(one.word);
  // What a strange option takes is not known.
  if (first != "split" && first != "shard")
    while (peek() != token_kind::newline && peek() != token_kind::bad) ++at_;
  if (first == "split" && one.names.empty()) unexpected("the name of a dim");
  one.well_formed =
    first == "split"
    || (first == "shard" && one.names.size() == 1 && text_.text(one.names[0]) == "params");
  one.where.end = previous().end;
  end_of_line("the end of the line");
  return one;
}

void parser::dim() {
  dim_decl node;
  node.where = here().where;
  ++at_;
  node.name = expect(token_kind::name);
  if (failed_) {
    out_.nameless = true;
    return;
  }
  expect(token_kind::assign);
  node.value = dim_sum();
  node.where.end = previous().end;
  end_of_line("an operator or the end of the line");
  // A name that was read counts as declared, so that its uses are no further mistakes.
  if (failed_) node.value = dim_id::none;
  out_.program.order.push_back({decl_kind::dim, uint32_t(out_.program.dim_decls.size())});
  out_.program.dim_decls.push_back(node);
}

void parser::data() {
  data_decl node;
  node.where = here().where;
  ++at_;
  node.name = expect(token_kind::name);
  if (failed_) {
    out_.nameless = true;
    return;
  }
  node.where.end = previous().end;
  if (open_block("this `data`")) {
    while (peek() != token_kind::dedent && peek() != token_kind::end) field(node);
    close_block();
  } else {
    node.broken = true;
    while (peek() == token_kind::name && peek(1) == token_kind::colon) field(node);
  }
  out_.program.order.push_back({decl_kind::data, uint32_t(out_.program.data.size())});
  out_.program.data.push_back(std::move(node));
}

void parser::field(data_decl& owner) {
  data_field one;
  const bool misplaced = here().misplaced;
  const bool states = peek() != token_kind::name;
  one.name = expect(token_kind::name, "the name of a field");
  const bool named = !failed_;
  expect(token_kind::colon);
  one.type = failed_ ? type_id::none : type();
  if (!failed_) end_of_line("the end of the line");
  if (failed_) one.type = type_id::none;
  if (named) owner.fields.push_back(one);
  owner.broken |= !named || misplaced;
  out_.nameless |=
    failed_ && states && !is_kind(at_, token_kind::colon); // a statement of a function
  quiet_ = failed_;
  if (failed_) recover();
  if (peek() == token_kind::dedent) quiet_ = false;
}

void parser::model() {
  model_decl node;
  node.where = here().where;
  ++at_;
  node.name = expect(token_kind::name);
  if (failed_) {
    out_.nameless = true;
    return;
  }
  node.where.end = previous().end;
  if (accept(token_kind::open_bracket)) {
    while (peek() == token_kind::name) {
      node.dims.push_back(here().where);
      ++at_;
    }
    expect(token_kind::close_bracket, "the name of a dim or `]`");
    if (failed_) return;
  }
  if (open_block("this `model`")) {
    while (peek() != token_kind::dedent && peek() != token_kind::end) members(node);
    close_block();
  } else if (failed_) {
    return;
  } else {
    node.broken = true;
    while (begins_member() && peek() == token_kind::name) members(node);
  }
  out_.program.order.push_back({decl_kind::model, uint32_t(out_.program.models.size())});
  out_.program.models.push_back(std::move(node));
}

// A member, or a run of lines that are none.
void parser::members(model_decl& owner) {
  owner.broken |= here().misplaced;
  const bool states = begins_statement();
  const bool known = begins_member() || is_word("param") || is_word("buffer") || is_word("layer");
  member(owner);
  if (!failed_) return;
  if (known) return recover();
  owner.broken = true;
  out_.nameless |= states; // the head of a function was here
  recover_run(true);
}

void parser::member(model_decl& owner) {
  if (accept(token_kind::kw_pass)) return end_of_line("the end of the line");
  if (peek() == token_kind::kw_fn) return function(false, &owner);
  if (is_word("layer")) return layer(owner);
  if (!is_word("param") && !is_word("buffer")) {
    const auto seen = word();
    const bool states = begins_statement();
    const auto reports = out_.diagnostics.size();
    unexpected("`param`, `buffer`, `layer` or `fn`");
    if (out_.diagnostics.size() == reports || !out_.diagnostics.back().help.empty()) return;
    static constexpr std::string_view words[] = {"param", "buffer", "layer", "fn"};
    if (states) return help("statements stand in methods: `fn NAME(self):` begins one");
    const auto meant = moxzi::nearest(seen, words);
    if (seen.empty() || !meant) return;
    help(fmt::format("did you mean `{}`?", *meant));
    mend(out_.diagnostics.back().primary().where, std::string{*meant});
    return;
  }
  model_member one;
  one.kind = is_word("param") ? member_kind::param : member_kind::buffer;
  ++at_;
  one.name = expect(token_kind::name);
  if (failed_) {
    owner.broken = true;
    return;
  }
  expect(token_kind::colon);
  one.type = failed_ ? type_id::none : type();
  if (accept(token_kind::assign)) one.initial = expression();
  end_of_line("`=` or the end of the line");
  one.broken = failed_;
  if (failed_) one.initial = expr_id::none;
  owner.members.push_back(one);
}

void parser::layer(model_decl& owner) {
  model_member one;
  one.kind = member_kind::layer;
  ++at_;
  one.name = expect(token_kind::name);
  if (failed_) {
    owner.broken = true;
    return;
  }
  expect(token_kind::colon);
  const bool counted = peek() == token_kind::integer || peek() == token_kind::open_paren
                       || (peek() == token_kind::name && peek(1) == token_kind::times);
  if (counted) {
    one.count = dim_atom();
    expect(token_kind::times);
  }
  one.type = failed_ ? type_id::none : type();
  end_of_line("the end of the line");
  one.broken = failed_;
  if (failed_) one.type = type_id::none;
  owner.members.push_back(one);
}

void parser::import() {
  import_decl node;
  node.where = here().where;
  ++at_;
  if (is_word("python") && peek(1) == token_kind::name) {
    node.python = true;
    ++at_;
  }
  if (is_word("python") && peek(1) == token_kind::newline) ++at_; // the module is missing
  do {
    node.path.push_back(expect(token_kind::name, "the name of a module"));
  } while (accept(token_kind::dot));
  node.name = node.path.back();
  if (accept(token_kind::kw_as)) node.name = expect(token_kind::name);
  node.where.end = previous().end;
  end_of_line("`.`, `as` or the end of the line");
  if (failed_) return;
  out_.program.order.push_back({decl_kind::import, uint32_t(out_.program.imports.size())});
  out_.program.imports.push_back(std::move(node));
}

void parser::function(bool is_extern, model_decl* owner) {
  const auto begin = here().where;
  if (is_extern) ++at_;
  auto node = signature(is_extern);
  node.where = {begin.begin, previous().end};
  if (is_extern && !failed_) {
    expect(token_kind::assign);
    node.python = expect(token_kind::string);
    end_of_line("the end of the line");
  }
  if (failed_) {
    (owner != nullptr ? owner->broken : out_.nameless) |= owner != nullptr || node.name == span{};
    return;
  }
  // The function is in the tree before its body is read: statements name no functions.
  if (!is_extern && open_block(fmt::format("`{}`", text_.text(node.name)))) {
    node.body = statements();
    close_block();
  } else if (!is_extern && !failed_) {
    node.body = statements_not_indented();
    node.broken = node.body.empty();
  }
  node.broken |= failed_;
  const auto place = uint32_t(out_.program.functions.size());
  if (owner != nullptr)
    owner->methods.push_back(place);
  else
    out_.program.order.push_back({decl_kind::function, place});
  out_.program.functions.push_back(std::move(node));
}

function_decl parser::signature(bool is_extern) {
  function_decl node;
  node.is_extern = is_extern;
  expect(token_kind::kw_fn);
  const auto name = expect(token_kind::name, "the name of a function");
  if (!failed_) node.name = name;
  expect(token_kind::open_paren);
  if (failed_) node.name = {}; // `fn gx: [n])` is most likely not called `gx`
  while (!failed_ && !accept(token_kind::close_paren)) {
    node.parameters.push_back(one_parameter());
    if (peek() != token_kind::close_paren) expect(token_kind::comma, "`,` or `)`");
  }
  if (!accept(token_kind::arrow)) return node;
  if (accept(token_kind::open_paren)) {
    do {
      node.results.push_back(type());
    } while (accept(token_kind::comma) && peek() != token_kind::close_paren);
    expect(token_kind::close_paren, "`,` or `)`");
    node.tuple_result = node.results.size() > 1;
  } else {
    node.results.push_back(type());
  }
  return node;
}

parameter parser::one_parameter() {
  parameter one;
  one.where = here().where;
  if (accept(token_kind::kw_mut)) one.mut = previous();
  one.name = expect(token_kind::name, "the name of a parameter");
  if (!failed_ && text_.text(one.name) == "self" && peek() != token_kind::colon) return one;
  expect(token_kind::colon);
  if (failed_) return one;
  one.type = type();
  if (accept(token_kind::assign)) one.initial = expression();
  one.where.end = previous().end;
  return one;
}

} // namespace shapescript
