#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "shapescript/syntax/lexical.hpp"
#include "shapescript/syntax/token.hpp"

namespace shapescript {

namespace {

struct bracket {
  char open;
  size_t token_index;
};

struct level {
  uint32_t column;
  bool phantom;     // an unexpected indent: it has no tokens
  size_t lines = 1; // that begin there
  uint32_t last;    // where the last of them begins: they may not agree
  std::optional<uint32_t> other = {};

  level(uint32_t at, bool is_phantom) : column(at), phantom(is_phantom), last(at) {
    // nop
  }
  bool begins_at(uint32_t at) const {
    return at == column || at == other;
  }
};

class lexer {
public:
  explicit lexer(const source& text) : text_(text.text()) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  lexed run() {
    while (at_ < text_.size()) line();
    if (!brackets_.empty()) unclosed();
    end_line();
    for (; levels_.size() > 1; levels_.pop_back()) add_dedent();
    add(token_kind::end, size(), size());
    return std::move(out_);
  }

private:
  uint32_t size() const {
    return static_cast<uint32_t>(text_.size());
  }

  void report(const char* code, span where, std::string message, std::string label) {
    if (out_.diagnostics.size() >= reports_max) return;
    diagnostic d;
    d.code = code;
    d.message = std::move(message);
    d.labels.push_back({where, std::move(label), true});
    out_.diagnostics.push_back(std::move(d));
  }

  void add(token_kind kind, size_t begin, size_t end) {
    out_.tokens.push_back({kind, false, {uint32_t(begin), uint32_t(end)}, misplaced_});
  }

  void add_dedent() {
    if (!levels_.back().phantom) add(token_kind::dedent, at_, at_);
  }

  // The logical line so far is over, if there is one.
  void end_line() {
    if (line_first_ == out_.tokens.size()) return;
    const auto last = out_.tokens.back();
    line_was_whole_ =
      !bad_in_line_ && !(last.kind >= token_kind::pipe && last.kind <= token_kind::comma);
    bad_in_line_ = false;
    opens_block_ = last.kind == token_kind::colon || begins_block();
    add(token_kind::newline, last.where.end, last.where.end);
    line_first_ = out_.tokens.size();
    mismatch_ = false;
  }

  // Whether the logical line is a header: the block is there even if the colon was forgotten.
  bool begins_block() const {
    const auto& first = out_.tokens[line_first_];
    switch (first.kind) {
      case token_kind::kw_fn:
      case token_kind::kw_for:
      case token_kind::kw_while:
      case token_kind::kw_if:
      case token_kind::kw_elif:
      case token_kind::kw_else:
        return true;
      case token_kind::name:
        break;
      default:
        return false;
    }
    if (line_first_ + 1 == out_.tokens.size()) return false;
    if (out_.tokens[line_first_ + 1].kind != token_kind::name) return false;
    const auto word = text_.substr(first.where.begin, first.where.end - first.where.begin);
    return word == "devices" || word == "model" || word == "data";
  }

  // One physical line with its line end.
  void line() {
    const size_t begin = at_;
    std::optional<size_t> tab;
    uint32_t column = 0;
    for (; at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t'); ++at_) {
      if (text_[at_] == '\t' && !tab) tab = at_;
      column = text_[at_] == '\t' ? (column / 4 + 1) * 4 : column + 1;
    }
    const bool blank =
      at_ == text_.size() || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '#';
    if (!blank) {
      if (!brackets_.empty() && begins_new_statement(text_.substr(at_), after_operand()))
        unclosed();
      const bool joined = !brackets_.empty()
                          || (text_.substr(at_).starts_with("|>") && column > levels_.back().column
                              && line_first_ != out_.tokens.size());
      if (!joined) {
        end_line();
        if (tab) column = tabbed(*tab, column);
        indentation(begin, column);
        if (tab) spaces_for(begin, column);
      }
    }
    rest_of_line(begin);
  }

