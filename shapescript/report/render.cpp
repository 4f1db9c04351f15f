#include "shapescript/report/render.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "shapescript/report/render_line.hpp"

namespace shapescript {

namespace {

constexpr uint32_t width_max = 160; // of a shown source line; longer ones are cut
constexpr uint32_t before_label = 60;

// A label on one line, in display columns.
struct mark {
  uint32_t begin;
  uint32_t end;
  const label* what;
  bool text = true; // the label's text is written here
};

struct paint {
  bool on;
  severity level;

  std::string with(const char* code, std::string_view text) const {
    if (!on || text.empty()) return std::string{text};
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
  }
  std::string severe(std::string_view text) const {
    return with(level == severity::error ? "1;31" : "1;33", text);
  }
  std::string blue(std::string_view text) const {
    return with("1;34", text);
  }
  std::string bold(std::string_view text) const {
    return with("1", text);
  }
};

// Text at columns; later writes cover earlier ones. One style for each column.
class row {
public:
  void put(uint32_t column, std::string_view text, bool primary) {
    for (const char c : text) {
      if (cells_.size() <= column) cells_.resize(column + 1, {" ", false});
      cells_[column++] = {std::string{c}, primary};
    }
  }

  // Text of any characters, at the end of the row.
  void finish(uint32_t column, std::string_view text, bool primary) {
    cells_.resize(std::max<size_t>(cells_.size(), column), {" ", false});
    cells_.push_back({std::string{text}, primary});
  }

  std::string print(const paint& colors) const {
    std::string out;
    for (size_t i = 0; i < cells_.size();) {
      std::string run;
      size_t end = i;
      const bool primary = cells_[i].second;
      const bool space = cells_[i].first == " ";
      for (; end < cells_.size() && cells_[end].second == primary
             && (cells_[end].first == " ") == space;
           ++end)
        run += cells_[end].first;
      out += space ? run : primary ? colors.severe(run) : colors.blue(run);
      i = end;
    }
    return out;
  }

private:
  std::vector<std::pair<std::string, bool>> cells_;
};

class renderer {
public:
  renderer(const diagnostic& what, const source& text, bool color)
      : what_(what), text_(text), colors_{color, what.level} {
  }

  std::string run() {
    collect();
    header();
    uint32_t last = 0;
    for (const auto& [line, marks] : lines_) {
      if (last != 0 && line > last + 2)
        skipped(last);
      else if (last != 0 && line == last + 2)
        source_line(last + 1, {});
      source_line(line, marks);
      last = line;
    }
    notes();
    out_ +=
      fmt::format("\nFor more information about {0}, run `shapescript explain {0}`.\n", what_.code);
    return std::move(out_);
  }

private:
  // The labels by line. One label over several lines is drawn at the left margin; of further ones
  // the first and the last line are marked.
  void collect() {
    uint32_t last = 1;
    for (const auto& one : what_.labels) {
      const auto begin = text_.line_of(one.where.begin);
      const auto end = text_.line_of(std::max(one.where.begin, one.where.end));
      last = std::max({last, begin, end});
      const auto first_byte = byte_in_line(one.where.begin, begin);
      const auto end_byte = byte_in_line(one.where.end, end);
      if (begin == end) {
        lines_[begin].push_back({first_byte, end_byte, &one});
      } else if (margin_ == nullptr) {
        margin_ = &one;
        margin_begin_ = begin;
        margin_end_ = end;
        for (auto line = begin; line <= end; ++line)
          if (line < begin + 3 || line + 2 > end) lines_[line];
      } else {
        lines_[begin].push_back({first_byte, uint32_t(text_.line(begin).size()), &one, false});
        auto indent = text_.line(end).find_first_not_of(" \t");
        if (indent == std::string_view::npos) indent = 0;
        lines_[end].push_back({std::min(uint32_t(indent), end_byte), end_byte, &one});
      }
    }
    gutter_ = std::to_string(last).size();
  }

  // Whether nothing stands before the label of the margin on its first line.
  bool margin_at_indent() const {
    const auto line = text_.line(margin_begin_);
    const auto before = line.substr(0, byte_in_line(margin_->where.begin, margin_begin_));
    return before.find_first_not_of(" \t") == before.npos;
  }

