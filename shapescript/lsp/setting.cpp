#include "shapescript/lsp/setting.hpp"

#include "shapescript/check/builtins.hpp"
#include "shapescript/check/words.hpp"

namespace shapescript::lsp {

namespace {

using k = token_kind;

// What a bracket holds.
enum class holds : uint8_t {
  parameters, // of a function that is declared
  types,      // its results, or the parameters of a function's type
  axes,       // of a tensor type
  named,      // of a type's name: `AdamW[`
  sizes,      // of a constructor or model: `zeros[`
  index,      // of a value
  call,
  group, // parentheses or a list
};

struct frame {
  holds what;
  size_t token;
  wanted inside;     // what follows the bracket and its commas
  bool cast = false; // the type is one that a value is cast to
  bool is_for_patterns = false;
};

bool is_type_place(wanted what) noexcept {
  switch (what) {
    case wanted::type:
    case wanted::element:
    case wanted::refinement:
    case wanted::cast:
    case wanted::record:
    case wanted::model:
    case wanted::layer:
      return true;
    default:
      return false;
  }
}

// Reads a line from its begin, and knows after each token what may follow.
class line_reader {
public:
  line_reader(const view& of, setting& out, wanted begin, bool in_data)
      : of_(of), out_(out), now_(begin), begin_(begin), in_data_(in_data) {
    first_ = first_word(of, out.line.first);
    in_header_ = first_ == "fn" || (first_ == "extern" && begin == wanted::declaration);
    is_member_ = begin == wanted::member && !in_header_;
  }

  void run() {
    for (size_t i = out_.line.first; i < out_.line.end; ++i) take(i, kind_at(i));
    out_.what = now_;
    out_.after_dot = kind_at(out_.line.end - 1) == k::dot;
    out_.in_type = names_type_;
    if (!open_.empty()) out_.bracket = open_.back().token;
    for (const auto& one : open_) out_.in_patterns |= one.is_for_patterns;
  }

private:
  k kind_at(size_t i) const {
    return of_.file().program.tokens[i].kind;
  }
  std::string_view text(size_t i) const {
    return of_.at(of_.file().program.tokens[i].where);
  }
  k before(size_t i, size_t back = 1) const {
    return i < out_.line.first + back ? k::end : kind_at(i - back);
  }
  bool inside(holds what) const {
    return !open_.empty() && open_.back().what == what;
  }
  bool in_patterns() const {
    return !open_.empty() && open_.back().is_for_patterns;
  }

  void take(size_t i, k kind) {
    const bool goes_on = kind == k::name || kind == k::dot || kind == k::open_bracket;
    const bool named = names_type_;
    if (!goes_on) names_type_ = false;
    switch (kind) {
      case k::name:
        return name(i);
      case k::open_paren:
        return open_paren(i);
      case k::open_bracket:
        names_type_ = false;
        return open_bracket(i, named);
      case k::close_paren:
      case k::close_bracket:
        return close();
      case k::comma:
        return comma();
      case k::colon:
        return colon();
      case k::arrow:
        return arrow();
      case k::assign:
        return assign();
      case k::dot:
        if (first_ == "import") now_ = imports_;
        return;
      case k::integer:
      case k::decimal:
      case k::string:
      case k::kw_true:
      case k::kw_false:
        return literal();
      default:
        return kind >= k::kw_fn && kind <= k::kw_as ? keyword(kind) : operation(kind);
    }
  }

  // -- brackets ----------------------------------------------------------------

  void push(holds what, size_t i, wanted inside) {
    open_.push_back({what, i, inside});
    now_ = inside;
  }

  void open_paren(size_t i) {
    if (in_header_ && open_.empty() && !has_parameters_) {
      has_parameters_ = true;
      return push(holds::parameters, i, wanted::parameter);
    }
    if (now_ == wanted::layer) return push(holds::group, i, wanted::size);
    if (is_type_place(now_)) {
      const bool casts = now_ == wanted::cast;
      push(holds::types, i, wanted::type);
      open_.back().cast = casts;
      return;
    }
    if (now_ != wanted::operation)
      return push(holds::group, i,
                  now_ == wanted::size || now_ == wanted::pattern ? now_ : wanted::value);
    push(holds::call, i, wanted::argument);
    const auto* what =
      before(i) == k::name && before(i, 2) != k::dot ? find_builtin(text(i - 1)) : nullptr;
    // In a pipeline the value comes before, and patterns begin at once.
    if (what != nullptr && what->how == rule::pattern && before(i, 2) == k::pipe) patterns();
  }