  // A line with a tab in its indentation. The first is reported, and mended with all the others.
  uint32_t tabbed(size_t tab, uint32_t column) {
    if (!tabs_) {
      tabs_ = out_.diagnostics.size();
      report("E0102", {uint32_t(tab), uint32_t(tab + 1)}, "tab in the indentation",
             "a tab; use spaces");
    }
    // How deep a tab is meant to be is a guess: a level of 4, or what the structure allows.
    const auto open = [&](const level& x) { return x.column == column; };
    if (opens_block_ ? column > levels_.back().column
                     : std::any_of(levels_.begin(), levels_.end(), open))
      return column;
    return levels_.back().column + (opens_block_ ? 4 : 0);
  }

  void spaces_for(size_t begin, uint32_t column) {
    constexpr size_t fixes_max = 1000; // a file that long is mended by `fmt`
    if (*tabs_ >= out_.diagnostics.size()) return;
    auto& d = out_.diagnostics[*tabs_];
    if (d.fixes.size() == fixes_max) return;
    if (d.fixes.empty()) d.help.push_back("indent by 4 spaces");
    d.fixes.push_back({{uint32_t(begin), uint32_t(at_)}, std::string(column, ' ')});
  }

  // Whether the line goes on with an `if` above, one level out.
  bool begins_branch() const {
    const auto rest = text_.substr(at_);
    return rest.starts_with("else:") || rest.starts_with("elif ");
  }

  void leave_level() {
    add_dedent();
    levels_.pop_back();
  }

  void indentation(size_t begin, uint32_t column) {
    const bool opens = std::exchange(opens_block_, false);
    while (levels_.size() > 1 && levels_[levels_.size() - 2].column >= column) leave_level();
    const auto width = std::max<size_t>(1, character_bytes(text_.substr(at_)));
    const span where{uint32_t(at_), uint32_t(at_ + width)};
    const auto current = levels_.back().column;
    const bool branch = begins_branch() && levels_.size() > 1 && !opens;
    auto& here = levels_.back();
    const bool same = here.begins_at(column) && !(opens && column > here.last);
    misplaced_ =
      std::any_of(levels_.begin(), levels_.end(), [](const level& x) { return x.phantom; })
      || (column < current && !same);
    if (same) {
      ++here.lines;
      here.last = column;
    } else if (column > here.last) {
      // A line that ends in an operator goes on: that is what is wrong, and the parser says so.
      if (!opens && line_was_whole_)
        report("E0103", where, "unexpected indentation", "deeper than the block it is in");
      if (branch)
        leave_level();
      else
        levels_.push_back({column, !opens});
      misplaced_ |= !opens && !branch && line_was_whole_;
      if (opens) add(token_kind::indent, begin, at_);
    } else {
      if (bad_column_ != column)
        report("E0103", where, "this indentation matches no open block",
               fmt::format("column {}; the block is at column {}", column + 1, current + 1));
      bad_column_ = column;
      if (branch) {
        leave_level();
      } else if (here.lines == 1 && !here.phantom) {
        here.other = here.last = column; // one of the two lines is not where it belongs
      }
    }
    line_first_ = out_.tokens.size();
  }

  bool after_operand() const {
    if (out_.tokens.empty()) return false;
    switch (out_.tokens.back().kind) {
      case token_kind::name:
      case token_kind::integer:
      case token_kind::decimal:
      case token_kind::string:
      case token_kind::close_paren:
      case token_kind::close_bracket:
        return true;
      default:
        return false;
    }
  }

  // The open brackets end here, with a report unless a wrong closing bracket explains them.
  void unclosed() {
    const auto open = out_.tokens[brackets_.back().token_index].where;
    if (!mismatch_) {
      report("E0112", open, fmt::format("this `{}` is never closed", brackets_.back().open),
             fmt::format("no `{}` follows", brackets_.back().open == '(' ? ')' : ']'));
    }
    brackets_.clear();
    const auto end = out_.tokens.back().where.end;
    if (!mismatch_) add(token_kind::bad, end, end);
    end_line();
  }

  void rest_of_line(size_t begin) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++at_;
        return;
      }
      if (c == ' ' || c == '\t'
          || (c == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n')) {
        ++at_;
      } else if (c == '#') {
        comment_at(begin);
      } else if (is_letter(c)) {
        word();
      } else if (is_digit(c)) {
        number();
      } else if (c == '"') {
        if (!text_.substr(at_).starts_with("\"\"\"") || !foreign()) string();
      } else if (const auto op = operator_at(text_.substr(at_))) {
        operation(*op);
      } else {
        stranger();
      }
    }
  }

