#pragma once

#include <cstdint>
#include <memory>
#include <random>

#include "actors/candid/types.hpp"
#include "actors/candid/value.hpp"

namespace moxzi::candid {

/// A type and a value of it.
struct random_pair {
  tuple_type types; ///< one item
  value held;
};

/// Draws types of every form (recursive ones too) and values with the corners of each: integers up
/// to 2^4096, every class of float, texts from all of Unicode.
class pair_generator {
public:
  explicit pair_generator(uint64_t seed) : random_(seed) {
    // nop
  }
  random_pair draw();

private:
  uint64_t below(uint64_t n) {
    return random_() % n;
  }
  type_ref type(int depth);
  type_ref composite(int depth);
  type_ref recursive_list(int depth);
  std::vector<field_spec> fields(int depth, bool is_record);
  value of(type_ref type, int depth);
  value variant_of(type_ref type, int depth);
  integer whole(bool negative_too);
  uint64_t bits(int width);
  double float64();
  float float32();
  std::string text();
  principal who();
  bool inhabited(type_ref type) const;

  std::mt19937_64 random_;
  std::shared_ptr<type_table> types_;
};

/// Equal, where any NaN equals any other.
bool equal_but_nan(const value& x, const value& y);

} // namespace moxzi::candid
