#include "shapescript/cli_report.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/nearest.hpp"
#include "shapescript/check/check.hpp"
#include "shapescript/lower/cost.hpp"
#include "shapescript/lower/hover.hpp"
#include "shapescript/report/render.hpp"

namespace shapescript {

namespace {

int usage(const std::string& message) {
  fmt::print(stderr, "shapescript: {}\n", message);
  return exit_usage;
}

template <class T>
std::optional<T> number(std::string_view text) {
  T out{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// `b=64` and its like; a message if one is not so.
std::optional<std::string> read_sizes(const std::vector<std::string>& words, cost_options& out) {
  for (const auto& word : words) {
    const auto equal = word.find('=');
    const auto size =
      equal == word.npos ? std::nullopt : number<int64_t>(std::string_view{word}.substr(equal + 1));
    constexpr int64_t size_max = 1 << 24;
    if (!size || *size < 1 || *size > size_max)
      return fmt::format("--size takes NAME=N, N from 1 to {}, not '{}'", size_max, word);
    out.sizes[word.substr(0, equal)] = *size;
  }
  return std::nullopt;
}

// `times=3`, `rate=0.5`, `deep=true`, `name=x`; a message if one is not so.
std::optional<std::string> read_values(const std::vector<std::string>& words, cost_options& out) {
  for (const auto& word : words) {
    const auto equal = word.find('=');
    if (equal == word.npos || equal == 0)
      return fmt::format("--value takes NAME=VALUE, not '{}'", word);
    const auto text = std::string_view{word}.substr(equal + 1);
    auto& value = out.values[word.substr(0, equal)];
    if (const auto whole = number<int64_t>(text))
      value = *whole;
    else if (const auto real = number<double>(text))
      value = *real;
    else if (text == "true" || text == "false")
      value = text == "true";
    else
      value = std::string{text};
  }
  return std::nullopt;
}

std::optional<std::string> read_options(const std::vector<std::string>& sizes,
                                        const std::vector<std::string>& values, cost_options& out) {
  if (auto wrong = read_sizes(sizes, out)) return wrong;
  return read_values(values, out);
}

// A message if a name that is given a size or value is not one of the program's functions.
std::optional<std::string> check_names(const typed_tree& program, const cost_options& options) {
  const auto unknown = [](std::string_view name, const std::vector<std::string>& known,
                          std::string_view what) -> std::optional<std::string> {
    if (std::find(known.begin(), known.end(), name) != known.end()) return std::nullopt;
    const std::vector<std::string_view> names(known.begin(), known.end());
    return fmt::format("no {} is called '{}'{}", what, name, moxzi::did_you_mean(name, names));
  };
  const auto axes = axis_names(program);
  for (const auto& [name, size] : options.sizes) {
    for (const auto& one : program.dims)
      if (one.module == 0 && program.modules[0]->text.text(one.decl->name) == name)
        return fmt::format("'{}' is a dim, which is {} in the program", name, one.value);
    if (auto wrong = unknown(name, axes, "axis of any size")) return wrong;
  }
  std::vector<std::string> parameters;
  for (const auto function : device_functions(program))
    for (const auto& one : program.functions[function].parameters)
      if (is_scalar(one.what) || is(one.what, base_type::text)) parameters.emplace_back(one.name);
  for (const auto& [name, value] : options.values)
    if (auto wrong = unknown(name, parameters, "number or other host value")) return wrong;
  return std::nullopt;
}

struct program_read {
  std::optional<source> text;
  checked result;
  int status = exit_ok;
};

program_read read_program(const std::string& path, bool color) {
  program_read out;
  auto text = read_source(path);
  if (!text) {
    out.status = usage(text.error().message);
    return out;
  }
  out.text.emplace(std::move(*text));
  out.result = analyze(*out.text, read_imported);
  if (!out.result.has_errors()) return out;
  fmt::print(stderr, "{}", render_text(out.result.diagnostics, *out.text, color));
  out.status = exit_refused;
  return out;
}

// The offset of a line and column, both from 1; nothing past the ends.
std::optional<uint32_t> offset_of(const source& text, uint32_t line, uint32_t column) {
  if (line < 1 || line > text.line_count() || column < 1) return std::nullopt;
  const auto written = text.line(line);
  auto at = static_cast<uint32_t>(written.data() - text.text().data());
  const auto end = at + static_cast<uint32_t>(written.size());
  for (uint32_t i = 1; i < column; ++i) {
    if (at >= end) return std::nullopt;
    do ++at;
    while (at < end && (static_cast<unsigned char>(text.text()[at]) & 0xC0) == 0x80);
  }
  return at;
}

struct written_place {
  std::string file;
  uint32_t line = 0;
  std::optional<uint32_t> column;
};

// The numbers behind the last one or two colons.
std::optional<written_place> read_place(const std::string& text) {
  const auto cut = [](std::string_view word) -> std::optional<std::pair<size_t, uint32_t>> {
    const auto colon = word.rfind(':');
    if (colon == word.npos || colon == 0) return std::nullopt;
    const auto found = number<uint32_t>(word.substr(colon + 1));
    if (!found) return std::nullopt;
    return std::pair{colon, *found};
  };
  const auto last = cut(text);
  if (!last) return std::nullopt;
  const auto before = cut(std::string_view{text}.substr(0, last->first));
  if (!before) return written_place{text.substr(0, last->first), last->second, std::nullopt};
  return written_place{text.substr(0, before->first), before->second, last->second};
}

} // namespace

int run_cost(const cost_command& command, bool color) {
  cost_options options;
  if (const auto wrong = read_options(command.sizes, command.values, options)) return usage(*wrong);
  const auto read = read_program(command.file, color);
  if (read.status != exit_ok) return read.status;
  const auto& program = *read.result.program;
  if (const auto wrong = check_names(program, options)) return usage(*wrong);
  const auto all = device_functions(program);
  if (all.empty() && command.format == "text")
    fmt::print("{}: no function runs on a device\n", read.text->name());
  bool first = true;
  for (const auto function : all) {
    const auto cost = cost_of(program, function, options);
    if (command.format == "json")
      fmt::print("{}\n", render_json(program, cost));
    else
      fmt::print("{}{}", std::exchange(first, false) ? "" : "\n", render_text(program, cost));
  }
  return exit_ok;
}

int run_hover(const hover_command& command, bool color) {
  cost_options options;
  if (const auto wrong = read_options(command.sizes, command.values, options)) return usage(*wrong);
  const auto place = read_place(command.place);
  if (!place)
    return usage(fmt::format("hover takes FILE:LINE or FILE:LINE:COL, not '{}'", command.place));
  const auto read = read_program(place->file, color);
  if (read.status != exit_ok) return read.status;
  const auto at = offset_of(*read.text, place->line, place->column.value_or(1));
  if (!at)
    return usage(fmt::format("{} has no {}line {}", read.text->name(),
                             place->column ? fmt::format("column {} in ", *place->column) : "",
                             place->line));
  const auto& program = *read.result.program;
  if (const auto wrong = check_names(program, options)) return usage(*wrong);
  const auto what =
    place->column ? hover_at(program, *at, options) : hover_line(program, *at, options);
  if (command.format == "json")
    fmt::print("{}\n", what ? render_json(*what, *read.text) : "null");
  else if (what)
    fmt::print("{}", render_text(*what));
  return exit_ok;
}

} // namespace shapescript
