#include "actors/candid/value.hpp"

#include <bit>
#include <type_traits>

namespace moxzi::candid {

value::value(const value& other) {
  *this = other;
}

value& value::operator=(const value& other) {
  if (this == &other) return *this;
  data_ = std::visit(
    []<class T>(const T& held) -> data {
      if constexpr (std::is_same_v<T, tagged>) {
        return tagged{held.position,
                      held.payload ? std::make_unique<value>(*held.payload) : nullptr};
      } else if constexpr (std::is_same_v<T, std::unique_ptr<value>>) {
        return std::make_unique<value>(*held);
      } else if constexpr (std::is_same_v<T, std::unique_ptr<func_ref>>) {
        return std::make_unique<func_ref>(*held);
      } else {
        return held;
      }
    },
    other.data_);
  return *this;
}

value value::variant(uint32_t position, value payload) {
  tagged made{position, nullptr};
  if (!payload.is_null()) made.payload = std::make_unique<value>(std::move(payload));
  return value{data{std::move(made)}};
}

const value& value::as_payload() const {
  static const value nothing;
  const auto& held = get<tagged>();
  return held.payload ? *held.payload : nothing;
}

value value::take_payload() {
  auto& held = const_cast<tagged&>(get<tagged>());
  return held.payload ? std::move(*held.payload) : value{};
}

bool operator==(const value& x, const value& y) {
  if (x.data_.index() != y.data_.index()) return false;
  return std::visit(
    [&y]<class T>(const T& held) {
      const auto& other = std::get<T>(y.data_);
      if constexpr (std::is_same_v<T, float>) {
        return std::bit_cast<uint32_t>(held) == std::bit_cast<uint32_t>(other);
      } else if constexpr (std::is_same_v<T, double>) {
        return std::bit_cast<uint64_t>(held) == std::bit_cast<uint64_t>(other);
      } else if constexpr (std::is_same_v<T, value::tagged>) {
        return held.position == other.position
               && static_cast<bool>(held.payload) == static_cast<bool>(other.payload)
               && (!held.payload || *held.payload == *other.payload);
      } else if constexpr (std::is_same_v<
                             T, std::unique_ptr<
                                  value>> || std::is_same_v<T, std::unique_ptr<value::func_ref>>) {
        return *held == *other;
      } else {
        return held == other;
      }
    },
    x.data_);
}

} // namespace moxzi::candid