  void patterns() {
    open_.back().is_for_patterns = true;
    now_ = open_.back().inside = wanted::pattern;
  }

  void open_bracket(size_t i, bool named) {
    const bool casts = now_ == wanted::cast || (named && casts_);
    if (now_ == wanted::nothing && !named) return push(holds::index, i, wanted::nothing);
    if (named) {
      push(holds::named, i, argument_of(i - 1));
    } else if (is_type_place(now_)) {
      push(holds::axes, i, wanted::size);
    } else if (now_ == wanted::operation) {
      const bool sizes = before(i) == k::name && takes_sizes(i - 1);
      push(sizes ? holds::sizes : holds::index, i, sizes ? wanted::size : wanted::index);
    } else {
      push(holds::group, i, wanted::value);
    }
    open_.back().cast = casts;
  }

  // What stands in the brackets of a type's name.
  wanted argument_of(size_t i) const {
    const auto* word = before(i) == k::dot ? nullptr : find_word(text(i));
    if (word != nullptr && word->role == word_role::of_model) return wanted::model;
    if (word != nullptr && word->role == word_role::of_record) return wanted::record;
    return wanted::size;
  }

  // `zeros[`, `Lin[`, `lib.Lin[`
  bool takes_sizes(size_t i) const {
    const auto* names = &of_.file().names;
    if (before(i) == k::dot) {
      const auto file = before(i, 2) == k::name ? names->find(text(i - 2)) : names->end();
      if (file == names->end() || file->second.kind != entity::file
          || file->second.index >= of_.all().modules.size())
        return false;
      names = &of_.all().modules[file->second.index]->names;
    }
    if (const auto place = names->find(text(i)); place != names->end())
      return place->second.kind == entity::model;
    const auto* what = before(i) == k::dot ? nullptr : find_builtin(text(i));
    return what != nullptr && (what->how == rule::construct || what->how == rule::initialise);
  }

  void close() {
    if (open_.empty()) return;
    const auto last = open_.back();
    open_.pop_back();
    switch (last.what) {
      case holds::axes:
        now_ = wanted::element;
        casts_ = last.cast;
        return;
      case holds::parameters:
        now_ = wanted::nothing;
        return;
      case holds::types:
      case holds::named:
        now_ = last.cast ? wanted::operation : wanted::nothing;
        return;
      case holds::group:
        now_ = last.inside == wanted::value ? wanted::operation : last.inside;
        return;
      default:
        now_ = first_ == "devices" || first_ == "model" ? wanted::nothing : wanted::operation;
    }
  }

  // -- signs -------------------------------------------------------------------

  void comma() {
    if (!open_.empty())
      now_ = open_.back().inside;
    else
      now_ = now_ == wanted::in ? wanted::nothing : wanted::value;
  }

  void colon() {
    if (inside(holds::call)) return patterns();
    const bool typed = inside(holds::parameters) || (is_member_ && open_.empty()) || in_data_
                       || (begin_ == wanted::statement && words_ == 1 && open_.empty()
                           && kind_at(out_.line.first) == k::name);
    now_ = !typed                            ? wanted::nothing
           : is_member_ && first_ == "layer" ? wanted::layer
                                             : wanted::type;
    casts_ = false;
  }

  void arrow() {
    if (inside(holds::call)) return patterns();
    now_ = wanted::type;
  }

  void assign() {
    if (!open_.empty() || !(is_member_ || in_header_ || first_ == "dim"))
      now_ = wanted::value;
    else
      now_ = is_member_ ? wanted::initialiser : in_header_ ? wanted::nothing : wanted::size;
  }

  void operation(k kind) {
    if (kind == k::pipe) {
      now_ = wanted::stage;
    } else if (first_ == "layer" && is_member_ && open_.empty()) {
      now_ = wanted::layer; // `N * Block`
    } else if (now_ != wanted::size && now_ != wanted::pattern && kind != k::bad) {
      now_ = wanted::value;
    }
  }

  // -- words -------------------------------------------------------------------

