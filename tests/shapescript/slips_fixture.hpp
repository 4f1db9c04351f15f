#pragma once

#include <vector>

#include "tests/shapescript/mutations_fixture.hpp"

namespace shapescript::testing {

/// What a hand at the keyboard does: a token or a line that is left out or stands twice, a letter
/// too many, a line at the wrong depth. What is left may be a sound program, or be wrong far from
/// the slip; so only the number of reports is known.
std::vector<mutator> slips();

} // namespace shapescript::testing
