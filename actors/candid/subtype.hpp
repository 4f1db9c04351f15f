#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/candid/types.hpp"

namespace moxzi::candid {

/// Decides `t <: t'` between the types of two tables: a value of `t` can always be read at `t'`.
/// Recursive types are compared co-inductively; every pair is looked at once in the checker's life.
class subtype_checker {
public:
  enum class answer { yes, no, over_limit };

  /// How the odd rule is taken by which any type at all is a subtype of any `opt` (what does not
  /// fit reads as null).
  enum class opt_rule {
    lenient, ///< as the specification has it
    strict,  ///< only where the contents fit too: what an author meant
  };

  /// Both tables must outlive the checker.
  subtype_checker(const type_table& sub, const type_table& super,
                  opt_rule rule = opt_rule::lenient) noexcept
      : sub_(sub), super_(super), rule_(rule) {
    // nop
  }

  /// `sub <: super`? Takes one of `steps` for each pair of types looked at.
  answer check(type_ref sub, type_ref super, size_t& steps);
  /// As above, without a bound.
  bool check(type_ref sub, type_ref super);

  /// After a no: where in the types, and why, e.g. `.learn: result[0].last: float64 is no text`.
  std::string explain() const;

private:
  /// A pair still to be looked at. `flipped`: the question is `super <: sub` (function arguments).
  struct item {
    type_ref sub;
    type_ref super;
    bool flipped = false;
    uint32_t parent = 0;
    std::string label;
  };

  bool visit(uint32_t at);
  bool visit_opt(const item& it, uint32_t at);
  bool visit_fields(const item& it, uint32_t at, bool is_record);
  bool visit_func(const item& it, uint32_t at);
  bool visit_service(const item& it, uint32_t at);
  bool visit_tuple(std::span<const type_ref> sub, std::span<const type_ref> super, bool flipped,
                   uint32_t at, const char* what);
  void push(type_ref sub, type_ref super, bool flipped, uint32_t parent, std::string label);
  bool refuse(uint32_t at, std::string reason);

  const type_table& lower(const item& it) const noexcept {
    return it.flipped ? super_ : sub_;
  }
  const type_table& upper(const item& it) const noexcept {
    return it.flipped ? sub_ : super_;
  }
  static uint64_t key(const item& it) noexcept;

  const type_table& sub_;
  const type_table& super_;
  opt_rule rule_;
  std::vector<item> work_;
  std::unordered_map<uint64_t, bool> known_[2]; ///< by direction; never iterated
  std::string reason_;
  uint32_t failed_ = 0;
};

/// Why two types of one table or two differ, in words of Candid: `vec nat8`, `record {…}`.
std::string short_text(const type_table& types, type_ref type);

} // namespace moxzi::candid