  void keyword(k kind) {
    switch (kind) {
      case k::kw_as:
        now_ = first_ == "import" ? wanted::nothing : wanted::cast;
        casts_ = true;
        return;
      case k::kw_mut:
        now_ = inside(holds::parameters) ? wanted::parameter : wanted::changed;
        return;
      case k::kw_fn:
        if (!is_type_place(now_)) now_ = wanted::nothing;
        return;
      case k::kw_for:
        now_ = wanted::nothing;
        in_loop_ = true;
        return;
      case k::kw_in:
      case k::kw_while:
      case k::kw_if:
      case k::kw_elif:
      case k::kw_return:
      case k::kw_and:
      case k::kw_or:
      case k::kw_not:
        in_loop_ = false;
        now_ = wanted::value;
        return;
      default:
        now_ = wanted::nothing; // a line of one word
    }
  }

  void name(size_t i) {
    ++words_;
    if (before(i) == k::dot) {
      if (first_ == "import") now_ = wanted::imported;
      return;
    }
    names_type_ = is_type_place(now_);
    switch (now_) {
      case wanted::cast:
        now_ = wanted::operation;
        return;
      case wanted::element:
        now_ = dtype_named(text(i)) ? wanted::refinement : wanted::nothing;
        return;
      case wanted::size:
        if (inside(holds::axes) || inside(holds::named)) note_axis(i);
        return;
      case wanted::pattern:
        return note_axis(i);
      case wanted::split:
        return;
      case wanted::import:
        imports_ = text(i) == "python" ? wanted::module : wanted::import;
        now_ = imports_ == wanted::module ? wanted::module : wanted::imported;
        return;
      case wanted::module:
        now_ = wanted::imported;
        return;
      case wanted::value:
      case wanted::changed:
      case wanted::stage:
      case wanted::argument:
      case wanted::index:
      case wanted::initialiser:
      case wanted::operation:
      case wanted::statement:
        now_ = wanted::operation;
        return;
      default:
        now_ = in_loop_ && open_.empty() ? wanted::in : after_first(i);
    }
  }

  // After the word that a declaration, member or option begins with.
  wanted after_first(size_t i) const {
    if (i != out_.line.first) return wanted::nothing;
    if (begin_ == wanted::declaration)
      return first_ == "devices"  ? wanted::device
             : first_ == "import" ? wanted::import
             : first_ == "extern" ? wanted::fn
                                  : wanted::nothing;
    if (begin_ == wanted::option)
      return first_ == "shard"   ? wanted::share
             : first_ == "split" ? wanted::split
                                 : wanted::nothing;
    return wanted::nothing;
  }

  // A small name, which may be an axis.
  void note_axis(size_t i) {
    const char c = text(i).front();
    if (before(i) != k::dot && (c == '_' || (c >= 'a' && c <= 'z')))
      out_.axes.push_back(of_.file().program.tokens[i].where);
  }

  void literal() {
    ++words_;
    if (now_ != wanted::size && now_ != wanted::pattern && now_ != wanted::nothing
        && now_ != wanted::layer)
      now_ = wanted::operation;
  }

  const view& of_;
  setting& out_;
  wanted now_;
  wanted begin_;
  std::string_view first_;
  std::vector<frame> open_;
  wanted imports_ = wanted::import;
  size_t words_ = 0;
  bool in_data_;
  bool in_header_ = false;
  bool is_member_ = false;
  bool has_parameters_ = false;
  bool names_type_ = false; // the last word is a type's name
  bool casts_ = false;      // the type is one that a value is cast to
  bool in_loop_ = false;    // between `for` and `in`
};

} // namespace

std::string_view first_word(const view& of, size_t first) {
  const auto& all = of.file().program.tokens;
  if (first >= all.size()) return {};
  const auto kind = all[first].kind;
  const bool word = kind == k::name || (kind >= k::kw_fn && kind <= k::kw_false);
  return word ? of.at(all[first].where) : std::string_view{};
}

setting setting_at(const view& of, uint32_t offset) {
  setting out;
  out.line = line_before(of, offset);
  out.headers = headers_around(of, offset);
  auto begin = wanted::declaration;
  bool in_data = false;
  if (!out.headers.empty()) {
    const auto word = first_word(of, out.headers.front());
    in_data = word == "data" && out.headers.size() == 1;
    begin = word == "devices"                              ? wanted::option
            : word == "model" && out.headers.size() == 1   ? wanted::member
            : in_data || word == "dim" || word == "import" ? wanted::nothing
                                                           : wanted::statement;
  }
  if (out.line.empty()) {
    out.what = begin;
    if (begin == wanted::declaration && indentation_of(of, offset) > 0) out.what = wanted::nothing;
    return out;
  }
  line_reader{of, out, begin, in_data}.run();
  return out;
}

} // namespace shapescript::lsp
