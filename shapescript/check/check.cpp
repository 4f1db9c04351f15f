#include "shapescript/check/check.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/nearest.hpp"
#include "shapescript/check/checker.hpp"

namespace shapescript {

bool checked::has_errors() const noexcept {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const diagnostic& d) { return d.level == severity::error; });
}

checked check(const source& text, const program_loader& load) {
  return checker{text, load, false}.run();
}

checked analyze(const source& text, const program_loader& load) {
  return checker{text, load, true}.run();
}

checker::checker(const source& text, const program_loader& load, bool records)
    : load_(load), records_all_(records) {
  loaded_[text.name()] = load_module(text);
}

checked checker::run() {
  add_batch_norm();
  // Importing grows the list.
  for (uint32_t m = 0; m < modules_.size(); ++m)
    for (const auto& decl : modules_[m]->program.program.imports)
      if (!decl.python) import_file(m, decl);
  for (uint32_t m = 0; m < modules_.size(); ++m) collect_names(m);
  resolve_dims();
  resolve_records();
  resolve_models();
  for (uint32_t f = 0; f < functions_.size(); ++f) resolve_function(f);
  check_devices();
  check_initialisers();
  for (uint32_t f = 0; f < functions_.size(); ++f) check_body(f);
  check_needs();
  report_mut_arguments();
  place_functions();
  report_imports();
  checked result;
  for (auto& one : without_consequences()) result.diagnostics.push_back(std::move(one));
  sort_by_place(result.diagnostics);
  if (result.diagnostics.size() > reports_max) result.diagnostics.resize(reports_max);
  if (records_all_) {
    finish_record();
    result.program = all_;
  }
  return result;
}

// -- reports -------------------------------------------------------------------

diagnostic checker::make(const char* code, span where, std::string message, std::string label) {
  diagnostic d;
  d.code = code;
  d.level = code[0] == 'W' ? severity::warning : severity::error;
  d.message = std::move(message);
  d.labels.push_back({where, std::move(label), true});
  return d;
}

diagnostic& checker::report(const char* code, span where, std::string message, std::string label) {
  return deliver(make(code, where, std::move(message), std::move(label)));
}

diagnostic& checker::deliver(diagnostic d) {
  if (d.level == severity::error) has_errors_here_ = true;
  // What is wrong in an imported file is that file's own report, named at the import; warnings
  // would mislead where parts of the program could not be read.
  const bool hide = module_ != 0 || (d.level == severity::warning && lenient());
  if (hide || trials_ > 0) {
    if (d.level == severity::error && trials_ == 0) broken_.try_emplace(module_, d);
    hidden_ = std::move(d);
    return hidden_;
  }
  out_.push_back(std::move(d));
  contexts_.push_back({function_, callee_, {}});
  return out_.back();
}

void checker::points_to(const diagnostic& d, span declaration) {
  if (!out_.empty() && &d == &out_.back()) contexts_.back().origins.push_back(declaration);
}

void checker::mark(diagnostic& d, span where, std::string text) {
  if (where == span{}) return;
  d.labels.push_back({where, std::move(text), false});
}

diagnostic& checker::last_report() {
  return module_ != 0 || trials_ > 0 || out_.empty() ? hidden_ : out_.back();
}

// Says for every named axis of the types what its size is, and where a symbolic one begins.
void checker::explain_sizes(diagnostic& d, const std::vector<axis>& x, const std::vector<axis>& y) {
  std::set<std::string> said;
  for (const auto* axes : {&x, &y}) {
    for (const auto& one : *axes) {
      const auto& word = one.text();
      if (word.empty() || one.resized || !said.insert(word).second) continue;
      const auto number = one.size.number();
      if (number) {
        d.notes.push_back(fmt::format("`{}` is {}", word, *number));
      } else if (const auto lone = one.size.lone(); lone && symbols_[*lone].name != word) {
        d.notes.push_back(fmt::format("`{}` is another name for `{}`", word, symbols_[*lone].name));
      }
    }
  }
}

void checker::suggest(diagnostic& d, span where, std::string_view name,
                      const std::vector<std::string_view>& known) {
  const auto best = moxzi::nearest(name, known);
  if (!best) return;
  d.help.push_back(fmt::format("did you mean `{}`?", *best));
  // Of so short a name any other is near: a guess that nobody should apply unread.
  constexpr size_t name_bytes_min = 4;
  if (name.size() >= name_bytes_min) d.fixes.push_back({where, std::string{*best}});
}

} // namespace shapescript
