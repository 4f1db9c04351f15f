#include "shapescript/syntax/parser.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "shapescript/syntax/lexical.hpp"

namespace shapescript {

namespace {

// Binary operators by level, loose to tight.
constexpr int or_level = 0, and_level = 1, not_level = 2, compare_level = 3, sum_level = 4,
              product_level = 5;

bool at_level(token_kind kind, int level) {
  switch (level) {
    case or_level:
      return kind == token_kind::kw_or;
    case and_level:
      return kind == token_kind::kw_and;
    case compare_level:
      return is_comparison(kind);
    case sum_level:
      return kind == token_kind::plus || kind == token_kind::minus;
    case product_level:
      return kind == token_kind::times || kind == token_kind::divide || kind == token_kind::modulo
             || kind == token_kind::matmul;
    default:
      return false;
  }
}

} // namespace

expr_id parser::keep(expr node) {
  uint16_t below = 0;
  const auto& program = out_.program;
  const auto see = [&](expr_id id) {
    if (id != expr_id::none) below = std::max(below, program.at(id).depth);
  };
  see(node.right);
  for (const auto id : node.items) see(id);
  for (const auto& one : node.arguments) see(one.value);
  if (node.patterns != pattern_id::none)
    for (const auto id : program.at(node.patterns).operands) see(id);
  node.depth = static_cast<uint16_t>(below + 1);
  // The right of a pipe is no operand: it is called. What stands to the left is before it, not in
  // it.
  if (node.kind == expr_kind::pipe) node.depth = below;
  if (node.left != expr_id::none) node.depth = std::max(node.depth, program.at(node.left).depth);
  if (too_deep(node.depth, here().where)) node = expr{};
  out_.program.exprs.push_back(std::move(node));
  return static_cast<expr_id>(out_.program.exprs.size() - 1);
}

expr_id parser::join(expr_kind kind, token_kind operation, span name, expr_id left, expr_id right) {
  expr node;
  node.kind = kind;
  node.operation = operation;
  node.name = name;
  node.left = left;
  node.right = right;
  node.where = name;
  if (left != expr_id::none) node.where.begin = out_.program.at(left).where.begin;
  if (right != expr_id::none) node.where.end = out_.program.at(right).where.end;
  return keep(std::move(node));
}

std::vector<expr_id> parser::expressions() {
  std::vector<expr_id> result;
  do {
    result.push_back(expression());
  } while (accept(token_kind::comma));
  return result;
}

expr_id parser::expression() {
  if (too_deep(++depth_, here().where)) {
    --depth_;
    return keep(expr{});
  }
  auto left = range();
  while (accept(token_kind::pipe)) {
    const auto name = previous();
    left = join(expr_kind::pipe, token_kind::pipe, name, left, postfix());
  }
  --depth_;
  return left;
}

expr_id parser::range() {
  auto left = expr_id::none;
  if (peek() != token_kind::range) left = binary(or_level);
  if (!accept(token_kind::range)) return left;
  const auto name = previous();
  auto right = expr_id::none;
  switch (peek()) {
    case token_kind::close_bracket:
    case token_kind::close_paren:
    case token_kind::comma:
    case token_kind::colon:
    case token_kind::newline:
      break;
    default:
      right = binary(or_level);
  }
  return join(expr_kind::range, token_kind::range, name, left, right);
}

expr_id parser::binary(int level) {
  if (level > product_level) return cast();
  if (level == not_level) {
    if (peek() != token_kind::kw_not) return binary(level + 1);
    if (too_deep(++depth_, here().where)) {
      --depth_;
      return keep(expr{});
    }
    ++at_;
    const auto name = previous();
    const auto operand = binary(not_level);
    --depth_;
    return join(expr_kind::unary, token_kind::kw_not, name, expr_id::none, operand);
  }
  auto left = binary(level + 1);
  for (int count = 0; at_level(peek(), level); ++count) {
    const auto operation = here().kind;
    const auto name = here().where;
    if (level == compare_level && count > 0) {
      fail("E0113", name, "comparisons cannot be chained",
           fmt::format("a second comparison; join two with `and`"));
      const auto middle = out_.program.at(left).right;
      if (middle != expr_id::none && !out_.diagnostics.empty()
          && out_.diagnostics.back().primary().where == name) {
        const auto again = text_.text(out_.program.at(middle).where);
        help(fmt::format("write `and {} {}`", again, text_.text(name)));
        mend({name.begin, name.begin}, fmt::format("and {} ", again));
      }
      return left;
    }
    ++at_;
    left = join(expr_kind::binary, operation, name, left, binary(level + 1));
  }
  return left;
}

expr_id parser::cast() {
  auto left = unary();
  while (accept(token_kind::kw_as)) {
    expr node;
    node.kind = expr_kind::cast;
    node.name = previous();
    node.left = left;
    node.type = type();
    node.where = {out_.program.at(left).where.begin, previous().end};
    left = keep(std::move(node));
  }
  return left;
}

expr_id parser::unary() {
  if (peek() == token_kind::minus || peek() == token_kind::bang) {
    if (too_deep(++depth_, here().where)) {
      --depth_;
      return keep(expr{});
    }
    const auto operation = here().kind;
    const auto name = here().where;
    ++at_;
    const auto operand = unary();
    --depth_;
    return join(expr_kind::unary, operation, name, expr_id::none, operand);
  }
  const auto base = postfix();
  if (!accept(token_kind::power)) return base;
  const auto name = previous();
  if (too_deep(++depth_, name)) {
    --depth_;
    return base;
  }
  const auto exponent = unary();
  --depth_;
  return join(expr_kind::binary, token_kind::power, name, base, exponent);
}

expr_id parser::postfix() {
  auto left = atom();
  while (!failed_) {
    if (accept(token_kind::dot)) {
      expr node;
      node.kind = expr_kind::member;
      node.left = left;
      node.name = expect(token_kind::name, "the name of a field");
      node.where = {out_.program.at(left).where.begin, previous().end};
      left = keep(std::move(node));
    } else if (peek() == token_kind::open_paren) {
      left = call(left);
    } else if (peek() == token_kind::open_bracket) {
      // Of two lists next to each other the second may be an index, but not of such values.
      const auto value = peek(1);
      const bool no_index = value == token_kind::decimal || value == token_kind::open_bracket
                            || value == token_kind::minus;
      if (out_.program.at(left).kind == expr_kind::list && (in_list_ || no_index)) {
        comma_missing(in_list_ ? "the rows of a list are separated by commas"
                               : "two lists are separated by a comma");
        break;
      }
      left = index(left);
    } else {
      break;
    }
  }
  return left;
}

expr_id parser::number_or_text(expr_kind kind) {
  expr node;
  node.kind = kind;
  node.operation = here().kind;
  node.where = node.name = here().where;
  ++at_;
  return keep(std::move(node));
}

expr_id parser::atom() {
  switch (peek()) {
    case token_kind::name:
      return number_or_text(expr_kind::name);
    case token_kind::integer:
      return number_or_text(expr_kind::integer);
    case token_kind::decimal:
      return number_or_text(expr_kind::decimal);
    case token_kind::string:
      return number_or_text(expr_kind::string);
    case token_kind::kw_true:
    case token_kind::kw_false:
      return number_or_text(expr_kind::boolean);
    case token_kind::open_paren:
      return in_parens();
    case token_kind::open_bracket:
      return list();
    default:
      break;
  }
  unexpected("an expression");
  return keep(expr{});
}

expr_id parser::in_parens() {
  const auto open = here().where;
  ++at_;
  auto items = expressions();
  expect(token_kind::close_paren, "`,`, an operator or `)`");
  if (items.size() == 1) {
    out_.program.exprs[static_cast<uint32_t>(items.front())].where = {open.begin, previous().end};
    return items.front();
  }
  expr node;
  node.kind = expr_kind::tuple;
  node.where = {open.begin, previous().end};
  node.items = std::move(items);
  return keep(std::move(node));
}

expr_id parser::list() {
  expr node;
  node.kind = expr_kind::list;
  node.where = here().where;
  ++at_;
  const bool outer = std::exchange(in_list_, true);
  if (peek() != token_kind::close_bracket) node.items = expressions();
  expect(token_kind::close_bracket, "`,`, an operator or `]`");
  in_list_ = outer;
  node.where.end = previous().end;
  return keep(std::move(node));
}

argument parser::one_argument(bool may_mut) {
  argument one;
  one.where = here().where;
  if (may_mut && accept(token_kind::kw_mut)) one.mut = previous();
  if (peek() == token_kind::name && peek(1) == token_kind::assign) {
    one.name = here().where;
    at_ += 2;
  }
  one.value = expression();
  one.where.end = previous().end;
  return one;
}

expr_id parser::call(expr_id callee) {
  expr node;
  node.kind = expr_kind::call;
  node.left = callee;
  node.name = here().where;
  const bool with_patterns = here().arrow_inside;
  const bool outer = std::exchange(in_list_, false);
  ++at_;
  if (with_patterns) {
    const auto first = at_;
    auto written = patterns();
    const auto& called = out_.program.at(callee);
    static constexpr std::string_view one_pattern[] = {"rearrange", "split", "merge", "repeat",
                                                       "reduce"};
    const bool of_einsum =
      std::find(std::begin(one_pattern), std::end(one_pattern), text_.text(called.name))
      == std::end(one_pattern);
    const bool more = peek() == token_kind::comma && peek(1) != token_kind::close_paren
                      && peek(2) != token_kind::assign;
    if (more || (!of_einsum && written.sources.size() > 1)) commas_in_patterns(first, of_einsum);
    out_.program.patterns.push_back(std::move(written));
    node.patterns = static_cast<pattern_id>(out_.program.patterns.size() - 1);
    if (peek() != token_kind::close_paren) expect(token_kind::comma, "an axis, `,` or `)`");
  }
  while (!failed_ && peek() != token_kind::close_paren) {
    node.arguments.push_back(one_argument(true));
    if (peek() != token_kind::close_paren) expect(token_kind::comma, "`,`, an operator or `)`");
  }
  accept(token_kind::close_paren);
  in_list_ = outer;
  node.where = {out_.program.at(callee).where.begin, previous().end};
  return keep(std::move(node));
}

expr_id parser::index(expr_id base) {
  expr node;
  node.kind = expr_kind::index;
  node.left = base;
  node.name = here().where;
  ++at_;
  while (!failed_ && peek() != token_kind::close_bracket) {
    node.arguments.push_back(one_argument(false));
    const bool next_to = peek() == token_kind::name || peek() == token_kind::integer;
    if (next_to)
      node.axes = true;
    else if (peek() != token_kind::close_bracket)
      expect(token_kind::comma, "`,`, an operator or `]`");
  }
  const auto& indexed = out_.program.at(base);
  // `zeros[]` has no axes, as the type `[]`.
  const bool named = indexed.kind == expr_kind::name;
  if (!failed_ && node.arguments.empty() && !named) unexpected("an index");
  accept(token_kind::close_bracket);
  node.where = {out_.program.at(base).where.begin, previous().end};
  return keep(std::move(node));
}

pattern_call parser::patterns() {
  pattern_call written;
  written.where = here().where;
  // Operands and a colon come first, or the patterns at once.
  size_t colon = at_;
  for (int open = 0; colon < tokens_.size(); ++colon) {
    const auto kind = tokens_[colon].kind;
    if (kind == token_kind::open_paren || kind == token_kind::open_bracket) ++open;
    if (kind == token_kind::close_paren || kind == token_kind::close_bracket) --open;
    if (open == 0 && (kind == token_kind::colon || kind == token_kind::arrow)) break;
    if (open < 0) break;
  }
  if (colon < tokens_.size() && tokens_[colon].kind == token_kind::colon) {
    written.operands = expressions();
    expect(token_kind::colon, "`,` or `:`");
  }
  const auto begin = here().where.begin;
  do {
    written.sources.push_back(one_pattern());
  } while (accept(token_kind::comma));
  expect(token_kind::arrow, "an axis, `,` or `->`");
  written.result = one_pattern();
  written.where = {begin, previous().end};
  return written;
}

pattern parser::one_pattern() {
  pattern result;
  result.where = here().where;
  result.items = pattern_items(false);
  if (!result.items.empty())
    result.where = {result.items.front().where.begin, result.items.back().where.end};
  else
    result.where.end = result.where.begin;
  return result;
}

std::vector<pattern_item> parser::pattern_items(bool inner) {
  std::vector<pattern_item> items;
  while (true) {
    pattern_item one;
    one.where = here().where;
    if (accept(token_kind::name)) {
      one.kind = pattern_item::name;
    } else if (accept(token_kind::integer)) {
      one.kind = pattern_item::integer;
    } else if (!inner && accept(token_kind::ellipsis)) {
      one.kind = pattern_item::rest;
    } else if (!inner && accept(token_kind::open_paren)) {
      one.kind = pattern_item::group;
      one.inner = pattern_items(true);
      expect(token_kind::close_paren, "an axis or `)`");
      one.where.end = previous().end;
    } else {
      return items;
    }
    items.push_back(std::move(one));
  }
}

} // namespace shapescript
