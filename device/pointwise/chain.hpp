#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "device/host_executable.hpp"
#include "device/ops/table.hpp"

/// Runs chains of pointwise operations over host memory, piece by piece.
namespace moxzi::device::pointwise {

/// One formula over `n` elements. `out` may be one of the operands. Operands that the formula lacks
/// are not read.
template <class T>
using loop = void (*)(T* out, const T* a, const T* b, const T* c, T p, T q, int64_t n);

/// The loop of the formula named as the row is; null if there is none for such elements. Those of
/// float are vector code, with the same digits on every processor.
loop<float> find_f32(op id) noexcept;
loop<double> find_f64(op id) noexcept;
loop<int64_t> find_i64(op id) noexcept;

/// What chains of f32 compute in.
enum class precision : uint8_t {
  narrow, ///< f32
  wide,   ///< f64, rounded when it is written
};

/// Elements [begin, end) of the call of a chain. Equal for any parts.
void run_chain(const kernel_call& call, precision with, int64_t begin, int64_t end);

/// The loops of formulas.inc for one type, by the number of the row of that name.
template <class T>
class loop_table {
public:
  struct entry {
    std::string_view name;
    loop<T> run;
  };
  explicit loop_table(std::initializer_list<entry> entries) {
    for (auto& row : table())
      for (auto& one : entries)
        if (one.name == row.name) {
          auto id = static_cast<size_t>(row.id);
          if (by_id_.size() <= id) by_id_.resize(id + 1);
          by_id_[id] = one.run;
        }
  }
  loop<T> find(op id) const noexcept {
    return static_cast<size_t>(id) < by_id_.size() ? by_id_[static_cast<size_t>(id)] : nullptr;
  }

private:
  std::vector<loop<T>> by_id_;
};

} // namespace moxzi::device::pointwise
