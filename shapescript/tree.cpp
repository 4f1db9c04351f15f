#include "shapescript/tree.hpp"

namespace shapescript {

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
