#pragma once

#include <string>

#include <gtest/gtest.h>

#include "shapescript/check/check.hpp"
#include "shapescript/lower/cost.hpp"
#include "tests/shapescript/lowered_fixture.hpp"
#include "tests/shapescript/support.hpp"

namespace shapescript::testing {

/// The chapter's program, perhaps with another `devices` line.
inline std::string chapter(const std::string& devices = "devices cuda[0 1 2]\n") {
  auto text = read_file(golden_folder() + "/chapter/train.ss");
  return devices + text.substr(text.find('\n') + 1);
}

/// A function of a program with its cost.
struct costed {
  source text;
  checked result;
  function_cost cost;

  costed(std::string program, std::string_view function, const cost_options& options = {})
      : text{"train.ss", std::move(program)}, result{analyze(text)},
        cost{cost_of(*result.program, function_named(*result.program, function), options)} {
    EXPECT_FALSE(result.has_errors()) << summary(result.diagnostics, text);
    EXPECT_FALSE(cost.fault) << cost.fault->message;
  }

  /// `18: all-reduce of ...`, one line each.
  std::string lines() const {
    std::string out;
    for (const auto& line : cost.lines)
      for (const auto& one : line.sent)
        out += fmt::format("{}: {}\n", text.line_of(line.line.begin), describe(one));
    return out;
  }
};

} // namespace shapescript::testing
