#include "actors/candid/header.hpp"

#include "base/limits.hpp"

namespace moxzi::candid {

// -- cursor -------------------------------------------------------------------

bool cursor::fail_with(candid_errc code, std::string_view reason) {
  if (!failed_) {
    failed_ = true;
    error_ = fail(code, "byte {}: {}", at_ - begin_, reason);
    at_ = end_;
  }
  return false;
}

bool cursor::truncated(uint64_t wanted, size_t each) {
  if (each > 1) {
    return fail_with(
      candid_errc::truncated,
      fmt::format("{} times at least {} bytes wanted, {} bytes left", wanted, each, left()));
  }
  return fail_with(candid_errc::truncated, fmt::format("{} wanted, {} bytes left", wanted, left()));
}

bool cursor::long_count(uint64_t& out) {
  out = 0;
  for (int shift = 0;; shift += 7) {
    uint8_t b = 0;
    if (!byte(b)) return false;
    const uint64_t low = b & 0x7F;
    if (shift >= 64 ? low != 0 : shift == 63 && low > 1) {
      return fail_with(candid_errc::malformed, "a number above 64 bits");
    }
    if (shift < 64) out |= low << shift;
    if (b < 0x80) return true;
    if (shift > 140) return fail_with(candid_errc::malformed, "a number that does not end");
  }
}

bool cursor::opcode(int32_t& out) {
  if (at_ != end_ && static_cast<uint8_t>(*at_) < 0x80) {
    const auto b = static_cast<uint8_t>(*at_++);
    out = b < 0x40 ? b : static_cast<int32_t>(b) - 0x80;
    return true;
  }
  uint64_t bits = 0;
  for (int shift = 0; shift < 56; shift += 7) { // over-long forms up to there
    uint8_t b = 0;
    if (!byte(b)) return false;
    bits |= static_cast<uint64_t>(b & 0x7F) << shift;
    if (b >= 0x80) continue;
    if (b & 0x40) bits |= ~uint64_t{0} << (shift + 7);
    const auto value = static_cast<int64_t>(bits);
    if (value < INT32_MIN || value > INT32_MAX) break;
    out = static_cast<int32_t>(value);
    return true;
  }
  return fail_with(candid_errc::malformed, "a type number out of range");
}

bool cursor::number(byte_view& groups) {
  const auto* first = at_;
  while (at_ != end_ && static_cast<uint8_t>(*at_) >= 0x80) ++at_;
  if (at_ == end_) {
    return fail_with(candid_errc::truncated, "a number that does not end");
  }
  ++at_;
  groups = byte_view{first, static_cast<size_t>(at_ - first)};
  if (groups.size() > limits::candid_integer_bits_max / 7 + 1) {
    return fail_with(candid_errc::over_limit,
                     fmt::format("a number longer than {} bits", limits::candid_integer_bits_max));
  }
  return true;
}

bool cursor::text(byte_view& out) {
  uint64_t size = 0;
  if (!count(size) || !bytes(size, out)) return false;
  if (!is_utf8(out)) return fail_with(candid_errc::malformed, "text that is not UTF-8");
  return true;
}

// -- header_reader ------------------------------------------------------------

bool header_reader::read(type_table& types, std::vector<type_ref>& items) {
  byte_view magic;
  if (!in_.bytes(4, magic)) return false;
  if (magic != "DIDL") {
    return in_.fail_with(candid_errc::malformed, "a message begins with DIDL");
  }
  uint64_t entries = 0;
  if (!in_.items(entries, 2)) return false;
  if (entries > limits::candid_types_max) {
    return in_.fail_with(candid_errc::over_limit,
                         fmt::format("{} types, at most {}", entries, limits::candid_types_max));
  }
  entries_ = static_cast<size_t>(entries);
  types.entries_.reserve(entries_);
  for (size_t i = 0; i < entries_; ++i) {
    if (!entry(types)) return false;
  }
  if (!methods_are_funcs(types)) return false;
  uint64_t count = 0;
  if (!in_.items(count, 1) || !members(count)) return false;
  items.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    type_ref item;
    if (!ref(item)) return false;
    items.push_back(item);
  }
  return true;
}

bool header_reader::members(uint64_t count) {
  members_ += static_cast<size_t>(count);
  if (members_ > limits::candid_members_max) {
    return in_.fail_with(candid_errc::over_limit,
                         fmt::format("types of more than {} members", limits::candid_members_max));
  }
  return in_.spend(count);
}

