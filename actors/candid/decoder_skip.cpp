#include <algorithm>

#include "actors/candid/decoder.hpp"

namespace moxzi::candid {

namespace {

/// A size that no message has: of types without values.
constexpr size_t endless = size_t{1} << 40;

} // namespace

bool decoder::skip(type_ref w) {
  if (!in_.spend(1)) return false;
  const auto form = wire_.kind_of(w);
  if (form == kind::reserved) return true;
  if (is_primitive(form)) return read_primitive(form, nullptr) == fit::ok;
  if (!deeper()) return false;
  const bool ok = skip_composite(w);
  --depth_;
  return ok;
}

bool decoder::skip_composite(type_ref w) {
  switch (wire_.kind_of(w)) {
    case kind::opt: {
      uint8_t tag = 0;
      if (!in_.byte(tag)) return false;
      if (tag > 1) {
        return in_.fail_with(candid_errc::malformed, "an opt that is neither 0 nor 1");
      }
      return tag == 0 || skip(wire_.element(w));
    }
    case kind::vec: {
      const auto element = wire_.element(w);
      uint64_t n = 0;
      if (!vec_length(element, n)) return false;
      byte_view bytes;
      if (element == type_ref{kind::nat8}) return in_.spend(n) && in_.bytes(n, bytes);
      for (uint64_t i = 0; i < n; ++i) {
        if (!skip(element)) return false;
      }
      return true;
    }
    case kind::record:
      for (const auto& f : wire_.fields(w)) {
        if (!skip(f.type)) return false;
      }
      return true;
    case kind::variant: {
      const auto tags = wire_.fields(w);
      uint64_t position = 0;
      if (!in_.count(position)) return false;
      if (position >= tags.size()) {
        return in_.fail_with(candid_errc::malformed,
                             fmt::format("tag {} of a variant of {}", position, tags.size()));
      }
      return skip(tags[position].type);
    }
    case kind::func:
      return func_value(nullptr);
    case kind::service:
      return principal_value(nullptr);
    default:
      return skip_future();
  }
}

bool decoder::skip_future() {
  uint64_t size = 0;
  uint64_t references = 0;
  byte_view bytes;
  if (!in_.count(size) || !in_.count(references)) return false;
  if (references > 0) return in_.fail_with(candid_errc::malformed, "an opaque reference");
  return in_.spend(size) && in_.bytes(size, bytes);
}

// A lower bound, which is all that a plausibility check needs: cycles and very deep types count 0.
size_t decoder::bytes_min(type_ref w, int depth) {
  const auto form = wire_.kind_of(w);
  switch (form) {
    case kind::null:
    case kind::reserved:
      return 0;
    case kind::empty:
      return endless;
    case kind::nat16:
    case kind::int16:
    case kind::principal:
    case kind::service:
    case kind::future:
      return 2;
    case kind::nat32:
    case kind::int32:
    case kind::float32:
    case kind::func:
      return 4;
    case kind::nat64:
    case kind::int64:
    case kind::float64:
      return 8;
    case kind::record:
      break;
    default:
      return 1;
  }
  constexpr size_t unknown = endless + 1;
  constexpr int depth_max = 64;
  if (bytes_min_.empty()) bytes_min_.assign(wire_.size(), unknown);
  if (bytes_min_[w.index()] != unknown) return bytes_min_[w.index()];
  if (depth >= depth_max) return 0;
  bytes_min_[w.index()] = 0;
  size_t sum = 0;
  for (const auto& f : wire_.fields(w)) sum = std::min(endless, sum + bytes_min(f.type, depth + 1));
  bytes_min_[w.index()] = sum;
  return sum;
}

} // namespace moxzi::candid
