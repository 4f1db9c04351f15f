#include "shapescript/syntax/parser.hpp"

#include <algorithm>

namespace shapescript {

namespace {

template <class Id, class Node>
Id append(std::vector<Node>& nodes, Node node) {
  nodes.push_back(std::move(node));
  return static_cast<Id>(nodes.size() - 1);
}

} // namespace

type_id parser::type() {
  if (too_deep(++depth_, here().where)) {
    --depth_;
    return append<type_id>(out_.program.types, type_expr{});
  }
  type_id result;
  if (peek() == token_kind::open_bracket) {
    result = tensor_type();
  } else if (peek() == token_kind::kw_fn) {
    result = function_type();
  } else if (peek() == token_kind::name) {
    result = named_type();
  } else {
    unexpected("a type");
    result = append<type_id>(out_.program.types, type_expr{});
  }
  // Half a type is none: nothing is concluded from it.
  if (failed_) out_.program.types[static_cast<uint32_t>(result)] = {};
  --depth_;
  return result;
}

type_id parser::tensor_type() {
  type_expr node;
  node.kind = type_expr::tensor;
  node.where = expect(token_kind::open_bracket);
  node.axes = dims_until_bracket();
  for (int i = 0; i < 2 && peek() == token_kind::name; ++i) node.elements.push_back(element());
  node.where.end = previous().end;
  return append<type_id>(out_.program.types, std::move(node));
}

element_name parser::element() {
  element_name result;
  const auto begin = here().where.begin;
  result.name = expect(token_kind::name);
  if (accept(token_kind::dot)) {
    result.file = result.name;
    result.name = expect(token_kind::name);
  }
  if (accept(token_kind::open_bracket)) {
    result.brackets = previous();
    result.dims = dims_until_bracket();
    result.brackets.end = previous().end;
  }
  result.where = {begin, previous().end};
  return result;
}

std::vector<dim_id> parser::dims_until_bracket() {
  std::vector<dim_id> dims;
  while (!failed_ && peek() != token_kind::close_bracket) {
    if (peek() != token_kind::name && peek() != token_kind::integer
        && peek() != token_kind::open_paren) {
      unexpected("an axis or `]`");
      break;
    }
    dims.push_back(dim_sum());
  }
  accept(token_kind::close_bracket);
  return dims;
}

type_id parser::named_type() {
  type_expr node;
  node.kind = type_expr::named;
  const auto begin = here().where.begin;
  node.name = expect(token_kind::name);
  if (accept(token_kind::dot)) {
    node.file = node.name;
    node.name = expect(token_kind::name);
  }
  node.has_arguments = accept(token_kind::open_bracket);
  while (node.has_arguments && !failed_ && !accept(token_kind::close_bracket)) {
    type_argument one;
    const size_t after = peek(1) == token_kind::dot ? 3 : 1; // `lib.Mlp[64 4]`
    const bool is_type = peek() == token_kind::open_bracket || peek() == token_kind::kw_fn
                         || (peek() == token_kind::name && peek(after) == token_kind::open_bracket);
    if (is_type)
      one.type = type();
    else
      one.dim = dim_sum();
    node.arguments.push_back(one);
    accept(token_kind::comma);
  }
  node.where = {begin, previous().end};
  return append<type_id>(out_.program.types, std::move(node));
}

type_id parser::function_type() {
  type_expr node;
  node.kind = type_expr::function;
  node.where = expect(token_kind::kw_fn);
  expect(token_kind::open_paren);
  while (!failed_ && !accept(token_kind::close_paren)) {
    node.parameters.push_back(type());
    if (peek() != token_kind::close_paren) expect(token_kind::comma, "`,` or `)`");
  }
  expect(token_kind::arrow);
  node.result = type();
  node.where.end = previous().end;
  return append<type_id>(out_.program.types, std::move(node));
}

dim_id parser::dim_binary(dim_id left, token_kind operation, dim_id right) {
  auto& dims = out_.program.dims;
  const auto& l = out_.program.at(left);
  const auto& r = out_.program.at(right);
  dim_expr node;
  node.kind = dim_expr::binary;
  node.operation = operation;
  // Brackets around an operand are part of the whole, though not of the operand.
  const auto left_where = bracketed_.find(left), right_where = bracketed_.find(right);
  node.where = {left_where == bracketed_.end() ? l.where.begin : left_where->second.begin,
                right_where == bracketed_.end() ? r.where.end : right_where->second.end};
  node.left = left;
  node.right = right;
  node.depth = static_cast<uint16_t>(1 + std::max<int>(l.depth - 1, r.depth));
  if (too_deep(node.depth, node.where)) node = {};
  return append<dim_id>(dims, node);
}

dim_id parser::dim_sum() {
  auto left = dim_product();
  while (peek() == token_kind::plus || peek() == token_kind::minus) {
    const auto operation = here().kind;
    ++at_;
    left = dim_binary(left, operation, dim_product());
  }
  return left;
}

dim_id parser::dim_product() {
  auto left = dim_atom();
  while (peek() == token_kind::times || peek() == token_kind::divide) {
    const auto operation = here().kind;
    ++at_;
    left = dim_binary(left, operation, dim_atom());
  }
  return left;
}

dim_id parser::dim_atom() {
  dim_expr node;
  node.where = here().where;
  if (accept(token_kind::integer)) {
    node.kind = dim_expr::integer;
  } else if (accept(token_kind::name)) {
    node.kind = dim_expr::name;
    node.word = previous();
    if (accept(token_kind::dot)) {
      node.file = node.word;
      node.word = expect(token_kind::name);
      node.where.end = previous().end;
    }
  } else if (peek() == token_kind::open_paren && !too_deep(depth_ + 1, here().where)) {
    ++depth_;
    ++at_;
    const auto inner = dim_sum();
    expect(token_kind::close_paren);
    if (!failed_) bracketed_[inner] = {node.where.begin, previous().end};
    --depth_;
    return inner;
  } else {
    unexpected("a size");
  }
  return append<dim_id>(out_.program.dims, node);
}

} // namespace shapescript
