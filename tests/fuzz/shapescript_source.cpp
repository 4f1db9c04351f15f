#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "shapescript/check/check.hpp"
#include "shapescript/lower/cost.hpp"
#include "shapescript/lower/hover.hpp"
#include "shapescript/report/render.hpp"
#include "shapescript/syntax/format.hpp"

using namespace shapescript;

namespace {

// What a sound program costs is known, or why it is not.
void cost_all(const source& text) {
  const auto found = analyze(text);
  if (found.has_errors()) return;
  const auto& program = *found.program;
  for (const auto function : device_functions(program)) {
    const auto cost = cost_of(program, function, {{{"b", 3}}});
    if (render_json(program, cost).find('\n') != std::string::npos) std::abort();
    render_text(program, cost);
  }
  for (size_t at = 0; at < text.text().size(); at += 1 + text.text().size() / 8)
    if (const auto what = hover_at(program, static_cast<uint32_t>(at))) render_text(*what);
}

} // namespace

// Any bytes give reports with places inside the text, and a formatted program is left as it is.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const source text{"a.ss", std::string(reinterpret_cast<const char*>(data), size)};
  const auto found = check(text).diagnostics;
  if (found.size() > reports_max) std::abort();
  for (const auto& one : found) {
    for (const auto& label : one.labels)
      if (label.where.begin > size || label.where.end > size) std::abort();
    if (render_json(one, text).find('\n') != std::string::npos) std::abort();
  }
  render_text(found, text, true);
  cost_all(text);
  const auto program = parse(text);
  const auto once = shapescript::format(text, program);
  if (!once) return 0;
  const source again{"a.ss", *once};
  const auto twice = shapescript::format(again, parse(again));
  if (!twice || *twice != *once) std::abort();
  return 0;
}
