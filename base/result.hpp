#pragma once

#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include <boost/system/result.hpp>
#include <fmt/format.h>

namespace moxzi {

/// An expected failure: which one (an enum of the folder that reports it), and a sentence for the
/// person who caused it: what, where, and what to do.
struct error {
  std::error_code code;
  std::string message;
};

inline bool operator==(const error& x, const error& y) {
  return x.code == y.code && x.message == y.message;
}

/// A value or the reason why there is none. Nothing in a pure core throws.
template <class T>
using result = boost::system::result<T, error>;

/// Required by `result<T>::value()`; ends the process, since asking a failed result for its value
/// is a fault of the program.
[[noreturn]] void throw_exception_from_error(const error& what,
                                             const boost::source_location& where);

/// What may go wrong with bytes, files and text at the lowest level.
enum class base_errc : int {
  truncated = 1,  ///< the input ends before the value does
  malformed = 2,  ///< the input is not of the promised form
  over_limit = 3, ///< a length, count or depth is above its limit
  trailing = 4,   ///< bytes are left over after the last value
  io = 5,         ///< the operating system refused
  exception = 6,  ///< a library threw; its text follows
};

const std::error_category& base_category() noexcept;

inline std::error_code make_error_code(base_errc code) noexcept {
  return {static_cast<int>(code), base_category()};
}

/// Makes an error with a formatted message: `return fail(base_errc::io, "{}: {}", path, reason);`
template <class Errc, class... Args>
error fail(Errc code, fmt::format_string<Args...> format, Args&&... args) {
  return error{make_error_code(code), fmt::format(format, std::forward<Args>(args)...)};
}

} // namespace moxzi

template <>
struct std::is_error_code_enum<moxzi::base_errc> : std::true_type {};
