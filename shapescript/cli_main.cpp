#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/nearest.hpp"
#include "shapescript/check/check.hpp"
#include "shapescript/cli_report.hpp"
#include "shapescript/lsp/stdio.hpp"
#include "shapescript/report/explain.hpp"
#include "shapescript/report/render.hpp"
#include "shapescript/syntax/format.hpp"

// shapescript: checks and formats ShapeScript programs. Reports go to stderr, answers to stdout.

namespace {

using namespace shapescript;

bool stderr_has_color() {
  const char* off = std::getenv("NO_COLOR");
  return (off == nullptr || *off == '\0') && isatty(STDERR_FILENO) != 0;
}

// -- check ---------------------------------------------------------------------

struct check_options {
  std::vector<std::string> files;
  std::string format = "text";
  bool deny_warnings = false;
  bool color = false;
};

int check_file(const std::string& path, const check_options& options, bool& said) {
  auto text = read_source(path);
  if (!text) {
    fmt::print(stderr, "shapescript: {}\n", text.error().message);
    return exit_usage;
  }
  const auto result = check(*text, read_imported);
  if (options.format == "json") {
    for (const auto& one : result.diagnostics) fmt::print(stderr, "{}\n", render_json(one, *text));
  } else {
    const bool color = options.color || stderr_has_color();
    // A blank line stands between the reports of two files.
    if (std::exchange(said, said || !result.diagnostics.empty()) && !result.diagnostics.empty())
      fmt::print(stderr, "\n");
    fmt::print(stderr, "{}", render_text(result.diagnostics, *text, color));
  }
  const bool denied = options.deny_warnings && !result.has_errors() && !result.diagnostics.empty();
  if (denied && options.format == "text") {
    const auto count = result.diagnostics.size();
    fmt::print(stderr, "error: {} refused: --deny-warnings allows no warning, and there {} {}\n",
               path, count == 1 ? "is" : "are", count);
  }
  const bool refused = result.has_errors() || denied;
  return refused ? exit_refused : exit_ok;
}

int run_check(const check_options& options) {
  int status = exit_ok;
  bool said = false;
  for (const auto& path : options.files) status = std::max(status, check_file(path, options, said));
  return status;
}

void add_check(CLI::App& program, check_options& options, int& status) {
  auto* command = program.add_subcommand("check", "Check programs and report what is wrong");
  command->add_option("FILE", options.files, "The programs")->required();
  command->add_option("--format", options.format, "text, or json: one object a line")
    ->check(CLI::IsMember({"text", "json"}));
  command->add_flag("--deny-warnings", options.deny_warnings, "Fail on warnings too");
  command->add_flag("--color", options.color, "Colours, even when stderr is not a terminal");
  command->callback([&options, &status] { status = run_check(options); });
}

// -- explain -------------------------------------------------------------------

// `; the nearest are E1904, E1902 and E1901`: by number, of codes that begin with the same letter.
std::string near_codes(std::string_view code) {
  const auto number_of = [](std::string_view text) {
    int number = -1;
    std::from_chars(text.data() + 1, text.data() + text.size(), number);
    return number;
  };
  std::vector<std::pair<int, std::string_view>> found;
  if (code.size() > 1 && number_of(code) >= 0)
    for (const auto& one : all_codes())
      if (one.code[0] == code[0])
        found.emplace_back(std::abs(number_of(one.code) - number_of(code)), one.code);
  if (found.size() < 3) return "; a code reads like E0408";
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  return fmt::format("; the nearest are {}, {} and {}", found[0].second, found[1].second,
                     found[2].second);
}

int run_explain(const std::string& code) {
  std::string upper = code;
  for (auto& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (const auto page = explanation(upper)) {
    fmt::print("{}", *page);
    return exit_ok;
  }
  std::vector<std::string_view> known;
  for (const auto& one : all_codes()) known.push_back(one.code);
  // One digit is as easily wrong as another, so that of codes the nearest by number are named.
  const bool is_code = upper.size() == 5 && std::all_of(upper.begin() + 1, upper.end(), [](char c) {
                         return c >= '0' && c <= '9';
                       });
  const auto meant = is_code ? std::string{} : moxzi::did_you_mean(upper, known);
  fmt::print(stderr, "shapescript: no code '{}'{}\n", code,
             meant.empty() ? near_codes(upper) : meant);
  return exit_usage;
}

void add_explain(CLI::App& program, std::string& code, int& status) {
  auto* command = program.add_subcommand("explain", "Explain a code, such as E0408");
  command->add_option("CODE", code, "The code of a report")->required();
  command->callback([&code, &status] { status = run_explain(code); });
}

// -- fmt -----------------------------------------------------------------------

struct format_options {
  std::vector<std::string> files;
  bool check = false;
};

int format_file(const std::string& path, bool check) {
  auto text = read_source(path);
  if (!text) {
    fmt::print(stderr, "shapescript: {}\n", text.error().message);
    return exit_usage;
  }
  const auto program = parse(*text);
  const auto formatted = shapescript::format(*text, program);
  if (!formatted) {
    fmt::print(stderr, "{}", render_text(program.diagnostics, *text, stderr_has_color()));
    return exit_refused;
  }
  if (*formatted == text->text()) return exit_ok;
  if (check) {
    fmt::print("{}\n", path);
    return exit_refused;
  }
  if (auto written = write_source(path, *formatted); !written) {
    fmt::print(stderr, "shapescript: {}\n", written.error().message);
    return exit_usage;
  }
  return exit_ok;
}

int run_format(const format_options& options) {
  int status = exit_ok;
  for (const auto& path : options.files)
    status = std::max(status, format_file(path, options.check));
  return status;
}

// -- command line --------------------------------------------------------------

std::string meant(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  return moxzi::did_you_mean(word, views);
}

// What is wrong with the first word that no option or command took.
std::string describe_unknown(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  if (word.size() > 1 && word.front() == '-') {
    for (const auto* option : app.get_options())
      for (const auto& name : option->get_lnames()) known.push_back("--" + name);
    const auto name = word.substr(0, word.find('='));
    return fmt::format("unknown option '{}'{}", name, meant(name, known));
  }
  for (const auto* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(sub->get_name());
  return fmt::format("unknown command '{}'{}", word, meant(word, known));
}

int usage_error(const CLI::App& program, const CLI::ParseError& e) {
  const auto chosen = program.get_subcommands();
  const auto& app = chosen.empty() ? program : *chosen.front();
  auto left = app.remaining();
  if (left.empty()) left = program.remaining();
  const auto message = left.empty() ? std::string{e.what()} : describe_unknown(app, left.front());
  const auto name = chosen.empty() ? "" : " " + app.get_name();
  fmt::print(stderr, "shapescript: {}\nshapescript: see 'shapescript{} --help'\n", message, name);
  return exit_usage;
}

void add_format(CLI::App& program, format_options& options, int& status) {
  auto* command = program.add_subcommand("fmt", "Put programs in the one form");
  command->add_option("FILE", options.files, "The programs")->required();
  command->add_flag("--check", options.check, "Change nothing; name the files that would change");
  command->callback([&options, &status] { status = run_format(options); });
}

void add_cost(CLI::App& program, cost_command& command, int& status) {
  auto* sub = program.add_subcommand("cost", "Say what a step of each device function costs");
  sub->add_option("FILE", command.file, "The program")->required();
  sub->add_option("--format", command.format, "text, or json: one object a line")
    ->check(CLI::IsMember({"text", "json"}));
  sub->add_option("--size", command.sizes, "The size of an axis, as in b=64; several times");
  sub->add_option("--value", command.values,
                  "What a function is given that is no tensor, as in times=3; several times");
  sub->callback([&command, &status] { status = run_cost(command, stderr_has_color()); });
}

void add_hover(CLI::App& program, hover_command& command, int& status) {
  auto* sub = program.add_subcommand("hover", "Say what stands at a place of a program");
  sub
    ->add_option("FILE:LINE:COL", command.place,
                 "The place, or FILE:LINE; lines and columns count from 1")
    ->required();
  sub->add_option("--format", command.format, "text, or json: one object, or null")
    ->check(CLI::IsMember({"text", "json"}));
  sub->add_option("--size", command.sizes, "The size of an axis, as in b=64; several times");
  sub->add_option("--value", command.values,
                  "What a function is given that is no tensor, as in times=3; several times");
  sub->callback([&command, &status] { status = run_hover(command, stderr_has_color()); });
}

} // namespace

int main(int argc, char** argv) {
  CLI::App program{"Checks and formats ShapeScript programs.", "shapescript"};
  program.set_help_flag("-h,--help", "Print this and exit");
  program.set_version_flag("--version", "shapescript " MOXZI_VERSION, "Print the version and exit");
  program.require_subcommand(1);
  int status = exit_ok;
  check_options checking;
  add_check(program, checking, status);
  std::string code;
  add_explain(program, code, status);
  format_options formatting;
  add_format(program, formatting, status);
  program.add_subcommand("lsp", "Serve an editor: JSON-RPC over stdin and stdout")
    ->callback([&status] { status = lsp::serve(STDIN_FILENO, STDOUT_FILENO); });
  cost_command costing;
  add_cost(program, costing, status);
  hover_command hovering;
  add_hover(program, hovering, status);
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = program.get_subcommands();
    if (chosen.empty())
      fmt::print("{}", program.help());
    else
      fmt::print("{}", chosen.front()->help("shapescript"));
  } catch (const CLI::CallForVersion& e) {
    fmt::print("{}\n", e.what());
  } catch (const CLI::ParseError& e) {
    return usage_error(program, e);
  }
  return status;
}
