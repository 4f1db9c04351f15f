#include "shapescript/syntax/tree.hpp"

namespace shapescript {

namespace {

// `Mlp` or `lib.Mlp`.
bool is_path(const tree& program, expr_id id) {
  const auto& node = program.at(id);
  return node.kind == expr_kind::name
         || (node.kind == expr_kind::member && program.at(node.left).kind == expr_kind::name);
}

// What is evaluated before the expression itself, if it may be long.
expr_id leftmost_in(const tree& program, const expr& node) {
  auto next = expr_id::none;
  switch (node.kind) {
    case expr_kind::member:
    case expr_kind::index:
    case expr_kind::binary:
    case expr_kind::pipe:
    case expr_kind::cast:
      next = node.left;
      break;
    case expr_kind::call: {
      const auto& callee = program.at(node.left);
      // A method's model; a model or constructor with sizes is no value of its own.
      if (callee.kind == expr_kind::member)
        next = callee.left;
      else if (callee.kind != expr_kind::index || !is_path(program, callee.left))
        next = node.left;
      break;
    }
    default:
      break;
  }
  if (next == expr_id::none) return next;
  const auto kind = program.at(next).kind;
  const bool leaf = kind < expr_kind::list || kind == expr_kind::error;
  return leaf ? expr_id::none : next;
}

} // namespace

std::vector<expr_id> left_chain(const tree& program, expr_id id) {
  std::vector<expr_id> chain;
  for (; id != expr_id::none; id = leftmost_in(program, program.at(id))) chain.push_back(id);
  return chain;
}

bool divides(const tree& program, expr_id id) {
  std::vector<expr_id> open{id};
  while (!open.empty()) {
    const auto& node = program.at(open.back());
    open.pop_back();
    if (node.kind != expr_kind::binary) continue;
    if (node.operation == token_kind::divide) return true;
    open.push_back(node.left);
    open.push_back(node.right);
  }
  return false;
}

} // namespace shapescript
