#include "shapescript/syntax/parser.hpp"

#include <utility>

#include <fmt/format.h>

namespace shapescript {

stmt_id parser::keep(stmt node) {
  out_.program.stmts.push_back(std::move(node));
  return static_cast<stmt_id>(out_.program.stmts.size() - 1);
}

// The statements up to the end of the block.
block parser::statements() {
  block result;
  if (too_deep(++depth_, here().where)) {
    --depth_;
    // Over the rest of the block that is too deep.
    int open = 1;
    failed_ = false;
    while (open > 0 && peek() != token_kind::end) {
      if (peek() == token_kind::indent) ++open;
      if (peek() == token_kind::dedent && --open == 0) break;
      ++at_;
    }
    return result;
  }
  // Lines that follow each other and cannot be read are one mistake.
  bool unread_before = false, returned = false;
  while (peek() != token_kind::dedent && peek() != token_kind::end) {
    const auto before = at_;
    quiet_ = unread_before;
    const bool declares =
      peek() != token_kind::kw_pass && (begins_declaration() || begins_member());
    const bool branch = peek() == token_kind::kw_elif || peek() == token_kind::kw_else;
    quiet_ |= branch && branch_lost_;
    branch_lost_ = false;
    const auto place = here().where.begin;
    result.push_back(statement());
    if (returned) out_.unreachable.push_back({place, here().where.begin});
    returned |= out_.program.stmts[static_cast<uint32_t>(result.back())].kind == stmt_kind::return_;
    unread_before = failed_;
    quiet_ = false;
    if (failed_) unread(result.back(), before);
    if (at_ == before) ++at_;
    // A declaration too far to the right, or one whose head is gone: what follows belongs to it.
    if (unread_before && (declares || is_head_without_block(before))) {
      out_.nameless |= !begins_declaration_at(before);
      skip_block();
    }
  }
  --depth_;
  return result;
}

// The body of a function that was not indented, up to what can't belong to it.
block parser::statements_not_indented() {
  block result;
  const auto belongs = [this] {
    switch (peek()) {
      case token_kind::kw_return:
      case token_kind::kw_for:
      case token_kind::kw_while:
      case token_kind::kw_if:
      case token_kind::kw_pass:
        return true;
      case token_kind::name:
        return peek(1) == token_kind::assign || peek(1) == token_kind::comma
               || peek(1) == token_kind::open_paren || peek(1) == token_kind::dot;
      default:
        return false;
    }
  };
  while (belongs()) {
    const auto before = at_;
    result.push_back(statement());
    if (failed_) unread(result.back(), before);
  }
  return result;
}

// A statement that could not be read: what is left is what it would have assigned.
void parser::unread(stmt_id id, size_t first) {
  recover();
  auto& node = out_.program.stmts[static_cast<uint32_t>(id)];
  node.kind = stmt_kind::error;
  node.names = assigned_since(first);
  // It assigns something, but the name is gone.
  int open = 0;
  for (auto i = first; i < at_ && node.names.empty(); ++i) {
    const auto kind = tokens_[i].kind;
    if (kind == token_kind::open_paren || kind == token_kind::open_bracket) ++open;
    if (kind == token_kind::close_paren || kind == token_kind::close_bracket) --open;
    if (kind == token_kind::newline) break;
    node.nameless |= kind == token_kind::assign && open == 0;
  }
}

// Whether the line ends in a colon, but no block follows.
bool parser::is_head_without_block(size_t first) const {
  auto at = first;
  while (at < tokens_.size() && tokens_[at].kind != token_kind::newline
         && tokens_[at].kind != token_kind::end)
    ++at;
  return at > first && tokens_[at - 1].kind == token_kind::colon && at + 1 < tokens_.size()
         && tokens_[at + 1].kind != token_kind::indent;
}

// Over what is left of the block.
void parser::skip_block() {
  failed_ = false;
  while (peek() != token_kind::dedent && peek() != token_kind::end) {
    const auto before = at_;
    recover();
    if (at_ == before) ++at_;
  }
}

std::vector<span> parser::assigned_since(size_t first) const {
  std::vector<span> names;
  bool line_begins = true;
  for (auto i = first; i < at_; ++i) {
    const auto kind = tokens_[i].kind;
    auto end = i;
    while (line_begins && tokens_[end].kind == token_kind::name
           && tokens_[end + 1].kind == token_kind::comma)
      end += 2;
    const auto next = tokens_[std::min(end + 1, tokens_.size() - 1)].kind;
    const bool assigns = next == token_kind::assign || next == token_kind::plus_assign
                         || next == token_kind::minus_assign || next == token_kind::times_assign
                         || next == token_kind::divide_assign || next == token_kind::colon;
    if (line_begins && tokens_[end].kind == token_kind::name && assigns)
      for (auto k = i; k <= end; k += 2) names.push_back(tokens_[k].where);
    line_begins =
      kind == token_kind::newline || kind == token_kind::indent || kind == token_kind::dedent;
  }
  return names;
}

stmt_id parser::statement() {
  switch (peek()) {
    case token_kind::kw_for:
      return keep(for_loop());
    case token_kind::kw_while:
      return keep(while_loop());
    case token_kind::kw_if:
      return keep(if_chain());
    default:
      break;
  }
  auto node = simple();
  if (!failed_) end_of_line("an operator or the end of the line");
  return keep(std::move(node));
}

stmt parser::simple() {
  stmt node;
  node.where = here().where;
  if (accept(token_kind::kw_return)) {
    node.kind = stmt_kind::return_;
    if (peek() != token_kind::newline) node.values = expressions();
  } else if (accept(token_kind::kw_break)) {
    node.kind = stmt_kind::break_;
  } else if (accept(token_kind::kw_continue)) {
    node.kind = stmt_kind::continue_;
  } else if (accept(token_kind::kw_pass)) {
    node.kind = stmt_kind::pass;
  } else {
    return assignment_or_expression();
  }
  return node;
}

stmt parser::assignment_or_expression() {
  stmt node;
  node.where = here().where;
  node.kind = stmt_kind::assign;
  node.operation = token_kind::assign;
  if (peek() == token_kind::name && peek(1) == token_kind::colon) {
    node.targets.push_back(atom());
    ++at_;
    node.type = type();
    expect(token_kind::assign);
    node.values = expressions();
    node.where.end = previous().end;
    return node;
  }
  node.targets = expressions();
  switch (peek()) {
    case token_kind::assign:
    case token_kind::plus_assign:
    case token_kind::minus_assign:
    case token_kind::times_assign:
    case token_kind::divide_assign:
      break;
    default:
      node.kind = stmt_kind::expression;
      node.values = std::exchange(node.targets, {});
      node.where.end = previous().end;
      if (!failed_ && node.values.size() > 1) unexpected("`=` after several names");
      return node;
  }
  for (const auto target : node.targets) {
    auto id = target;
    while (out_.program.at(id).kind == expr_kind::member) id = out_.program.at(id).left;
    const auto& root = out_.program.at(id);
    const bool bare = root.kind == expr_kind::name && root.where == root.name
                      && out_.program.at(target).where.begin == root.where.begin;
    if (!bare) {
      fail("E0114", out_.program.at(target).where, "only a name or a field can be assigned to",
           "neither a name nor a field");
      return node;
    }
  }
  node.operation = here().kind;
  node.name = here().where;
  ++at_;
  node.values = expressions();
  node.where.end = previous().end;
  return node;
}

block parser::block_of(std::string_view owner) {
  block body;
  if (!failed_ && open_block(owner)) {
    body = statements();
    close_block();
  }
  return body;
}

stmt parser::for_loop() {
  stmt node;
  node.kind = stmt_kind::for_;
  node.where = expect(token_kind::kw_for);
  do {
    node.names.push_back(expect(token_kind::name));
  } while (accept(token_kind::comma));
  expect(token_kind::kw_in, "`,` or `in`");
  node.values.push_back(expression());
  node.body = block_of("this `for`");
  return node;
}

stmt parser::while_loop() {
  stmt node;
  node.kind = stmt_kind::while_;
  node.where = expect(token_kind::kw_while);
  branch one;
  one.condition = expression();
  one.body = block_of("this `while`");
  node.branches.push_back(std::move(one));
  return node;
}

stmt parser::if_chain() {
  stmt node;
  node.kind = stmt_kind::if_;
  node.where = expect(token_kind::kw_if);
  do {
    branch one;
    one.condition = expression();
    one.body = block_of(node.branches.empty() ? "this `if`" : "this `elif`");
    branch_lost_ = one.body.empty();
    node.branches.push_back(std::move(one));
  } while (accept(token_kind::kw_elif));
  if (accept(token_kind::kw_else)) {
    node.has_else = true;
    node.body = block_of("this `else`");
  }
  return node;
}

} // namespace shapescript
