#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/candid/types.hpp"

namespace moxzi::candid {

/// Decides `t <: t'` between the types of two tables: a value of `t` can always be read at `t'`.
/// Recursive types are compared co-inductively; every pair is looked at once in the checker's life.
///
/// Two cyclic types of m and n entries make m·n pairs, so what one checker may look at is bounded,
/// in all of its comparisons together.
class subtype_checker {
public:
  enum class answer { yes, no, over_limit };

  /// Pairs of types that one checker keeps, 24 bytes each.
  static constexpr size_t pairs_max = 65'536;
  /// Pairs and members that it looks at.
  static constexpr size_t steps_max = 400'000;

  /// How the odd rule is taken by which any type at all is a subtype of any `opt` (what does not
  /// fit reads as null).
  enum class opt_rule {
    lenient,  ///< as the specification has it
    strict,   ///< only where the contents fit too: what an author meant
    lossless, ///< as strict; also nothing given may be dropped (by a record, or as `reserved`)
  };

  /// Both tables must outlive the checker.
  subtype_checker(const type_table& sub, const type_table& super,
                  opt_rule rule = opt_rule::lenient) noexcept
      : sub_(sub), super_(super), rule_(rule) {
    // nop
  }

  /// `sub <: super`? Also takes one of `steps` for each pair and member looked at.
  answer check(type_ref sub, type_ref super, size_t& steps);
  /// As above, within the checker's own bounds only.
  answer compare(type_ref sub, type_ref super);
  /// Is the answer yes?
  bool check(type_ref sub, type_ref super) {
    return compare(sub, super) == answer::yes;
  }

  /// After a no: where in the types, and why, e.g. `.learn: result[0].last: float64 is no text`.
  std::string explain() const;

  /// What `survey` found.
  struct findings {
    std::string first; ///< as of `explain`
    size_t places = 0; ///< where types do not fit by themselves; those within a type only once
    bool over_limit = false;
  };
  /// Goes on where a comparison would stop, to find all places that make its answer a no. Methods
  /// are looked at in the order in which `super` declares them.
  findings survey(type_ref sub, type_ref super);

private:
  /// A pair met. The question is `sub <: super`, or `super <: sub` where `flipped` (of function
  /// arguments).
  struct pair {
    type_ref sub;
    type_ref super;
    uint32_t parent;
    uint32_t member : 30; ///< of the parent: which field, argument, result or method
    uint32_t flipped : 1;
    uint32_t refuted : 1; ///< a question answered with no before
  };
  static_assert(sizeof(pair) == 16);

  /// A pair as asked: `low <: high`.
  struct question {
    const type_table& low;
    const type_table& high;
    type_ref sub;
    type_ref super;
  };

  answer run(type_ref sub, type_ref super, size_t& steps);
  bool visit(uint32_t at);
  bool visit_opt(const question& q, uint32_t at);
  bool visit_record(const question& q, uint32_t at);
  bool visit_variant(const question& q, uint32_t at);
  bool visit_func(const question& q, uint32_t at);
  bool visit_service(const question& q, uint32_t at);
  bool push(const question& q, bool flipped, uint32_t parent, size_t member);
  template <class Reason>
  bool refuse(uint32_t at, Reason reason);
  bool spend(size_t n);

  question question_of(const pair& p) const noexcept;
  std::string label(const pair& p) const;
  std::string describe() const;
  void look_through(const question& q, std::string_view method);
  size_t place_of(const pair& wanted) const noexcept;
  void grow();
  void forget(size_t kept);

  const type_table& sub_;
  const type_table& super_;
  opt_rule rule_;
  std::vector<pair> pairs_;     ///< settled, then those of the comparison going on
  std::vector<uint32_t> table_; ///< by hash: 1 + the position in `pairs_`, or 0
  size_t steps_left_ = steps_max;
  size_t* steps_ = nullptr; ///< the caller's
  bool over_limit_ = false;
  findings* found_ = nullptr; ///< of a survey going on
  bool has_first_ = false;    ///< it has a place to describe
  std::string reason_;
  uint32_t failed_ = 0;
  uint32_t first_ = 0; ///< the pair asked for
  type_ref asked_sub_;
  type_ref asked_super_;
};

/// Why two types of one table or two differ, in words of Candid: `vec nat8`, `record {…}`.
std::string short_text(const type_table& types, type_ref type);

} // namespace moxzi::candid