  // What stands between the gutter and a source line, or a row below it.
  std::string margin(uint32_t line, bool is_source) const {
    if (margin_ == nullptr) return "";
    const bool inside = line > margin_begin_ && line <= margin_end_;
    if (line == margin_begin_ && margin_at_indent()) return bar(is_source ? "/ " : "| ");
    return inside ? bar("| ") : "  ";
  }

  std::string bar(std::string_view text) const {
    return margin_->primary ? colors_.severe(text) : colors_.blue(text);
  }

  // The row that leads from the margin to where its label begins, or to its end and its text.
  void margin_row(uint32_t number, const drawn_line& line) {
    if (margin_ == nullptr) return;
    const std::string caret = margin_->primary ? "^" : "-";
    const auto column = [&](uint32_t offset) {
      return line.columns[std::min<size_t>(byte_in_line(offset, number), line.columns.size() - 1)];
    };
    if (number == margin_begin_ && !margin_at_indent()) {
      row_below(bar(" " + std::string(column(margin_->where.begin) + 1, '_') + caret));
    } else if (number == margin_end_) {
      const auto end = column(margin_->where.end);
      const auto text = margin_->text.empty() ? "" : " " + margin_->text;
      row_below(bar("|" + std::string(std::max(end, 1u), '_') + caret + text));
    }
  }

  void row_below(std::string_view text) {
    out_ += std::string(gutter_ + 1, ' ') + colors_.blue("|") + " " + std::string{text} + "\n";
  }

  uint32_t byte_in_line(uint32_t offset, uint32_t line) const {
    const auto text = text_.line(line);
    const auto begin = static_cast<size_t>(text.data() - text_.text().data());
    return offset < begin ? 0 : uint32_t(std::min(offset - begin, text.size()));
  }

  void header() {
    const auto* word = what_.level == severity::error ? "error" : "warning";
    out_ += colors_.severe(fmt::format("{}[{}]", word, what_.code))
            + colors_.bold(": " + what_.message) + "\n";
    const auto at = text_.position_of(what_.primary().where.begin);
    out_ += std::string(gutter_, ' ') + colors_.blue("-->")
            + fmt::format(" {}:{}:{}\n", text_.name(), at.line, at.column);
    bare();
  }

  void bare() {
    out_ += std::string(gutter_ + 1, ' ') + colors_.blue("|") + "\n";
  }

  void below(const row& one) {
    row_below(margin(line_, false) + one.print(colors_));
  }

  void skipped(uint32_t last) {
    const bool inside = margin_ != nullptr && last >= margin_begin_ && last < margin_end_;
    out_ += colors_.blue("...") + (inside ? std::string(gutter_, ' ') + bar("|") : "") + "\n";
  }

  // Of a huge line the bytes around the first label; the marks count from there.
  static std::string_view part_around(std::string_view line, std::vector<mark>& marks) {
    constexpr uint32_t bytes_before = 512;
    constexpr size_t bytes_kept = 4'096;
    if (line.size() <= 2 * bytes_kept || marks.empty()) return line;
    uint32_t first = marks[0].begin;
    for (const auto& one : marks) first = std::min(first, one.begin);
    uint32_t skipped = first > bytes_before ? first - bytes_before : 0;
    const auto inside = [&](size_t i) {
      return i < line.size() && (static_cast<unsigned char>(line[i]) & 0xC0) == 0x80;
    };
    while (inside(skipped)) ++skipped;
    size_t end = std::min(line.size(), skipped + bytes_kept);
    while (inside(end)) ++end;
    const auto part = line.substr(skipped, end - skipped);
    for (auto& one : marks) {
      one.begin = std::min(one.begin - skipped, uint32_t(part.size()));
      one.end = std::min(one.end - skipped, uint32_t(part.size()));
    }
    return part;
  }

