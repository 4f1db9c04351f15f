#include "shapescript/syntax/format.hpp"

#include <algorithm>
#include <vector>

namespace shapescript {

namespace {

enum class column_kind : uint8_t { none, dim, field };

struct out_line {
  size_t indent = 0;
  std::string code;
  std::string note;  // a comment at its end
  size_t column = 0; // where `column_kind` is padded
  column_kind align = column_kind::none;
  bool block_declaration = false; // first line of fn, model, data
  bool blank_before = false;
  bool alone = false; // a comment on a line of its own
};

// Byte ranges, sorted and disjoint: where operators stand without spaces.
class ranges {
public:
  void add(span where) {
    all_.push_back(where);
  }

  void finish() {
    std::sort(all_.begin(), all_.end(), [](span x, span y) {
      return x.begin != y.begin ? x.begin < y.begin : x.end > y.end;
    });
    std::vector<span> merged;
    for (const auto one : all_)
      if (merged.empty() || one.begin >= merged.back().end) merged.push_back(one);
    all_ = std::move(merged);
  }

  bool contains(uint32_t at) const {
    const auto next = std::upper_bound(all_.begin(), all_.end(), at,
                                       [](uint32_t x, span y) { return x < y.begin; });
    return next != all_.begin() && at < std::prev(next)->end;
  }

private:
  std::vector<span> all_;
};

bool ends_operand(token_kind kind) {
  switch (kind) {
    case token_kind::name:
    case token_kind::integer:
    case token_kind::decimal:
    case token_kind::string:
    case token_kind::kw_true:
    case token_kind::kw_false:
    case token_kind::close_paren:
    case token_kind::close_bracket:
      return true;
    default:
      return false;
  }
}

class formatter {
public:
  formatter(const source& text, const parsed& program) : text_(text), program_(program) {
    // What stands before a type, as in `3 * Block`, is no part of it.
    for (const auto& type : program.program.types)
      if (type.where.end > type.where.begin + 1) tight_.add({type.where.begin + 1, type.where.end});
    for (const auto& node : program.program.exprs)
      if (node.kind == expr_kind::index && node.axes) tight_.add({node.name.begin, node.where.end});
    tight_.finish();
  }

  std::string run() {
    for (size_t i = 0; i < program_.tokens.size(); ++i) {
      const auto& one = program_.tokens[i];
      comments_before(i);
      if (one.kind == token_kind::indent) {
        levels_.push_back(text_.position_of(one.where.end).column);
      } else if (one.kind == token_kind::dedent) {
        if (levels_.size() > 1) levels_.pop_back();
      } else if (one.kind == token_kind::newline) {
        first_in_logical_ = true;
      } else if (one.kind != token_kind::end) {
        place(i);
      }
    }
    separate();
    align_columns();
    align_notes();
    return print();
  }

private:
  const token& at(size_t i) const {
    return program_.tokens[i];
  }

  uint32_t line_of(uint32_t offset) const {
    return text_.line_of(offset);
  }

  out_line& new_line(uint32_t source_line, size_t indent) {
    out_line line;
    line.indent = indent;
    line.blank_before = !lines_.empty() && source_line > last_line_ + 1;
    lines_.push_back(std::move(line));
    return lines_.back();
  }

  // The comments that stand before token `i`.
  void comments_before(size_t i) {
    const auto& comments = program_.comments;
    for (; next_comment_ < comments.size(); ++next_comment_) {
      const auto& one = comments[next_comment_];
      if (one.where.begin >= at(i).where.begin && at(i).kind != token_kind::end) break;
      const auto line = line_of(one.where.begin);
      if (!one.alone && !lines_.empty()) {
        lines_.back().note = text_.text(one.where);
        continue;
      }
      auto& out = new_line(line, comment_indent(i, one));
      out.code = text_.text(one.where);
      out.alone = true;
      last_line_ = line;
    }
  }

  // A comment goes with the line after it, or with the block before if it is indented like it.
  size_t comment_indent(size_t i, const comment& one) const {
    if (!brackets_.empty() || !first_in_logical_)
      return (levels_.size() - 1 + brackets_.size() + (brackets_.empty() ? 1 : 0)) * 4;
    const auto column = text_.position_of(one.where.begin).column;
    size_t level = levels_.size() - 1;
    if (at(i).kind == token_kind::indent) return (level + 1) * 4;
    for (size_t k = i; at(k).kind == token_kind::dedent && level > 0; ++k) {
      if (column >= levels_[level]) break;
      --level;
    }
    return level * 4;
  }

  void place(size_t i) {
    const auto& one = at(i);
    const auto line = line_of(one.where.begin);
    const bool closes =
      one.kind == token_kind::close_paren || one.kind == token_kind::close_bracket;
    if (first_in_logical_ || line != last_line_) {
      size_t depth = levels_.size() - 1;
      if (!first_in_logical_) {
        depth += brackets_.size() - (closes && !brackets_.empty() ? 1 : 0);
        depth += piped_ || one.kind == token_kind::pipe ? 1 : 0;
        piped_ |= brackets_.empty() && one.kind == token_kind::pipe;
      } else {
        piped_ = false;
      }
      auto& out = new_line(line, depth * 4);
      if (first_in_logical_) mark(out, i);
      first_in_logical_ = false;
    } else if (space_before(i)) {
      lines_.back().code += ' ';
    }
    auto& out = lines_.back();
    if (out.align == column_kind::dim && one.kind == token_kind::assign && out.column == 0)
      out.column = out.code.size();
    out.code += text_.text(one.where);
    if (out.align == column_kind::field && one.kind == token_kind::colon && out.column == 0)
      out.column = out.code.size() + 1;
    if (one.kind == token_kind::open_paren || one.kind == token_kind::open_bracket)
      brackets_.push_back(one.arrow_inside || one.kind == token_kind::open_bracket);
    if (closes && !brackets_.empty()) brackets_.pop_back();
    last_line_ = line;
  }

