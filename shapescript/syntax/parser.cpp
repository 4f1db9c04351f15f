#include "shapescript/syntax/parser.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace shapescript {

parser::parser(const source& text, lexed tokens) : text_(text), tokens_(std::move(tokens.tokens)) {
  out_.comments = std::move(tokens.comments);
  out_.diagnostics = std::move(tokens.diagnostics);
  for (const auto& one : out_.diagnostics) lexer_reports_.push_back(one.primary().where.begin);
  std::sort(lexer_reports_.begin(), lexer_reports_.end());
}

parsed parser::run() {
  while (peek() != token_kind::end) {
    const auto before = at_;
    quiet_ = false;
    const bool strange = !begins_declaration();
    const bool of_block = strange || here().misplaced || takes_self();
    if (of_block) doubt_last_block();
    // Lines deeper than any block: the head of a declaration was here.
    if (strange && here().misplaced) out_.nameless = true;
    declaration();
    if (failed_ && strange && at_ == before)
      recover_run(false);
    else if (failed_)
      recover();
    if (at_ == before) ++at_; // every round takes at least one token
  }
  drop_consequences();
  out_.tokens = std::move(tokens_);
  return std::move(out_);
}

// -- tokens --------------------------------------------------------------------

token_kind parser::peek(size_t ahead) const {
  if (failed_) return token_kind::bad;
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)].kind;
}

const token& parser::here() const {
  return tokens_[std::min(at_, tokens_.size() - 1)];
}

std::string_view parser::word(size_t ahead) const {
  if (peek(ahead) != token_kind::name) return {};
  return text_.text(tokens_[at_ + ahead].where);
}

bool parser::is_word(std::string_view text, size_t ahead) const {
  return word(ahead) == text;
}

bool parser::accept(token_kind kind) {
  if (peek() != kind) return false;
  ++at_;
  return true;
}

span parser::previous() const {
  return at_ == 0 ? span{} : tokens_[at_ - 1].where;
}

span parser::expect(token_kind kind, std::string_view what) {
  if (accept(kind)) return previous();
  unexpected(what.empty() ? describe(kind) : what);
  return here().where;
}

void parser::fail(const char* code, span where, std::string message, std::string label) {
  if (failed_) return;
  failed_ = true;
  if (out_.diagnostics.size() >= 2 * reports_max || quiet_ || here().misplaced) return;
  if (lexer_saw_it()) return;
  diagnostic d;
  d.code = code;
  d.message = std::move(message);
  d.labels.push_back({where, std::move(label), true});
  out_.diagnostics.push_back(std::move(d));
}

// Whether the lexer reported something in this logical line: that explains what is wrong here.
bool parser::lexer_saw_it() const {
  const auto begin = tokens_[line_of(at_)].where.begin;
  auto last = std::min(at_, tokens_.size() - 1);
  while (last + 1 < tokens_.size() && tokens_[last].kind != token_kind::newline) ++last;
  const auto end = tokens_[last].where.end;
  const auto place = std::lower_bound(lexer_reports_.begin(), lexer_reports_.end(), begin);
  if (place != lexer_reports_.end() && *place <= end) return true;
  for (auto i = at_; i < last; ++i)
    if (tokens_[i].kind == token_kind::bad) return true;
  return false;
}

void parser::unexpected(std::string_view wanted) {
  const auto& found = here();
  std::string seen{describe(found.kind)};
  if (found.kind >= token_kind::name && found.kind <= token_kind::string)
    seen = fmt::format("`{}`", text_.text(found.where));
  const auto reports = out_.diagnostics.size();
  fail("E0110", found.where, fmt::format("expected {}, found {}", wanted, seen),
       fmt::format("expected {}", wanted));
  if (out_.diagnostics.size() > reports) give_help(wanted);
}

bool parser::too_deep(int depth, span where) {
  if (depth <= nesting_max) return false;
  fail("E0115", where, fmt::format("nested more than {} levels deep", nesting_max),
       "the innermost level that fits");
  return true;
}

void parser::end_of_line(std::string_view wanted) {
  if (!accept(token_kind::newline)) unexpected(wanted);
}

bool parser::open_block(std::string_view owner) {
  if (!accept(token_kind::colon)) {
    unexpected("`:`");
    // The block may be there all the same; what is in it is read.
    if (here().kind == token_kind::newline && at_ + 1 < tokens_.size()
        && tokens_[at_ + 1].kind == token_kind::indent) {
      failed_ = false;
      at_ += 2;
      return true;
    }
    return false;
  }
  if (!accept(token_kind::newline)) {
    unexpected("a new line");
    return false;
  }
  if (accept(token_kind::indent)) return true;
  const auto where = here().where;
  const span first{where.begin, std::max(where.end, where.begin)};
  fail("E0111", first, fmt::format("{} has no block", owner), "expected an indented line here");
  failed_ = false;
  // What its line names may be meant for the block.
  out_.skipped.push_back({tokens_[line_of(at_ - 2)].where.begin, where.begin});
  return false;
}

void parser::close_block() {
  accept(token_kind::dedent);
}

parsed parse(const source& text) {
  return parser{text, lex(text)}.run();
}

} // namespace shapescript
