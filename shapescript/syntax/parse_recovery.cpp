#include "shapescript/syntax/parser.hpp"

#include <algorithm>

namespace shapescript {

namespace {

bool ends_line(token_kind kind) {
  return kind == token_kind::newline || kind == token_kind::indent || kind == token_kind::dedent;
}

} // namespace

void parser::recover() {
  failed_ = false;
  const auto begin = tokens_[line_of(at_)].where.begin;
  skip_statement();
  out_.skipped.push_back({begin, here().where.begin});
}

void parser::recover_run(bool in_model) {
  recover();
  while (peek() != token_kind::dedent && peek() != token_kind::end
         && !(in_model ? begins_member() : begins_declaration())) {
    const auto before = at_;
    recover();
    if (at_ == before) ++at_;
  }
}

// Where the logical line of a token begins.
size_t parser::line_of(size_t at) const {
  at = std::min(at, tokens_.size() - 1);
  while (at > 0 && !ends_line(tokens_[at - 1].kind)) --at;
  return at;
}

void parser::skip_statement() {
  // With a statement go its block and the branches that continue it.
  do {
    while (peek() != token_kind::newline && peek() != token_kind::end
           && peek() != token_kind::dedent && peek() != token_kind::indent)
      ++at_;
    accept(token_kind::newline);
    if (peek() != token_kind::indent) return;
    int open = 0;
    do {
      if (peek() == token_kind::indent) ++open;
      if (peek() == token_kind::dedent) --open;
      ++at_;
    } while (open > 0 && peek() != token_kind::end);
  } while (peek() == token_kind::kw_elif || peek() == token_kind::kw_else);
}

bool parser::begins_declaration() const {
  return begins_declaration_at(at_);
}

bool parser::begins_declaration_at(size_t at) const {
  if (at + 1 >= tokens_.size()) return false;
  if (tokens_[at].kind == token_kind::kw_fn) return true;
  if (tokens_[at].kind != token_kind::name) return false;
  const auto first = text_.text(tokens_[at].where);
  const bool declares = first == "dim" || first == "model" || first == "data" || first == "devices"
                        || first == "extern" || first == "import";
  const auto next = tokens_[at + 1].kind;
  return declares && (next == token_kind::name || next == token_kind::kw_fn);
}

bool parser::begins_member() const {
  if (peek() == token_kind::kw_fn || peek() == token_kind::kw_pass) return true;
  const auto first = word();
  return (first == "param" || first == "buffer" || first == "layer")
         && (peek(1) == token_kind::name || peek(1) == token_kind::colon);
}

// Whether what stands at the start of a line looks like a statement of a function.
bool parser::begins_statement() const {
  switch (peek()) {
    case token_kind::kw_return:
    case token_kind::kw_for:
    case token_kind::kw_while:
    case token_kind::kw_if:
    case token_kind::kw_break:
    case token_kind::kw_continue:
    case token_kind::kw_pass:
      return true;
    case token_kind::name:
      break;
    default:
      return false;
  }
  switch (peek(1)) {
    case token_kind::assign:
    case token_kind::plus_assign:
    case token_kind::minus_assign:
    case token_kind::times_assign:
    case token_kind::divide_assign:
    case token_kind::comma:
    case token_kind::open_paren:
    case token_kind::dot:
    case token_kind::pipe:
    case token_kind::open_bracket:
      return true;
    default:
      return false;
  }
}

bool parser::takes_self() const {
  const auto name = peek(3) == token_kind::kw_mut ? 4 : 3;
  return peek() == token_kind::kw_fn && peek(2) == token_kind::open_paren && is_word("self", name);
}

void parser::doubt_last_block() {
  if (peek() == token_kind::newline || peek() == token_kind::dedent || out_.program.order.empty())
    return;
  const auto [kind, index] = out_.program.order.back();
  if (kind == decl_kind::model) out_.program.models[index].broken = true;
  if (kind == decl_kind::data) out_.program.data[index].broken = true;
}

void parser::drop_consequences() {
  auto& all = out_.diagnostics;
  sort_by_place(all);
  // A line that could not be read leaves the depth of the next one unexplained.
  const auto line_number = [&](const diagnostic& d) {
    return text_.position_of(d.primary().where.begin).line;
  };
  const auto next_line = [&](uint32_t begin) {
    const auto place =
      std::lower_bound(tokens_.begin(), tokens_.end(), begin,
                       [](const token& x, uint32_t at) { return x.where.begin < at; });
    auto at = static_cast<size_t>(place - tokens_.begin());
    while (at + 1 < tokens_.size() && ends_line(tokens_[at].kind)
           && tokens_[at + 1].where.begin == begin)
      ++at;
    while (at < tokens_.size() && !ends_line(tokens_[at].kind)) ++at;
    while (at < tokens_.size() && ends_line(tokens_[at].kind)) ++at;
    return at < tokens_.size() ? text_.position_of(tokens_[at].where.begin).line : 0;
  };
  for (size_t i = 1; i < all.size();) {
    const auto& before = all[i - 1];
    const bool of_syntax = before.code == "E0110" || before.code == "E0111"
                           || before.code == "E0112" || before.code == "E0103";
    if (all[i].code == "E0103" && of_syntax
        && next_line(before.primary().where.begin) == line_number(all[i]))
      all.erase(all.begin() + static_cast<ptrdiff_t>(i));
    else
      ++i;
  }
  for (size_t i = 0; i < tokens_.size(); ++i) {
    if (!tokens_[i].misplaced) continue;
    const auto begin = tokens_[i].where.begin;
    while (i + 1 < tokens_.size() && tokens_[i + 1].misplaced) ++i;
    out_.misplaced.push_back({begin, tokens_[i].where.end});
    out_.skipped.push_back(out_.misplaced.back());
  }
}

} // namespace shapescript