  void comment_at(size_t line_begin) {
    const size_t begin = at_;
    at_ = std::min(text_.find('\n', at_), text_.size());
    size_t end = at_;
    while (end > begin && (text_[end - 1] == '\r' || text_[end - 1] == ' ')) --end;
    const auto before = text_.substr(line_begin, begin - line_begin);
    const bool alone = before.find_first_not_of(" \t\xEF\xBB\xBF") == before.npos;
    out_.comments.push_back({{uint32_t(begin), uint32_t(end)}, alone});
    check_characters(begin, end);
  }

  // Reports the first malformed or control character of a comment or string.
  void check_characters(size_t begin, size_t end) {
    for (size_t i = begin; i < end;) {
      const auto length = character_bytes(text_.substr(i, end - i));
      if (length == 0 || text_[i] == '\0') {
        bad_character(i, i + 1);
        return;
      }
      i += length;
    }
  }

  void bad_character(size_t begin, size_t end) {
    const auto first = static_cast<unsigned char>(text_[begin]);
    const auto length = character_bytes(text_.substr(begin));
    const span where{uint32_t(begin), uint32_t(end)};
    if (length == 0)
      report("E0101", where, fmt::format("byte 0x{:02X} is not UTF-8", first), "not a character");
    else if (first < 0x20 || first == 0x7F)
      report("E0101", where, fmt::format("character U+{:04X} has no meaning here", first),
             "a control character");
    else
      report("E0101", where,
             fmt::format("character `{}` has no meaning here", text_.substr(begin, length)),
             "not part of the language");
  }

  // What other languages write; once in a file, with all its places to mend.
  bool foreign() {
    const auto found = foreign_at(text_.substr(at_), text_.substr(0, at_));
    if (!found) return false;
    const span where{uint32_t(at_), uint32_t(at_ + found->length)};
    const auto [place, fresh] = foreign_.try_emplace(found->group, out_.diagnostics.size());
    if (fresh) {
      report("E0101", {where.begin, where.begin + found->marked},
             fmt::format("`{}` has no meaning here", text_.substr(at_, found->marked)),
             "not part of the language");
      if (place->second < out_.diagnostics.size())
        out_.diagnostics[place->second].help.push_back(found->help);
    }
    if (found->mends && place->second < out_.diagnostics.size())
      out_.diagnostics[place->second].fixes.push_back(
        {{where.begin - found->before, where.begin + found->replaced}, found->text});
    at_ += found->length;
    if (found->silent) return true;
    bad_in_line_ |= found->reads_as == token_kind::bad;
    add(found->reads_as, where.begin, at_);
    return true;
  }