  // What the first line of a logical line is, for blank lines and columns.
  void mark(out_line& out, size_t i) {
    const auto word = text_.text(at(i).where);
    const bool top = levels_.size() == 1;
    if (top) in_data_ = word == "data";
    out.block_declaration = (top && (word == "fn" || word == "model" || word == "data"));
    if (top && word == "dim") out.align = column_kind::dim;
    if (!top && in_data_) out.align = column_kind::field;
  }

  bool space_before(size_t i) const {
    const auto before = at(i - 1).kind;
    const auto kind = at(i).kind;
    const bool tight = tight_.contains(at(i).where.begin);
    const bool gap = at(i).where.begin > at(i - 1).where.end;
    switch (before) {
      case token_kind::open_paren:
      case token_kind::open_bracket:
      case token_kind::dot:
      case token_kind::range:
      case token_kind::bang:
        return false;
      default:
        break;
    }
    switch (kind) {
      case token_kind::close_paren:
      case token_kind::close_bracket:
      case token_kind::comma:
      case token_kind::colon:
      case token_kind::dot:
        return false;
      case token_kind::range:
        return before == token_kind::comma;
      case token_kind::open_paren:
        if (!ends_operand(before)) break;
        if (tight) return true;
        return gap && !brackets_.empty() && brackets_.back();
      case token_kind::open_bracket:
        if (before == token_kind::name) return false;
        if (before == token_kind::close_bracket || before == token_kind::close_paren) return false;
        break;
      case token_kind::assign:
        return !named_argument(i);
      default:
        break;
    }
    if (before == token_kind::assign) return !named_argument(i - 1);
    if (is_unary(i - 1)) return false;
    if (tight && (is_operator(kind) || is_operator(before))) return false;
    return true;
  }

  static bool is_operator(token_kind kind) {
    return kind == token_kind::plus || kind == token_kind::minus || kind == token_kind::times
           || kind == token_kind::divide;
  }

  bool is_unary(size_t i) const {
    return at(i).kind == token_kind::minus && (i == 0 || !ends_operand(at(i - 1).kind));
  }

  // `name=` in a call, not the default of a parameter or an assignment.
  bool named_argument(size_t i) const {
    if (brackets_.empty() || i < 2 || at(i - 1).kind != token_kind::name) return false;
    const auto kind = at(i - 2).kind;
    return kind == token_kind::open_paren || kind == token_kind::open_bracket
           || kind == token_kind::comma;
  }

  // One empty line around each block of declarations; none at the start of a block.
  void separate() {
    bool after_block = false;
    size_t group = 0; // the first of the comments straight above
    for (size_t i = 0; i < lines_.size(); ++i) {
      auto& line = lines_[i];
      if (i > 0 && line.indent > lines_[i - 1].indent) line.blank_before = false;
      if (line.indent != 0) {
        group = i + 1;
        continue;
      }
      if (line.blank_before || group > i) group = i;
      if (line.alone && !(i + 1 < lines_.size() && lines_[i + 1].indent != 0)) {
        if (after_block && group == i && i > 0) line.blank_before = true;
        continue;
      }
      const bool closing = !line.code.empty() && line.code.front() == ')';
      if ((line.block_declaration || (after_block && group == i)) && group > 0 && !closing)
        lines_[group].blank_before = true;
      if (!closing) after_block = line.block_declaration;
      group = i + 1;
    }
  }

  void align_columns() {
    for (size_t i = 0; i < lines_.size();) {
      size_t end = i + 1;
      if (lines_[i].align != column_kind::none && lines_[i].column > 0) {
        size_t widest = lines_[i].column;
        for (; end < lines_.size() && lines_[end].align == lines_[i].align && lines_[end].column > 0
               && !lines_[end].blank_before && lines_[end].indent == lines_[i].indent;
             ++end)
          widest = std::max(widest, lines_[end].column);
        for (size_t k = i; k < end; ++k)
          lines_[k].code.insert(lines_[k].column, widest - lines_[k].column, ' ');
      }
      i = end;
    }
  }

  static size_t width(const out_line& line) {
    const auto starts = std::count_if(line.code.begin(), line.code.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    });
    return line.indent + static_cast<size_t>(starts);
  }

  void align_notes() {
    for (size_t i = 0; i < lines_.size();) {
      size_t end = i;
      size_t widest = 0;
      for (; end < lines_.size() && !lines_[end].note.empty()
             && (end == i || !lines_[end].blank_before);
           ++end)
        widest = std::max(widest, width(lines_[end]));
      for (size_t k = i; k < end; ++k)
        lines_[k].code += std::string(widest + 2 - width(lines_[k]), ' ') + lines_[k].note;
      i = std::max(end, i + 1);
    }
  }

  std::string print() const {
    std::string out;
    for (const auto& line : lines_) {
      if (line.blank_before) out += '\n';
      out.append(line.indent, ' ');
      out += line.code;
      out += '\n';
    }
    return out;
  }

  const source& text_;
  const parsed& program_;
  ranges tight_;
  std::vector<out_line> lines_;
  std::vector<uint32_t> levels_{1}; // the source columns of the open blocks
  std::vector<bool> brackets_;      // whether a `(` after a name is a group of its own there
  size_t next_comment_ = 0;
  uint32_t last_line_ = 0;
  bool first_in_logical_ = true;
  bool piped_ = false;
  bool in_data_ = false;
};

} // namespace

std::optional<std::string> format(const source& text, const parsed& program) {
  if (!program.diagnostics.empty()) return std::nullopt;
  return formatter{text, program}.run();
}

} // namespace shapescript