bool header_reader::ref(type_ref& out) {
  int32_t raw = 0;
  if (!in_.opcode(raw)) return false;
  if (raw >= 0) {
    if (static_cast<size_t>(raw) >= entries_) {
      return in_.fail_with(candid_errc::malformed,
                           fmt::format("type {} of a table of {}", raw, entries_));
    }
    out = type_ref::entry(static_cast<uint32_t>(raw));
    return true;
  }
  if (raw < -24 || !is_primitive(static_cast<kind>(raw))) {
    return in_.fail_with(candid_errc::malformed, fmt::format("{} is no primitive type", raw));
  }
  out = static_cast<kind>(raw);
  return true;
}

bool header_reader::entry(type_table& types) {
  int32_t raw = 0;
  if (!in_.spend(1) || !in_.opcode(raw)) return false;
  if (raw >= 0 || (raw >= -24 && is_primitive(static_cast<kind>(raw)))) {
    return in_.fail_with(candid_errc::malformed, fmt::format("{} is no composite type", raw));
  }
  auto& e = types.entries_.emplace_back();
  e.form = raw < -24 ? kind::future : static_cast<kind>(raw);
  switch (e.form) {
    case kind::opt:
    case kind::vec:
      return ref(e.element);
    case kind::record:
    case kind::variant:
      return fields(types);
    case kind::func:
      return func(types);
    case kind::service:
      return service(types);
    default:
      return future();
  }
}

bool header_reader::fields(type_table& types) {
  uint64_t count = 0;
  if (!in_.items(count, 2) || !members(count)) return false;
  auto& e = types.entries_.back();
  e.first = static_cast<uint32_t>(types.fields_.size());
  e.count = static_cast<uint32_t>(count);
  uint64_t least = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t id = 0;
    type_ref type;
    if (!in_.count(id) || !ref(type)) return false;
    if (id > UINT32_MAX) {
      return in_.fail_with(candid_errc::malformed, "a field id above 32 bits");
    }
    if (id < least) {
      return in_.fail_with(candid_errc::malformed, "field ids that do not ascend");
    }
    least = id + 1;
    types.fields_.push_back(
      {.id = static_cast<uint32_t>(id), .type = type, .name = field::no_name, .declared = i});
  }
  return true;
}

bool header_reader::tuple(type_table& types, uint32_t& size) {
  uint64_t count = 0;
  if (!in_.items(count, 1) || !members(count)) return false;
  size = static_cast<uint32_t>(count);
  for (uint64_t i = 0; i < count; ++i) {
    type_ref type;
    if (!ref(type)) return false;
    types.tuples_.push_back(type);
  }
  return true;
}

bool header_reader::func(type_table& types) {
  const auto first = static_cast<uint32_t>(types.tuples_.size());
  uint32_t arguments = 0;
  uint32_t results = 0;
  uint64_t count = 0;
  if (!tuple(types, arguments) || !tuple(types, results) || !in_.items(count, 1)) return false;
  uint8_t set = 0;
  for (uint64_t i = 0; i < count; ++i) {
    uint8_t code = 0;
    if (!in_.spend(1) || !in_.byte(code)) return false;
    if (code < 1 || code > 3) {
      return in_.fail_with(candid_errc::malformed, fmt::format("annotation {} is unknown", code));
    }
    set = static_cast<uint8_t>(set | 1 << (code - 1));
  }
  if ((set & annotation::oneway) != 0 && results > 0) {
    return in_.fail_with(candid_errc::malformed, "a function with results that is oneway");
  }
  auto& e = types.entries_.back();
  e.first = first;
  e.count = arguments;
  e.results = results;
  e.annotations = set;
  return true;
}

bool header_reader::service(type_table& types) {
  uint64_t count = 0;
  if (!in_.items(count, 2) || !members(count)) return false;
  auto& e = types.entries_.back();
  e.first = static_cast<uint32_t>(types.methods_.size());
  e.count = static_cast<uint32_t>(count);
  for (uint64_t i = 0; i < count; ++i) {
    byte_view name;
    type_ref type;
    if (!in_.text(name) || !ref(type)) return false;
    if (i > 0 && name <= byte_view{types.methods_.back().name}) {
      return in_.fail_with(candid_errc::malformed, "method names that do not ascend");
    }
    types.methods_.push_back({std::string{name}, type, static_cast<uint32_t>(i)});
  }
  return true;
}

bool header_reader::future() {
  uint64_t size = 0;
  byte_view skipped;
  return in_.count(size) && in_.bytes(size, skipped) && in_.spend(size);
}

bool header_reader::methods_are_funcs(const type_table& types) {
  for (const auto& m : types.methods_) {
    if (types.kind_of(m.type) != kind::func) {
      return in_.fail_with(candid_errc::malformed,
                           fmt::format("method '{}' is no function", m.name));
    }
  }
  return true;
}

} // namespace moxzi::candid
