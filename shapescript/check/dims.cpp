#include "shapescript/check/dims.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace shapescript {

// -- sums ----------------------------------------------------------------------

size_sum::size_sum(int64_t number) {
  if (number != 0) terms_.push_back({{}, number});
}

size_sum::size_sum(product term) {
  add(std::move(term));
}

std::optional<int64_t> size_sum::number() const {
  if (too_large_) return std::nullopt;
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_[0].symbols.empty()) return terms_[0].factor;
  return std::nullopt;
}

int64_t size_sum::content() const noexcept {
  int64_t common = 0;
  for (const auto& term : terms_) {
    if (term.factor == INT64_MIN) return 1;
    common = std::gcd(common, term.factor);
  }
  return common;
}

void size_sum::add(product term) {
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

size_sum operator+(const size_sum& x, const size_sum& y) {
  size_sum result = x;
  result.too_large_ |= y.too_large_;
  for (const auto& term : y.terms_) result.add(term);
  return result;
}

size_sum operator*(const size_sum& x, const size_sum& y) {
  size_sum result;
  result.too_large_ = x.too_large_ || y.too_large_;
  for (const auto& a : x.terms_) {
    for (const auto& b : y.terms_) {
      size_sum::product term = a;
      if (__builtin_mul_overflow(a.factor, b.factor, &term.factor)) result.too_large_ = true;
      term.symbols.insert(term.symbols.end(), b.symbols.begin(), b.symbols.end());
      std::sort(term.symbols.begin(), term.symbols.end());
      result.add(std::move(term));
      if (result.too_large_) return result;
    }
  }
  return result;
}

namespace {

// By the power of the first symbol, then of the second, and so on: an order that products keep.
bool lower(const size_sum::product& x, const size_sum::product& y) {
  const auto [a, b] =
    std::mismatch(x.symbols.begin(), x.symbols.end(), y.symbols.begin(), y.symbols.end());
  if (a == x.symbols.end() || b == y.symbols.end()) return b != y.symbols.end();
  return *a > *b;
}

const size_sum::product& leading(const size_sum& sum) {
  return *std::max_element(sum.terms().begin(), sum.terms().end(), lower);
}

std::optional<size_sum::product> divide(const size_sum::product& x, const size_sum::product& y) {
  if (y.factor == 0 || (x.factor == INT64_MIN && y.factor == -1) || x.factor % y.factor != 0)
    return std::nullopt;
  size_sum::product part{{}, x.factor / y.factor};
  std::set_difference(x.symbols.begin(), x.symbols.end(), y.symbols.begin(), y.symbols.end(),
                      std::back_inserter(part.symbols));
  if (part.symbols.size() + y.symbols.size() != x.symbols.size()) return std::nullopt;
  return part;
}

} // namespace

std::optional<size_sum> divide(const size_sum& x, const size_sum& y) {
  if (x.too_large() || y.too_large() || y.terms_.empty()) return std::nullopt;
  size_sum result;
  auto rest = x;
  for (size_t steps = 0; !rest.terms_.empty(); ++steps) {
    const auto part = divide(leading(rest), leading(y));
    if (!part || steps == size_sum::terms_max) return std::nullopt;
    result.add(*part);
    rest = rest + size_sum{-1} * size_sum{*part} * y;
    if (rest.too_large_) return std::nullopt;
  }
  return result;
}

std::string size_sum::print(const std::function<std::string(symbol)>& name) const {
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

// -- sizes ---------------------------------------------------------------------

size_form size_form::of(symbol one) {
  size_form result;
  result.over_ = size_sum{{{one}, 1}};
  return result;
}

namespace {

// The part that all terms of both sums have, without a sign.
size_sum::product common_part(const size_sum& x, const size_sum& y) {
  size_sum::product common{{}, std::gcd(x.content(), y.content())};
  bool first = true;
  for (const auto* sum : {&x, &y}) {
    for (const auto& term : sum->terms()) {
      std::vector<symbol> both;
      std::set_intersection(common.symbols.begin(), common.symbols.end(), term.symbols.begin(),
                            term.symbols.end(), std::back_inserter(both));
      common.symbols = first ? term.symbols : std::move(both);
      first = false;
    }
  }
  return common;
}

} // namespace

// In lowest terms, as far as single products and whole sums go.
size_form::size_form(size_sum over, size_sum under)
    : over_(std::move(over)), under_(std::move(under)) {
  if (under_.number() == 1 || too_large()) return;
  if (auto whole = divide(over_, under_)) {
    over_ = std::move(*whole);
    under_ = size_sum{1};
    return;
  }
  if (auto parts = divide(under_, over_)) {
    over_ = size_sum{1};
    under_ = std::move(*parts);
  }
  auto common = common_part(over_, under_);
  if (leading(under_).factor < 0) common.factor = -common.factor;
  const size_sum part{std::move(common)};
  auto x = divide(over_, part);
  auto y = divide(under_, part);
  if (!x || !y) return;
  over_ = std::move(*x);
  under_ = std::move(*y);
}

bool size_form::inexact() const noexcept {
  return is_quotient() && over_.number() && under_.number();
}

std::optional<int64_t> size_form::number() const {
  return is_quotient() ? std::nullopt : over_.number();
}

std::optional<symbol> size_form::lone() const {
  if (is_quotient() || too_large() || over_.terms().size() != 1) return std::nullopt;
  const auto& only = over_.terms()[0];
  if (only.factor != 1 || only.symbols.size() != 1) return std::nullopt;
  return only.symbols[0];
}

std::vector<symbol> size_form::symbols() const {
  std::vector<symbol> all;
  for (const auto* sum : {&over_, &under_})
    for (const auto& term : sum->terms())
      all.insert(all.end(), term.symbols.begin(), term.symbols.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

size_form operator+(const size_form& x, const size_form& y) {
  if (x.under_ == y.under_) return {x.over_ + y.over_, x.under_};
  return {x.over_ * y.under_ + y.over_ * x.under_, x.under_ * y.under_};
}

size_form operator-(const size_form& x, const size_form& y) {
  return x + size_form{-1} * y;
}

size_form operator*(const size_form& x, const size_form& y) {
  return {x.over_ * y.over_, x.under_ * y.under_};
}

std::optional<size_form> quotient(const size_form& x, const size_form& y) {
  if (!y.too_large() && y.over_.terms().empty()) return std::nullopt;
  return size_form{x.over_ * y.under_, x.under_ * y.over_};
}

bool operator==(const size_form& x, const size_form& y) noexcept {
  if (x.too_large() || y.too_large()) return false;
  if (x.inexact() || y.inexact()) return true;
  if (x.under_ == y.under_) return x.over_ == y.over_;
  const auto a = x.over_ * y.under_;
  return !a.too_large() && a == y.over_ * x.under_;
}

size_form size_form::replace(const std::function<size_form(symbol)>& of) const {
  const auto replaced = [&](const size_sum& sum) {
    size_form result;
    if (sum.too_large()) result.over_ = sum;
    for (const auto& term : sum.terms()) {
      size_form part{term.factor};
      for (const auto one : term.symbols) part = part * of(one);
      result = result + part;
    }
    return result;
  };
  auto result = replaced(over_);
  if (!is_quotient()) return result;
  auto parts = quotient(result, replaced(under_));
  // By 0: no number at all, and reported as no whole one is.
  return parts ? *parts : size_form{size_sum{1}, size_sum{2}};
}

std::string size_form::print(const std::function<std::string(symbol)>& name) const {
  if (too_large() || !is_quotient()) return too_large() ? "(too large)" : over_.print(name);
  // What divides stands alone: `n/2+1`.
  size_sum whole, rest;
  for (const auto& term : over_.terms()) {
    const size_sum one{term};
    if (const auto exact = divide(one, under_))
      whole = whole + *exact;
    else
      rest = rest + one;
  }
  const auto bracketed = [&](const size_sum& sum, bool brackets) {
    return brackets ? "(" + sum.print(name) + ")" : sum.print(name);
  };
  const auto& first = under_.terms()[0];
  const bool lone = first.symbols.size() + (first.factor == 1 ? 0 : 1) == 1;
  auto out = bracketed(rest, rest.terms().size() > 1) + "/"
             + bracketed(under_, under_.terms().size() > 1 || !lone);
  if (whole.terms().empty()) return out;
  const auto more = whole.print(name);
  return out + (more.front() == '-' ? "" : "+") + more;
}

std::optional<size_form> divide(const size_form& x, const size_form& y) {
  auto result = quotient(x, y);
  if (!result || result->too_large()) return std::nullopt;
  if (result->is_quotient() && y.number() != 1) return std::nullopt;
  return result;
}

} // namespace shapescript
