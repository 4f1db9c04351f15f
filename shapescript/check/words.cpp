#include "shapescript/check/words.hpp"

#include <algorithm>
#include <iterator>

namespace shapescript {

namespace {

constexpr language_word table[] = {
#define WORD(name, role, form, text) {name, word_role::role, form, text},
#include "shapescript/check/words.def"
#undef WORD
};

bool ends_line(token_kind kind) noexcept {
  return kind == token_kind::newline || kind == token_kind::indent || kind == token_kind::dedent;
}

// The tokens of a program around one of them.
class neighbours {
public:
  neighbours(const module_info& in, size_t at) : in_(in), all_(in.program.tokens), at_(at) {
    // nop
  }

  token_kind kind(int step) const noexcept {
    const auto place = static_cast<int64_t>(at_) + step;
    if (place < 0 || place >= static_cast<int64_t>(all_.size())) return token_kind::end;
    return all_[static_cast<size_t>(place)].kind;
  }

  std::string_view text(int step) const noexcept {
    if (kind(step) != token_kind::name) return {};
    return in_.text.text(all_[at_ + static_cast<size_t>(step)].where);
  }

  // Whether the token that many before is the first of its line.
  bool first(int step) const noexcept {
    const auto place = static_cast<int64_t>(at_) + step;
    return place == 0 || (place > 0 && ends_line(kind(step - 1)));
  }

  bool at_margin(int step) const noexcept {
    const auto begin = all_[at_ + static_cast<size_t>(step)].where.begin;
    return first(step)
           && (begin == 0 || in_.text.text().substr(begin - 1, 1) == "\n"
               || (begin == 3 && in_.text.text().starts_with("\xEF\xBB\xBF")));
  }

private:
  const module_info& in_;
  const std::vector<token>& all_;
  size_t at_;
};

bool begins_declaration(std::string_view word, const neighbours& around) noexcept {
  if (!around.at_margin(0)) return false;
  if (word == "extern") return around.kind(1) == token_kind::kw_fn;
  return around.kind(1) == token_kind::name || around.kind(1) == token_kind::newline;
}

// Whether the word has its role at this place.
bool stands(const language_word& word, const neighbours& around) noexcept {
  const bool inner = around.kind(-1) == token_kind::dot;
  const bool named =
    around.kind(1) == token_kind::assign
    && (around.kind(-1) == token_kind::open_paren || around.kind(-1) == token_kind::comma);
  switch (word.role) {
    case word_role::keyword:
      return false; // those are tokens of their own
    case word_role::declaration:
      if (word.name == "python")
        return around.text(-1) == "import" && around.at_margin(-1)
               && (around.kind(1) == token_kind::name || around.kind(1) == token_kind::newline);
      return begins_declaration(word.name, around);
    case word_role::member:
      return around.first(0) && !around.at_margin(0) && around.kind(1) == token_kind::name
             && (around.kind(2) == token_kind::colon || around.kind(2) == token_kind::newline);
    case word_role::option:
      if (word.name == "params") return around.text(-1) == "shard" && around.first(-1);
      return around.first(0) && !around.at_margin(0) && around.kind(1) == token_kind::name;
    case word_role::device:
      return around.text(-1) == "devices" && around.at_margin(-1);
    case word_role::constant:
      return !inner && !named;
    default:
      return !inner && !named && around.kind(1) != token_kind::open_paren;
  }
}

} // namespace

std::span<const language_word> language_words() noexcept {
  return table;
}

const language_word* find_word(std::string_view name) noexcept {
  const auto place = std::lower_bound(
    std::begin(table), std::end(table), name,
    [](const language_word& one, std::string_view wanted) { return one.name < wanted; });
  return place != std::end(table) && place->name == name ? place : nullptr;
}

bool names_type(word_role role) noexcept {
  switch (role) {
    case word_role::scalar:
    case word_role::dtype:
    case word_role::refinement:
    case word_role::of_model:
    case word_role::of_record:
    case word_role::layer:
    case word_role::generator:
      return true;
    default:
      return false;
  }
}

const language_word* word_at(const module_info& in, size_t token) noexcept {
  const auto& one = in.program.tokens[token];
  const auto* word = find_word(in.text.text(one.where));
  if (word == nullptr) return nullptr;
  if (one.kind != token_kind::name) return one.kind == token_kind::string ? nullptr : word;
  return stands(*word, {in, token}) ? word : nullptr;
}

} // namespace shapescript