  void source_line(uint32_t number, std::vector<mark> marks) {
    drawn_line line{part_around(text_.line(number), marks)};
    if (line.width() > width_max) {
      uint32_t first = line.width();
      for (const auto& one : marks) first = std::min(first, line.columns[one.begin]);
      const auto begin = first > before_label ? first - before_label : 0;
      line.cut(begin, begin + width_max);
    }
    line_ = number;
    const auto shown = margin(number, true) + line.shown;
    out_ += colors_.blue(fmt::format("{:>{}} |", number, gutter_)) + (shown.empty() ? "" : " ")
            + shown + "\n";
    for (auto& one : marks) {
      one.begin = line.columns[one.begin];
      one.end = std::max(line.columns[one.end], one.begin + 1);
    }
    std::stable_sort(marks.begin(), marks.end(),
                     [](const mark& x, const mark& y) { return x.begin < y.begin; });
    if (!marks.empty()) underline(marks);
    margin_row(number, line);
  }

  // The row of carets and dashes with the rightmost text, then the other texts hung from bars.
  void underline(const std::vector<mark>& marks) {
    row under;
    for (const bool primary : {false, true})
      for (const auto& one : marks)
        if (one.what->primary == primary)
          under.put(one.begin, std::string(one.end - one.begin, primary ? '^' : '-'), primary);
    std::vector<mark> hung;
    for (const auto& one : marks)
      if (one.text && !one.what->text.empty()) hung.push_back(one);
    uint32_t end = 0;
    for (const auto& one : marks) end = std::max(end, one.end);
    const bool inline_text =
      !hung.empty() && hung.back().end == end
      && std::none_of(hung.begin(), std::prev(hung.end()),
                      [&](const mark& one) { return one.end > hung.back().begin; });
    if (inline_text) {
      under.finish(end + 1, hung.back().what->text, hung.back().what->primary);
      hung.pop_back();
    }
    below(under);
    if (hung.empty()) return;
    row bars;
    for (const auto& one : hung) bars.put(one.begin, "|", one.what->primary);
    below(bars);
    while (!hung.empty()) {
      row text;
      const auto last = hung.back();
      hung.pop_back();
      for (const auto& one : hung)
        if (one.begin < last.begin) text.put(one.begin, "|", one.what->primary);
      text.finish(last.begin, last.what->text, last.what->primary);
      below(text);
    }
  }

  void notes() {
    if (what_.notes.empty() && what_.help.empty()) return;
    bare();
    const auto each = [this](const char* kind, const std::vector<std::string>& all) {
      for (const auto& one : all)
        out_ += std::string(gutter_ + 1, ' ') + colors_.blue("=") + " " + colors_.bold(kind) + ": "
                + one + "\n";
    };
    each("note", what_.notes);
    each("help", what_.help);
  }

  const diagnostic& what_;
  const source& text_;
  paint colors_;
  std::map<uint32_t, std::vector<mark>> lines_;
  size_t gutter_ = 1;
  const label* margin_ = nullptr; // the label over several lines
  uint32_t margin_begin_ = 0;
  uint32_t margin_end_ = 0;
  uint32_t line_ = 0; // the source line drawn last
  std::string out_;
};

std::string counted(size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

} // namespace

std::string render_text(const diagnostic& what, const source& text, bool color) {
  return renderer{what, text, color}.run();
}

std::string render_text(std::span<const diagnostic> all, const source& text, bool color) {
  std::string out;
  for (const auto& one : all) {
    if (!out.empty()) out += '\n';
    out += render_text(one, text, color);
  }
  if (all.size() < 2) return out;
  const auto errors = static_cast<size_t>(std::count_if(
    all.begin(), all.end(), [](const diagnostic& d) { return d.level == severity::error; }));
  const paint colors{color, errors > 0 ? severity::error : severity::warning};
  std::string counts;
  if (errors > 0) counts = counted(errors, "error");
  if (errors < all.size())
    counts += (counts.empty() ? "" : ", ") + counted(all.size() - errors, "warning");
  if (all.size() >= reports_max)
    counts += fmt::format("; only the first {} are given", reports_max);
  out += "\n";
  if (errors > 0)
    out += colors.severe("error") + fmt::format(": could not check {}: {}\n", text.name(), counts);
  else
    out += colors.severe("warning") + fmt::format(": checked {}: {}\n", text.name(), counts);
  return out;
}

} // namespace shapescript
