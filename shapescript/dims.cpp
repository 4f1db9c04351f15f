#include "shapescript/dims.hpp"

#include <algorithm>

namespace shapescript {

size_form::size_form(int64_t number) {
  if (number != 0) terms_.push_back({{}, number});
}

size_form size_form::of(symbol one) {
  size_form result;
  result.terms_.push_back({{one}, 1});
  return result;
}

std::optional<int64_t> size_form::number() const {
  if (too_large_) return std::nullopt;
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_[0].symbols.empty()) return terms_[0].factor;
  return std::nullopt;
}

std::optional<symbol> size_form::lone() const {
  if (too_large_ || terms_.size() != 1) return std::nullopt;
  const auto& only = terms_[0];
  if (only.factor != 1 || only.symbols.size() != 1) return std::nullopt;
  return only.symbols[0];
}

void size_form::add(product term) {
  if (term.factor == 0) return;
  const auto place =
    std::lower_bound(terms_.begin(), terms_.end(), term,
                     [](const product& x, const product& y) { return x.symbols < y.symbols; });
  if (place == terms_.end() || place->symbols != term.symbols) {
    if (terms_.size() == terms_max || term.symbols.size() > terms_max)
      too_large_ = true;
    else
      terms_.insert(place, std::move(term));
    return;
  }
  if (__builtin_add_overflow(place->factor, term.factor, &place->factor)) too_large_ = true;
  if (place->factor == 0) terms_.erase(place);
}

size_form operator+(const size_form& x, const size_form& y) {
  size_form result = x;
  result.too_large_ |= y.too_large_;
  for (const auto& term : y.terms_) result.add(term);
  return result;
}

size_form operator-(const size_form& x, const size_form& y) {
  return x + size_form{-1} * y;
}

size_form operator*(const size_form& x, const size_form& y) {
  size_form result;
  result.too_large_ = x.too_large_ || y.too_large_;
  for (const auto& a : x.terms_) {
    for (const auto& b : y.terms_) {
      size_form::product term = a;
      if (__builtin_mul_overflow(a.factor, b.factor, &term.factor)) result.too_large_ = true;
      term.symbols.insert(term.symbols.end(), b.symbols.begin(), b.symbols.end());
      std::sort(term.symbols.begin(), term.symbols.end());
      result.add(std::move(term));
      if (result.too_large_) return result;
    }
  }
  return result;
}

bool operator==(const size_form& x, const size_form& y) noexcept {
  return !x.too_large_ && !y.too_large_ && x.terms_ == y.terms_;
}

size_form size_form::replace(const std::function<size_form(symbol)>& of) const {
  size_form result;
  result.too_large_ = too_large_;
  for (const auto& term : terms_) {
    size_form part{term.factor};
    for (const auto one : term.symbols) part = part * of(one);
    result = result + part;
  }
  return result;
}

std::string size_form::print(const std::function<std::string(symbol)>& name) const {
  if (too_large_) return "(too large)";
  if (terms_.empty()) return "0";
  std::string out;
  // Numbers come last: `n+1`.
  for (const bool plain : {false, true}) {
    for (const auto& term : terms_) {
      if (term.symbols.empty() != plain) continue;
      const bool negative = term.factor < 0;
      if (negative)
        out += '-';
      else if (!out.empty())
        out += '+';
      const auto factor =
        negative ? 0 - static_cast<uint64_t>(term.factor) : static_cast<uint64_t>(term.factor);
      if (factor != 1 || plain) out += std::to_string(factor);
      bool first = factor == 1 || plain;
      for (const auto one : term.symbols) {
        if (!first) out += '*';
        out += name(one);
        first = false;
      }
    }
  }
  return out;
}

std::optional<size_form> divide(const size_form& x, const size_form& y) {
  if (x.too_large() || y.too_large() || y.terms().size() != 1) return std::nullopt;
  const auto& divisor = y.terms()[0];
  size_form result;
  for (const auto& term : x.terms()) {
    if (divisor.factor == 0 || term.factor % divisor.factor != 0) return std::nullopt;
    size_form part{term.factor / divisor.factor};
    auto left = term.symbols;
    for (const auto one : divisor.symbols) {
      const auto found = std::find(left.begin(), left.end(), one);
      if (found == left.end()) return std::nullopt;
      left.erase(found);
    }
    for (const auto one : left) part = part * size_form::of(one);
    result = result + part;
  }
  return result;
}

} // namespace shapescript
