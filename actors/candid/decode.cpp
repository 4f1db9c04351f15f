#include "actors/candid/decode.hpp"

#include <algorithm>
#include <span>

#include "actors/candid/decoder.hpp"

namespace moxzi::candid {

namespace {

/// Reads the arguments as a tuple: superfluous ones are skipped, missing ones filled in.
result<void> read_arguments(decoder& values, cursor& in, const std::vector<type_ref>& given,
                            std::span<const type_ref> wanted, std::vector<value>* out) {
  using fit = decoder::fit;
  for (size_t i = 0; i < std::max(given.size(), wanted.size()); ++i) {
    auto outcome = fit::ok;
    if (i >= wanted.size()) {
      outcome = values.skip(given[i]) ? fit::ok : fit::error;
    } else {
      auto* slot = out == nullptr ? nullptr : &out->emplace_back();
      outcome =
        i < given.size() ? values.read(given[i], wanted[i], slot) : values.missing(wanted[i]);
    }
    if (outcome == fit::error) return in.failure();
    if (outcome == fit::mismatch) {
      return fail(candid_errc::mismatch, "args[{}]{}", i, values.explain());
    }
  }
  if (in.left() > 0) {
    return fail(candid_errc::trailing, "{} after the last argument", counted(in.left(), "byte"));
  }
  return {};
}

size_t steps_of(byte_view bytes, const quota& allowed) {
  return std::min(bytes.size() * allowed.steps_per_byte + allowed.steps_free, allowed.steps_max);
}

result<void> read(byte_view bytes, const tuple_type& expected, const quota& allowed,
                  std::vector<value>* out) {
  cursor in{bytes, steps_of(bytes, allowed)};
  type_table wire;
  std::vector<type_ref> items;
  if (!header_reader{in}.read(wire, items)) return in.failure();
  decoder values{in, wire, *expected.types, allowed.empty_values_max};
  return read_arguments(values, in, items, expected.items, out);
}

result<void> read_any(byte_view bytes, const quota& allowed, message* out) {
  cursor in{bytes, steps_of(bytes, allowed)};
  auto wire = std::make_shared<type_table>();
  std::vector<type_ref> items;
  if (!header_reader{in}.read(*wire, items)) return in.failure();
  decoder values{in, *wire, *wire, allowed.empty_values_max};
  const auto done =
    read_arguments(values, in, items, items, out == nullptr ? nullptr : &out->values);
  if (out != nullptr) {
    out->types = std::move(wire);
    out->items = std::move(items);
  }
  return done;
}

} // namespace

result<std::vector<value>> decode(byte_view bytes, const tuple_type& expected,
                                  const quota& allowed) {
  std::vector<value> values;
  if (auto done = read(bytes, expected, allowed, &values); !done) return done.error();
  return values;
}

result<void> validate(byte_view bytes, const tuple_type& expected, const quota& allowed) {
  return read(bytes, expected, allowed, nullptr);
}

result<message> decode_any(byte_view bytes, const quota& allowed) {
  message made;
  if (auto done = read_any(bytes, allowed, &made); !done) return done.error();
  return made;
}

result<void> validate_any(byte_view bytes, const quota& allowed) {
  return read_any(bytes, allowed, nullptr);
}

} // namespace moxzi::candid
