#include "actors/management/program_memo.hpp"

#include <algorithm>
#include <utility>

#include "base/limits.hpp"

namespace moxzi::actors::management {

namespace {

/// The element that `in` is at, moved to the front; null if there is none. What it is worth, bytes
/// and steps, is taken from `in`. One that costs more than is left is read, for the error's sake.
template <class T>
T* recognise(std::list<T>& known, candid::cursor& in) {
  const auto found = std::ranges::find_if(known, [&in](const T& one) {
    return one.steps <= in.steps() && in.rest().starts_with(one.bytes);
  });
  if (found == known.end()) return nullptr;
  byte_view bytes;
  in.bytes(found->bytes.size(), bytes);
  in.spend(found->steps);
  known.splice(known.begin(), known, found);
  return &known.front();
}

} // namespace

// -- headers ------------------------------------------------------------------

known_header* header_memo::read(candid::cursor& in) {
  if (auto* known = recognise(headers_, in)) return known;
  known_header made;
  const auto rest = in.rest();
  const auto steps = in.steps();
  if (!candid::header_reader{in}.read(made.types, made.items)) return nullptr;
  made.bytes = rest.substr(0, rest.size() - in.left());
  made.steps = steps - in.steps();
  bytes_ += made.bytes.size();
  ++count_;
  headers_.push_front(std::move(made));
  shrink();
  return &headers_.front();
}

void header_memo::add(known_header& to, known_header::known_program what) {
  bytes_ += what.bytes.size();
  ++count_;
  to.programs.push_front(std::move(what));
  shrink();
}

// The front header stays whatever its size: it is being used. At worst it is the only one.
void header_memo::shrink() {
  const auto over = [this] {
    return bytes_ > limits::device_interface_bytes_max
           || count_ > limits::device_interface_entries_max;
  };
  while (over()) {
    auto& last = headers_.back();
    if (!last.programs.empty()) {
      bytes_ -= last.programs.back().bytes.size();
      last.programs.pop_back();
    } else if (headers_.size() > 1) {
      bytes_ -= last.bytes.size();
      headers_.pop_back();
    } else {
      return;
    }
    --count_;
  }
}

// -- programs -----------------------------------------------------------------

bool program_memo::find(candid::type_ref wire, candid::cursor& in) {
  if (const auto* known = recognise(header_.programs, in)) {
    known_ = known->code;
    return true;
  }
  auto ahead = in;
  uint64_t length = 0;
  if (header_.types.kind_of(wire) == candid::kind::vec && ahead.count(length)
      && length > limits::program_ops_max) {
    excess_ = length;
    return !in.fail_with(candid::candid_errc::over_limit, "a program too long");
  }
  bytes_ = in.rest();
  steps_ = in.steps();
  return false;
}

void program_memo::keep(candid::cursor& in) {
  bytes_ = bytes_.substr(0, bytes_.size() - in.left());
  steps_ -= in.steps();
}

} // namespace moxzi::actors::management
