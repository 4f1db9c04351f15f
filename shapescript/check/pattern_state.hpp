#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "shapescript/check/checker.hpp"

namespace shapescript {

/// One axis that a pattern names: where, how large, and how often it was used in the result.
struct checker::atom {
  std::string name;
  size_form size;
  span where;
  int used = 0;
  bool number = false; ///< a literal in a group
  bool in_group = false;
  bool resized = false; ///< as of `axis`
};

struct checker::pattern_state {
  std::vector<atom> atoms;
  struct given_size {
    size_form size;
    span name;
    span where;
  };
  std::map<std::string, given_size, std::less<>> given; ///< by named arguments: `h=2`
  std::vector<std::vector<axis>> rests;                 ///< what `...` stands for, each operand
  std::string operation;
  std::string_view by; ///< of `reduce`, with its quotes
  span by_where;

  atom* find(std::string_view name) {
    for (auto& one : atoms)
      if (!one.number && one.name == name) return &one;
    return nullptr;
  }
};

/// The value of a literal in a pattern.
int64_t number_in_pattern(std::string_view digits);

} // namespace shapescript
