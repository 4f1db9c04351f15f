#include "actors/candid/decoder.hpp"

#include <algorithm>
#include <cstring>

namespace moxzi::candid {

namespace {

/// Turns the groups of a LEB128 number (checked to end) into a whole number.
integer to_integer(byte_view groups, bool is_signed) {
  const auto last = static_cast<uint8_t>(groups.back());
  const bool negative = is_signed && (last & 0x40) != 0;
  byte_string magnitude((groups.size() * 7 + 7) / 8 + 1, negative ? '\xFF' : '\0');
  for (size_t i = 0; i < groups.size(); ++i) {
    const uint32_t seven = static_cast<uint8_t>(groups[i]) & 0x7F;
    const auto at = i * 7;
    const auto put = [&magnitude](size_t byte, uint32_t mask, uint32_t bits) {
      const auto old = static_cast<uint8_t>(magnitude[byte]);
      magnitude[byte] = static_cast<char>((old & ~mask) | bits);
    };
    put(at / 8, 0x7Fu << at % 8 & 0xFF, seven << at % 8 & 0xFF);
    if (at % 8 > 1) put(at / 8 + 1, 0x7Fu >> (8 - at % 8), seven >> (8 - at % 8));
  }
  if (negative) { // the absolute value of a two's complement: complement and add one
    bool carry = true;
    for (auto& c : magnitude) {
      const auto flipped = static_cast<uint8_t>(~c);
      c = static_cast<char>(flipped + (carry ? 1 : 0));
      carry = carry && flipped == 0xFF;
    }
  }
  return integer::from_magnitude(negative, magnitude);
}

} // namespace

// -- outcomes -----------------------------------------------------------------

decoder::fit decoder::refuse(type_ref w, type_ref e, uint32_t tag) {
  path_.clear();
  cause_ = {w, e, tag};
  return fit::mismatch;
}

decoder::fit decoder::mismatch(type_ref w, type_ref e) {
  return skip(w) ? refuse(w, e) : fit::error;
}

std::string decoder::explain() const {
  const auto text = path_text(path_.size(), [this](size_t i) {
    const auto& step = path_[path_.size() - 1 - i];
    return step.member == nullptr ? fmt::format("[{}]", step.index)
                                  : "." + expected_.label_of(*step.member);
  });
  const auto wanted = short_text(expected_, cause_.expected);
  if (!cause_.wire) return text + fmt::format(": expected {}, got nothing", wanted);
  const auto form = wire_.kind_of(*cause_.wire);
  if (form != expected_.kind_of(cause_.expected)) {
    return text + fmt::format(": expected {}, got {}", wanted, short_text(wire_, *cause_.wire));
  }
  if (form == kind::variant) return text + fmt::format(": {} has no tag {}", wanted, cause_.tag);
  if (form == kind::record) return text + fmt::format(": {} has no field {}", wanted, cause_.tag);
  return text
         + fmt::format(": expected {}, got a {} of another type: {}", wanted, keyword(form),
                       subtypes_ ? subtypes_->explain() : std::string{});
}

bool decoder::deeper() {
  if (depth_ < limits::candid_depth_max) {
    ++depth_;
    return true;
  }
  return in_.fail_with(candid_errc::over_limit,
                       fmt::format("nested deeper than {}", limits::candid_depth_max));
}

// -- primitive values ---------------------------------------------------------

template <class T>
bool decoder::fixed(T& out) {
  byte_view raw;
  if (!in_.bytes(sizeof(T), raw)) return false;
  std::memcpy(&out, raw.data(), sizeof(T));
  return true;
}

bool decoder::number(bool is_signed, value* out) {
  byte_view groups;
  if (!in_.number(groups)) return false;
  if (!in_.spend(groups.size() / 8)) return false;
  if (out == nullptr) return true;
  if (groups.size() > 8) {
    *out = value::whole(to_integer(groups, is_signed));
    return true;
  }
  uint64_t small = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    small |= static_cast<uint64_t>(static_cast<uint8_t>(groups[i]) & 0x7F) << 7 * i;
  }
  auto n = static_cast<int64_t>(small);
  if (is_signed && (static_cast<uint8_t>(groups.back()) & 0x40) != 0) {
    n -= int64_t{1} << 7 * groups.size();
  }
  *out = value::whole(integer::from_int64(n));
  return true;
}