  void stranger() {
    if (foreign()) return;
    const size_t begin = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' || (c == '\r' && at_ > begin) || c == ' ' || c == '#' || c == '"'
          || is_letter(c) || is_digit(c) || operator_at(text_.substr(at_)))
        break;
      at_ += std::max<size_t>(1, character_bytes(text_.substr(at_)));
    }
    // Several in a line are one mistake, most likely.
    if (!std::exchange(bad_in_line_, true)) bad_character(begin, at_);
    add(token_kind::bad, begin, at_);
  }

  void word() {
    const size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    add(word_kind(text_.substr(begin, at_ - begin)), begin, at_);
  }

  bool digits() {
    const size_t begin = at_;
    while (at_ < text_.size()
           && (is_digit(text_[at_])
               || (text_[at_] == '_' && at_ > begin && at_ + 1 < text_.size()
                   && is_digit(text_[at_ + 1]) && is_digit(text_[at_ - 1]))))
      ++at_;
    return at_ > begin;
  }

  void number() {
    const size_t begin = at_;
    const auto next = [this](size_t n) { return at_ + n < text_.size() ? text_[at_ + n] : ' '; };
    auto kind = token_kind::integer;
    digits();
    if (next(0) == '.' && is_digit(next(1))) {
      kind = token_kind::decimal;
      ++at_;
      digits();
    }
    if (next(0) == 'e' || next(0) == 'E') {
      const size_t sign = next(1) == '-' || next(1) == '+' ? 1 : 0;
      if (is_digit(next(1 + sign))) {
        kind = token_kind::decimal;
        at_ += 1 + sign;
        digits();
      }
    }
    const size_t suffix = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const span where{uint32_t(begin), uint32_t(at_)};
    if (at_ > suffix) {
      report(
        "E0105", where,
        fmt::format("`{}` follows a number without a space", text_.substr(suffix, at_ - suffix)),
        fmt::format("the number is `{}`", text_.substr(begin, suffix - begin)));
    } else if (kind == token_kind::integer
               && std::count_if(text_.begin() + begin, text_.begin() + at_, is_digit) > 18) {
      report("E0106", where, "this integer is too large", "more than 18 digits");
    }
    add(kind, begin, at_);
  }

  void string() {
    const size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n')
        escape();
      else
        ++at_;
    }
    check_characters(begin, at_);
    if (at_ < text_.size() && text_[at_] == '"') {
      add(token_kind::string, begin, ++at_);
      return;
    }
    size_t end = at_;
    while (end > begin && text_[end - 1] == '\r') --end;
    report("E0104", {uint32_t(begin), uint32_t(begin + 1)}, "this string is not closed on its line",
           "no second `\"` follows");
    brackets_.clear();
    add(token_kind::bad, begin, end);
  }

  void escape() {
    const size_t begin = at_;
    at_ += 2;
    if (const auto length = escape_bytes(text_.substr(begin))) {
      at_ = begin + length;
      return;
    }
    report("E0107", {uint32_t(begin), uint32_t(at_)}, "unknown escape in a string",
           "known are `\\n`, `\\t`, `\\\\`, `\\\"`, `\\{` and `\\u{...}`");
  }

  void operation(const spelling& op) {
    const size_t begin = at_;
    at_ += op.text.size();
    add(op.kind, begin, at_);
    const char c = op.text.front();
    if (c == '(' || c == '[') {
      brackets_.push_back({c, out_.tokens.size() - 1});
    } else if (c == ')' || c == ']') {
      close(c == ')' ? '(' : '[');
    } else if (op.kind == token_kind::arrow && !brackets_.empty()) {
      out_.tokens[brackets_.back().token_index].arrow_inside = true;
    }
  }

  void close(char open) {
    const auto same = [open](const bracket& b) { return b.open == open; };
    if (std::none_of(brackets_.begin(), brackets_.end(), same)) {
      mismatch_ = true; // the parser names the token
      return;
    }
    while (!same(brackets_.back())) {
      const auto& b = brackets_.back();
      if (!mismatch_) {
        report("E0112", out_.tokens[b.token_index].where,
               fmt::format("this `{}` is never closed", b.open),
               fmt::format("no `{}` before the `{}`", b.open == '(' ? ')' : ']',
                           open == '(' ? ')' : ']'));
        auto& closer = out_.tokens.back();
        closer.kind = token_kind::bad;
      }
      mismatch_ = true;
      brackets_.pop_back();
    }
    brackets_.pop_back();
  }

  std::string_view text_;
  size_t at_ = 0;
  lexed out_;
  std::vector<bracket> brackets_;
  std::vector<level> levels_{{0, false}};
  size_t line_first_ = 0;      // where the tokens of the current logical line begin
  bool opens_block_ = false;   // the last logical line is followed by an indented block
  bool line_was_whole_ = true; // the last logical line did not end in an operator
  bool bad_in_line_ = false;   // a strange character was reported in this logical line
  bool misplaced_ = false;     // the line's indentation was reported
  bool mismatch_ = false;      // a wrong closing bracket was seen in this logical line
  std::map<std::string_view, size_t> foreign_; // the reports on what other languages write
  std::optional<uint32_t> bad_column_;
  std::optional<size_t> tabs_; // the report on tabs
};

} // namespace

lexed lex(const source& text) {
  return lexer{text}.run();
}

} // namespace shapescript
