#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "shapescript/check/builtins.hpp"
#include "shapescript/check/words.hpp"
#include "tests/shapescript/lsp_support.hpp"

namespace shapescript::testing {

using words = std::vector<std::string>;

// A program with one of everything; what is tested stands after it.
inline const std::string program =
  "dim D = 784\ndim C = 10\n\n"
  "model Mlp:\n    param w1: [D C] = normal(std=0.02)\n\n"
  "model Lin[A B]:\n    param w: [A B] = zeros()\n\n"
  "    fn forward(self, x: [b A]) -> [b B]:\n        return x @ self.w\n\n"
  "data Digit:\n    img:   [D]\n    label: [] Index[C]\n\n"
  "fn loss(m: Mlp, batch: [b] Digit) -> [] NonNeg:\n"
  "    return cross_entropy(batch.img @ m.w1, batch.label, over=C)\n\n";

inline json::array items(client& c, std::string_view marked) {
  return c.list("textDocument/completion", c.open_at(marked));
}

// The labels as the editor lists them: by their sort texts.
inline words labels(client& c, std::string_view marked) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& one : items(c, marked))
    all.emplace_back(one.at("sortText").as_string(), one.at("label").as_string());
  std::sort(all.begin(), all.end());
  words out;
  for (auto& [key, label] : all) out.push_back(std::move(label));
  return out;
}

inline words labels(std::string_view marked) {
  client c;
  return labels(c, marked);
}

// Those of the language and of `program` are left out of what a test lists by name.
inline words own(std::string_view marked) {
  words out;
  for (auto& one : labels(marked))
    if (find_builtin(one) == nullptr && find_word(one) == nullptr) out.push_back(std::move(one));
  return out;
}

inline bool holds(const words& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

inline json::object item_of(client& c, std::string_view marked, std::string_view label) {
  for (auto& one : items(c, marked))
    if (one.at("label").as_string() == label) return one.as_object();
  ADD_FAILURE() << "no completion `" << label << "`";
  return {};
}

inline json::object able(std::initializer_list<std::string_view> flags) {
  json::object item;
  for (const auto flag : flags) item[flag] = true;
  return {{"textDocument", {{"completion", {{"completionItem", std::move(item)}}}}}};
}

} // namespace shapescript::testing