bool decoder::principal_value(value* out) {
  uint8_t tag = 0;
  uint64_t size = 0;
  byte_view bytes;
  if (!in_.byte(tag)) return false;
  if (tag != 1) return in_.fail_with(candid_errc::malformed, "an opaque reference");
  if (!in_.count(size)) return false;
  if (size > principal::bytes_max) {
    return in_.fail_with(candid_errc::malformed, "a principal of more than 29 bytes");
  }
  if (!in_.bytes(size, bytes)) return false;
  if (out != nullptr) *out = value::principal(principal::from_bytes(bytes).value());
  return true;
}

bool decoder::func_value(value* out) {
  uint8_t tag = 0;
  byte_view name;
  value who;
  if (!in_.byte(tag)) return false;
  if (tag != 1) return in_.fail_with(candid_errc::malformed, "an opaque reference");
  if (!principal_value(&who) || !in_.text(name)) return false;
  if (out != nullptr) *out = value::func({who.as_principal(), std::string{name}});
  return true;
}

decoder::fit decoder::read_primitive(kind form, value* out) {
  const auto done = [](bool ok) { return ok ? fit::ok : fit::error; };
  const auto nat = [&]<class T>(T n) {
    if (!fixed(n)) return fit::error;
    if (out != nullptr) out->set<uint64_t>(n);
    return fit::ok;
  };
  const auto whole = [&]<class T>(T n) {
    if (!fixed(n)) return fit::error;
    if (out != nullptr) out->set<int64_t>(n);
    return fit::ok;
  };
  switch (form) {
    case kind::null:
      return fit::ok;
    case kind::boolean: {
      uint8_t b = 0;
      if (!in_.byte(b)) return fit::error;
      if (b > 1) return done(in_.fail_with(candid_errc::malformed, "a bool that is not 0 or 1"));
      if (out != nullptr) out->set(b == 1);
      return fit::ok;
    }
    case kind::nat:
      return done(number(false, out));
    case kind::integer:
      return done(number(true, out));
    case kind::nat8:
      return nat(uint8_t{});
    case kind::nat16:
      return nat(uint16_t{});
    case kind::nat32:
      return nat(uint32_t{});
    case kind::nat64:
      return nat(uint64_t{});
    case kind::int8:
      return whole(int8_t{});
    case kind::int16:
      return whole(int16_t{});
    case kind::int32:
      return whole(int32_t{});
    case kind::int64:
      return whole(int64_t{});
    case kind::float32: {
      float f = 0;
      if (!fixed(f)) return fit::error;
      if (out != nullptr) out->set(f);
      return fit::ok;
    }
    case kind::float64: {
      double f = 0;
      if (!fixed(f)) return fit::error;
      if (out != nullptr) out->set(f);
      return fit::ok;
    }
    case kind::text: {
      byte_view text;
      if (!in_.text(text)) return fit::error;
      if (out != nullptr) out->set(std::string{text});
      return fit::ok;
    }
    case kind::principal:
      return done(principal_value(out));
    default:
      return done(in_.fail_with(candid_errc::malformed, "a value of type empty"));
  }
}

// -- coercion -----------------------------------------------------------------

decoder::fit decoder::read(type_ref w, type_ref e, value* out) {
  if (!in_.spend(1)) return fit::error;
  if (w == e && !w.is_entry() && w.raw() >= static_cast<int>(kind::text)) {
    return read_primitive(static_cast<kind>(w.raw()), out);
  }
  if (how_.memo != nullptr && e == how_.memo->type()) return read_memorable(w, e, out);
  return read_composite(w, e, out);
}

decoder::fit decoder::read_memorable(type_ref w, type_ref e, value* out) {
  if (how_.memo->find(w, in_)) return in_.failed() ? fit::error : fit::ok;
  if (in_.failed()) return fit::error;
  const auto outcome = read_composite(w, e, out);
  if (outcome == fit::ok) how_.memo->keep(in_);
  return outcome;
}

