#include <cstdlib>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "shapescript/check/check.hpp"
#include "shapescript/report/render.hpp"
#include "tests/shapescript/mutations_fixture.hpp"
#include "tests/shapescript/slips_fixture.hpp"
#include "tests/shapescript/support.hpp"

using namespace shapescript;
using namespace shapescript::testing;

// Programs made from sound ones by one known change. A change for the worse must be reported, with
// the primary label on it; a change that means nothing must not be.

namespace {

std::vector<subject> sound_programs() {
  std::vector<subject> all;
  auto paths = corpus();
  paths.push_back(golden_folder() + "/chapter/train.ss");
  paths.push_back(golden_folder() + "/chapter/extern.ss");
  for (const auto& path : paths) {
    subject s{path.filename().string(), read_file(path), {}, false};
    const source text{"a.ss", s.text};
    if (!check(text).diagnostics.empty()) continue;
    s.tokens = lex(text).tokens;
    s.imports = s.text.find("import ") != s.text.npos;
    all.push_back(std::move(s));
  }
  return all;
}

std::vector<mutator> all_mutators() {
  std::vector<mutator> all;
  for (const auto& some : {mistakes_in_words(), mistakes_in_tokens(), mistakes_in_brackets(),
                           mistakes_in_meaning(), mistakes_in_calls(), sound_changes()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

struct tally {
  size_t made = 0, reported = 0, placed = 0, once = 0;

  void count(size_t reports, bool is_placed) {
    ++made;
    reported += reports > 0 ? 1 : 0;
    once += reports == 1 ? 1 : 0;
    placed += is_placed ? 1 : 0;
  }
};

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* given = std::getenv(name);
  return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

} // namespace

TEST(mutation, mistakes_are_reported_where_they_are_and_sound_programs_are_not) {
  const auto count = setting("MOXZI_MUTATIONS", 5'000);
  const auto seed = setting("MOXZI_SEED", 20'260'801);
  std::mt19937_64 random{seed};
  const auto programs = sound_programs();
  ASSERT_GE(programs.size(), 60u);
  const auto mutators = all_mutators();
  std::map<std::string, tally> by_name;
  tally mistakes, sound;
  int shown = 0;
  for (size_t n = 0; n < count;) {
    const auto& program = programs[random() % programs.size()];
    const auto& change = mutators[random() % mutators.size()];
    const auto where = change.where(program);
    if (where.empty()) continue;
    ++n;
    const auto made = change.make(program, where[random() % where.size()]);
    const source text{program.name, made.text};
    const auto found = check(text).diagnostics;
    const bool placed = !found.empty() && found[0].primary().where.begin <= made.where.end
                        && found[0].primary().where.end >= made.where.begin;
    by_name[change.name].count(found.size(), placed);
    (change.mistake ? mistakes : sound).count(found.size(), placed);
    if ((change.mistake ? placed && found.size() == 1 : found.empty()) || shown++ >= 60) continue;
    fmt::print("{} ({}):\n{}\n", change.name, n,
               found.empty() ? made.text : render_text(found, text, false));
  }
  for (const auto& [name, t] : by_name)
    fmt::print("{:34}{:7} made{:7} reported{:7} placed{:7} once\n", name, t.made, t.reported,
               t.placed, t.once);
  fmt::print(
    "seed {}: {} mistakes, {} reported, {} placed, {} once; {} sound changes, {} reported\n", seed,
    mistakes.made, mistakes.reported, mistakes.placed, mistakes.once, sound.made, sound.reported);
  EXPECT_EQ(sound.reported, 0u);
  EXPECT_GE(mistakes.reported * 100, mistakes.made * 99);
  EXPECT_GE(mistakes.placed * 100, mistakes.made * 95);
  EXPECT_GE(mistakes.once * 100, mistakes.made * 95);
}

TEST(mutation, one_slip_of_the_keys_gives_one_error) {
  const auto count = setting("MOXZI_MUTATIONS", 5'000);
  const auto seed = setting("MOXZI_SEED", 20'261'130);
  std::mt19937_64 random{seed};
  const auto programs = sound_programs();
  // Each token and each line is as likely to be hit as any other of its program.
  const auto all = slips();
  std::vector<std::vector<std::pair<const mutator*, size_t>>> places(programs.size());
  for (size_t i = 0; i < programs.size(); ++i)
    for (const auto& change : all)
      for (const auto site : change.where(programs[i])) places[i].emplace_back(&change, site);
  std::map<std::string, tally> by_name;
  size_t wrong = 0, several = 0;
  int shown = 0;
  for (size_t n = 0; n < count; ++n) {
    const auto at = random() % programs.size();
    const auto& program = programs[at];
    const auto& [change, site] = places[at][random() % places[at].size()];
    const auto made = change->make(program, site);
    const source text{program.name, made.text};
    auto found = check(text).diagnostics;
    std::erase_if(found, [](const diagnostic& d) { return d.level != severity::error; });
    by_name[change->name].count(found.size(), false);
    wrong += found.empty() ? 0 : 1;
    several += found.size() > 1 ? 1 : 0;
    if (found.size() > 1 && shown++ < 20)
      fmt::print("{} ({}):\n{}\n", change->name, n, render_text(found, text, false));
  }
  for (const auto& [name, t] : by_name)
    fmt::print("{:34}{:7} made{:7} reported{:7} once\n", name, t.made, t.reported, t.once);
  fmt::print("seed {}: {} slips leave a mistake, {} of them are reported more than once\n", seed,
             wrong, several);
  EXPECT_GE(wrong * 10, count * 8);
  EXPECT_LE(several * 100, wrong * 2);
}
