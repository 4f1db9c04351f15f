#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace shapescript {

/// A symbolic axis: its place in the checker's table.
using symbol = uint32_t;

/// A sum of products of symbols with integer factors, in normal form: two are equal exactly if
/// their terms are. One that needs more than 64 bits or more than `terms_max` products is
/// `too_large`.
class size_sum {
public:
  struct product {
    std::vector<symbol> symbols; ///< sorted, with repetition
    int64_t factor;
    bool operator==(const product&) const = default;
  };

  static constexpr size_t terms_max = 64;

  size_sum() = default;
  size_sum(int64_t number);
  explicit size_sum(product term);

  bool too_large() const noexcept {
    return too_large_;
  }
  /// The value if no symbol is in it.
  std::optional<int64_t> number() const;
  std::span<const product> terms() const noexcept {
    return terms_;
  }
  /// The greatest number that divides all factors; 0 of nothing.
  int64_t content() const noexcept;
  std::string print(const std::function<std::string(symbol)>& name) const;

  friend size_sum operator+(const size_sum& x, const size_sum& y);
  friend size_sum operator*(const size_sum& x, const size_sum& y);
  friend bool operator==(const size_sum& x, const size_sum& y) noexcept = default;
  /// `x / y` if it is a sum again.
  friend std::optional<size_sum> divide(const size_sum& x, const size_sum& y);

private:
  void add(product term);

  std::vector<product> terms_; // sorted by symbols, no factor 0
  bool too_large_ = false;
};

/// A size: a sum, or a quotient of two that is exact wherever the size is used (who divides sees to
/// that). So sizes are equal if they are equal as fractions: `2*(n/2)` is `n`. A size that is
/// `too_large` is equal to nothing; one that turned out to be no whole number, which is reported
/// where it arises, is `inexact` and equal to everything.
class size_form {
public:
  size_form() = default;
  size_form(int64_t number) : over_(number) {
    // nop
  }
  static size_form of(symbol one);

  bool too_large() const noexcept {
    return over_.too_large() || under_.too_large();
  }
  bool inexact() const noexcept;
  /// The value if no symbol is in it.
  std::optional<int64_t> number() const;
  /// The symbol if it is nothing else.
  std::optional<symbol> lone() const;
  /// The symbols in it, each once.
  std::vector<symbol> symbols() const;
  const size_sum& over() const noexcept {
    return over_;
  }
  /// What `over` is divided by; 1 if the size is a sum.
  const size_sum& under() const noexcept {
    return under_;
  }
  bool is_quotient() const noexcept {
    return under_.number() != 1;
  }

  /// `over` and `under`, each as a size.
  std::pair<size_form, size_form> parts() const {
    return {{over_, size_sum{1}}, {under_, size_sum{1}}};
  }

  /// The size with every symbol replaced by what `of` gives for it.
  size_form replace(const std::function<size_form(symbol)>& of) const;
  /// As people write it, `name` giving the symbols' names: `3*n+1`, `n/2+1`.
  std::string print(const std::function<std::string(symbol)>& name) const;

  friend size_form operator+(const size_form& x, const size_form& y);
  friend size_form operator-(const size_form& x, const size_form& y);
  friend size_form operator*(const size_form& x, const size_form& y);
  friend bool operator==(const size_form& x, const size_form& y) noexcept;
  /// The quotient, exact or not; nothing if `y` is 0.
  friend std::optional<size_form> quotient(const size_form& x, const size_form& y);

private:
  size_form(size_sum over, size_sum under);

  size_sum over_;
  size_sum under_{1};
};

/// `x / y` if it is exact whatever the symbols are.
std::optional<size_form> divide(const size_form& x, const size_form& y);

} // namespace shapescript