decoder::fit decoder::read_composite(type_ref w, type_ref e, value* out) {
  const auto form = wire_.kind_of(w);
  const auto wanted = expected_.kind_of(e);
  if (form == kind::empty) return read_primitive(form, out);
  switch (wanted) {
    case kind::reserved:
      return skip(w) ? fit::ok : fit::error;
    case kind::opt:
      return read_opt(w, e, out);
    case kind::integer:
      if (form != kind::nat) return mismatch(w, e);
      return number(false, out) ? fit::ok : fit::error;
    case kind::principal:
      if (form != kind::principal && form != kind::service) return mismatch(w, e);
      return principal_value(out) ? fit::ok : fit::error;
    default:
      break;
  }
  if (form != wanted) return mismatch(w, e);
  switch (wanted) {
    case kind::vec:
      return read_vec(w, e, out);
    case kind::record:
      return read_record(w, e, out);
    case kind::variant:
      return read_variant(w, e, out);
    case kind::func:
    case kind::service:
      return read_reference(w, e, out);
    case kind::future:
      return skip_future() ? fit::ok : fit::error;
    default:
      return read_primitive(form, out);
  }
}

decoder::fit decoder::read_opt(type_ref w, type_ref e, value* out) {
  const auto form = wire_.kind_of(w);
  if (form == kind::null || form == kind::reserved) return fit::ok;
  auto content = w;
  if (form == kind::opt) {
    uint8_t tag = 0;
    if (!in_.byte(tag)) return fit::error;
    if (tag > 1) {
      in_.fail_with(candid_errc::malformed, "an opt that is neither 0 nor 1");
      return fit::error;
    }
    if (tag == 0) return fit::ok;
    content = wire_.element(w);
  }
  if (!deeper()) return fit::error;
  value inner;
  const auto got = read(content, expected_.element(e), out == nullptr ? nullptr : &inner);
  --depth_;
  if (got == fit::error || (got == fit::mismatch && how_.strict)) return got;
  if (got == fit::ok && out != nullptr) *out = value::some(std::move(inner));
  return fit::ok;
}

bool decoder::vec_length(type_ref element, uint64_t& n) {
  if (!in_.count(n)) return false;
  const auto least = bytes_min(element, 0);
  if (least > 0) {
    if (n <= in_.left() / least) {
      return element == type_ref{kind::nat8} || n <= in_.steps()
             || in_.fail_with(
               candid_errc::over_limit,
               fmt::format("a vector of {}: at most {} may be left to read", n, in_.steps()));
    }
    return in_.fail_with(candid_errc::truncated,
                         fmt::format("a vector of {}, {} left", n, counted(in_.left(), "byte")));
  }
  if (n > empty_left_ || n > in_.steps()) {
    return in_.fail_with(candid_errc::over_limit,
                         fmt::format("a vector of {} values that take no bytes: at most {} may be "
                                     "left to read",
                                     n, std::min<size_t>(empty_left_, in_.steps())));
  }
  empty_left_ -= static_cast<size_t>(n);
  return true;
}

decoder::fit decoder::read_vec(type_ref w, type_ref e, value* out) {
  const auto from = wire_.element(w);
  const auto to = expected_.element(e);
  uint64_t n = 0;
  if (!vec_length(from, n)) return fit::error;
  if (to == type_ref{kind::nat8} && (from == to || n == 0)) {
    byte_view bytes;
    if (!in_.bytes(n, bytes)) return fit::error;
    if (out != nullptr) out->set(std::string{bytes});
    return fit::ok;
  }
  if (!deeper()) return fit::error;
  std::vector<value> items;
  if (out != nullptr) items.resize(static_cast<size_t>(n));
  auto outcome = fit::ok;
  for (uint64_t i = 0; i < n; ++i) {
    if (outcome == fit::mismatch) {
      if (!skip(from)) return fit::error;
      continue;
    }
    outcome = read(from, to, out == nullptr ? nullptr : &items[i]);
    if (outcome == fit::error) return outcome;
    if (outcome == fit::mismatch) path_.push_back({nullptr, i});
  }
  --depth_;
  if (outcome == fit::ok && out != nullptr) out->set(std::move(items));
  return outcome;
}

