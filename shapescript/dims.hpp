#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shapescript {

/// A symbolic axis: its place in the checker's table.
using symbol = uint32_t;

/// A size in normal form: a sum of products of symbols with integer factors. Two sizes are equal
/// exactly if their normal forms are. A size that needs more than 64 bits or more than `terms_max`
/// products is `too_large` and equal to nothing.
class size_form {
public:
  struct product {
    std::vector<symbol> symbols; ///< sorted, with repetition
    int64_t factor;
    bool operator==(const product&) const = default;
  };

  static constexpr size_t terms_max = 64;

  size_form() = default;
  size_form(int64_t number);
  static size_form of(symbol one);

  bool too_large() const noexcept {
    return too_large_;
  }
  /// The value if no symbol is in it.
  std::optional<int64_t> number() const;
  /// The symbol if it is nothing else.
  std::optional<symbol> lone() const;
  std::span<const product> terms() const noexcept {
    return terms_;
  }

  /// The sum with every symbol replaced by what `of` gives for it.
  size_form replace(const std::function<size_form(symbol)>& of) const;
  /// As people write it, `name` giving the symbols' names: `3*n+1`.
  std::string print(const std::function<std::string(symbol)>& name) const;

  friend size_form operator+(const size_form& x, const size_form& y);
  friend size_form operator-(const size_form& x, const size_form& y);
  friend size_form operator*(const size_form& x, const size_form& y);
  friend bool operator==(const size_form& x, const size_form& y) noexcept;

private:
  void add(product term);

  std::vector<product> terms_; // sorted by symbols, no factor 0
  bool too_large_ = false;
};

/// `x / y` if it is exact: every factor divides, every symbol of `y` (one product) is in every
/// term.
std::optional<size_form> divide(const size_form& x, const size_form& y);

} // namespace shapescript