decoder::fit decoder::missing(type_ref e) {
  if (!in_.spend(1)) return fit::error;
  if (expected_.is_nullable(e)) return fit::ok;
  path_.clear();
  cause_ = {std::nullopt, e, 0};
  return fit::mismatch;
}

decoder::fit decoder::read_record(type_ref w, type_ref e, value* out) {
  if (!deeper()) return fit::error;
  const auto given = wire_.fields(w);
  const auto wanted = expected_.fields(e);
  std::vector<value> items;
  if (out != nullptr) items.resize(wanted.size());
  auto outcome = fit::ok;
  size_t next = 0;
  const auto fill_up_to = [&](uint64_t id) {
    for (; next < wanted.size() && wanted[next].id < id && outcome == fit::ok; ++next) {
      outcome = missing(wanted[next].type);
      if (outcome == fit::mismatch) path_.push_back({&wanted[next], 0});
    }
  };
  for (const auto& f : given) {
    fill_up_to(f.id);
    if (outcome == fit::error) return outcome;
    if (outcome == fit::ok && next < wanted.size() && wanted[next].id == f.id) {
      outcome = read(f.type, wanted[next].type, out == nullptr ? nullptr : &items[next]);
      if (outcome == fit::error) return outcome;
      if (outcome == fit::mismatch) path_.push_back({&wanted[next], 0});
      ++next;
    } else if (outcome == fit::ok) {
      outcome = superfluous(f, w, e);
      if (outcome == fit::error) return outcome;
    } else if (!skip(f.type)) {
      return fit::error;
    }
  }
  fill_up_to(uint64_t{1} << 32);
  --depth_;
  if (outcome == fit::ok && out != nullptr) out->set(std::move(items));
  return outcome;
}

decoder::fit decoder::superfluous(const field& f, type_ref w, type_ref e) {
  const auto form = wire_.kind_of(f.type);
  const bool is_null = form == kind::null || form == kind::reserved
                       || (form == kind::opt && in_.rest().starts_with('\0'));
  if (!skip(f.type)) return fit::error;
  return how_.strict && !is_null ? refuse(w, e, f.id) : fit::ok;
}

decoder::fit decoder::read_variant(type_ref w, type_ref e, value* out) {
  const auto given = wire_.fields(w);
  uint64_t position = 0;
  if (!in_.count(position)) return fit::error;
  if (position >= given.size()) {
    in_.fail_with(candid_errc::malformed,
                  fmt::format("tag {} of a variant of {}", position, given.size()));
    return fit::error;
  }
  if (!deeper()) return fit::error;
  const auto& tag = given[position];
  const auto* wanted = expected_.find(e, tag.id);
  auto outcome = fit::ok;
  if (wanted == nullptr) {
    if (!skip(tag.type)) return fit::error;
    outcome = refuse(w, e, tag.id);
  } else {
    value payload;
    outcome = read(tag.type, wanted->type, out == nullptr ? nullptr : &payload);
    if (outcome == fit::error) return outcome;
    if (outcome == fit::mismatch) path_.push_back({wanted, 0});
    if (outcome == fit::ok && out != nullptr) {
      const auto at = static_cast<uint32_t>(wanted - expected_.fields(e).data());
      *out = value::variant(at, std::move(payload));
    }
  }
  --depth_;
  return outcome;
}

decoder::fit decoder::read_reference(type_ref w, type_ref e, value* out) {
  const bool is_func = wire_.kind_of(w) == kind::func;
  if (!(is_func ? func_value(out) : principal_value(out))) return fit::error;
  if (&wire_ == &expected_ && w == e) return fit::ok;
  if (!subtypes_) subtypes_.emplace(wire_, expected_);
  switch (subtypes_->check(w, e, in_.steps())) {
    case subtype_checker::answer::yes:
      return fit::ok;
    case subtype_checker::answer::no:
      if (out != nullptr) *out = value{};
      return refuse(w, e);
    case subtype_checker::answer::over_limit:
      break;
  }
  in_.fail_with(candid_errc::over_limit, "types that cost more to compare than the message may");
  return fit::error;
}

} // namespace moxzi::candid
