#include <limits>

#include "actors/candid/base64.hpp"
#include "actors/candid/float_text.hpp"
#include "actors/candid/json_reader.hpp"

namespace moxzi::candid {

namespace {

/// A whole number in a string: as JSON has it, and `_` may stand between two digits.
bool is_written_whole(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || (text.front() == '0' && text.size() > 1)) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] >= '0' && text[i] <= '9') continue;
    const bool is_between = i > 0 && i + 1 < text.size() && text[i - 1] != '_';
    if (text[i] != '_' || !is_between) return false;
  }
  return true;
}

} // namespace

// -- numbers ------------------------------------------------------------------

bool json_reader::whole(type_ref type, value& out) {
  const auto start = in_.position();
  std::string digits;
  if (in_.peek() == '"') {
    if (!in_.string(text_)) return false;
    if (!is_written_whole(text_)) {
      in_.rewind(start);
      return expected(type);
    }
    digits = text_;
    std::erase(digits, '_');
  } else {
    const char c = in_.peek();
    if (c != '-' && (c < '0' || c > '9')) return expected(type);
    std::string_view raw;
    if (!in_.number(raw)) return false;
    digits = raw;
  }
  auto n = integer::from_text(digits);
  if (!n) {
    if (n.error().code == candid_errc::over_limit) return refuse(n.error().message);
    in_.rewind(start);
    return expected(type);
  }
  const auto form = types_.kind_of(type);
  if (form == kind::integer || (form == kind::nat && !n->is_negative())) {
    out = value::whole(std::move(*n));
    return true;
  }
  if (form != kind::nat && fixed(type, *n, out)) return true;
  in_.rewind(start);
  return refuse(fmt::format("{} is out of range for {}", in_.glimpse(), keyword(form)));
}

bool json_reader::fixed(type_ref type, integer n, value& out) {
  const auto nat = [&](uint64_t most) {
    const auto small = n.to_uint64();
    if (!small || *small > most) return false;
    out = value::fixed_nat(*small);
    return true;
  };
  const auto signed_one = [&](int64_t least, int64_t most) {
    const auto small = n.to_int64();
    if (!small || *small < least || *small > most) return false;
    out = value::fixed_int(*small);
    return true;
  };
  switch (types_.kind_of(type)) {
    case kind::nat8:
      return nat(UINT8_MAX);
    case kind::nat16:
      return nat(UINT16_MAX);
    case kind::nat32:
      return nat(UINT32_MAX);
    case kind::nat64:
      return nat(UINT64_MAX);
    case kind::int8:
      return signed_one(INT8_MIN, INT8_MAX);
    case kind::int16:
      return signed_one(INT16_MIN, INT16_MAX);
    case kind::int32:
      return signed_one(INT32_MIN, INT32_MAX);
    default:
      return signed_one(INT64_MIN, INT64_MAX);
  }
}

template <class T>
bool json_reader::floating(type_ref type, value& out) {
  const auto start = in_.position();
  T number{};
  if (in_.peek() == '"') {
    if (!in_.string(text_)) return false;
    constexpr auto infinity = std::numeric_limits<T>::infinity();
    if (text_ == "NaN") {
      number = std::numeric_limits<T>::quiet_NaN();
    } else if (text_ == "Infinity") {
      number = infinity;
    } else if (text_ == "-Infinity") {
      number = -infinity;
    } else {
      in_.rewind(start);
      return expected(type);
    }
  } else {
    const char c = in_.peek();
    if (c != '-' && (c < '0' || c > '9')) return expected(type);
    std::string_view raw;
    if (!in_.number(raw)) return false;
    if (!parse_float(raw, number)) {
      return refuse(
        fmt::format("{} is out of range for {}", excerpt(raw), keyword(types_.kind_of(type))));
    }
  }
  if constexpr (std::is_same_v<T, float>) {
    out = value::float32(number);
  } else {
    out = value::float64(number);
  }
  return true;
}

template bool json_reader::floating<float>(type_ref, value&);
template bool json_reader::floating<double>(type_ref, value&);

// -- references and blobs -----------------------------------------------------

bool json_reader::principal_value(type_ref type, value& out) {
  const bool boxed = in_.accept('{');
  if (boxed) {
    if (!in_.string(text_)) return false;
    if (text_ != "__principal__") return refuse("expected {\"__principal__\": \"…\"}");
    if (!in_.expect(':')) return false;
  }
  if (in_.peek() != '"') return expected(type);
  if (!in_.string(text_)) return false;
  auto who = principal::from_text(text_);
  if (!who) return refuse(who.error().message);
  out = value::principal(std::move(*who));
  return !boxed || in_.expect('}');
}

bool json_reader::func(type_ref type, value& out) {
  std::string service;
  std::string name;
  if (in_.accept('[')) {
    if (!in_.string(service) || !in_.expect(',') || !in_.string(name) || !in_.expect(']')) {
      return false;
    }
  } else if (in_.accept('{')) {
    bool has_service = false;
    bool has_name = false;
    do {
      if (!in_.string(text_) || !in_.expect(':')) return false;
      const bool is_service = text_ == "principal";
      if (!is_service && text_ != "method") return refuse("expected keys principal and method");
      if (is_service ? has_service : has_name) return refuse("a key twice");
      if (!in_.string(is_service ? service : name)) return false;
      (is_service ? has_service : has_name) = true;
    } while (in_.accept(','));
    if (!in_.expect('}')) return false;
    if (!has_service || !has_name) return refuse("expected keys principal and method");
  } else {
    return expected(type);
  }
  auto who = principal::from_text(service);
  if (!who) return refuse(who.error().message);
  out = value::func({std::move(*who), std::move(name)});
  return true;
}

bool json_reader::blob(type_ref type, value& out) {
  switch (in_.peek()) {
    case '"': {
      const auto start = in_.position();
      if (!in_.string(text_)) return false;
      if (!text_.starts_with("0x")) {
        in_.rewind(start);
        return expected(type);
      }
      auto bytes = from_hex(std::string_view{text_}.substr(2));
      if (!bytes) return refuse(bytes.error().message);
      out = value::string(std::move(*bytes));
      return true;
    }
    case '{':
      return blob_object(type, out);
    case '[': {
      byte_string bytes;
      const auto one = [&] {
        value byte;
        if (!read(kind::nat8, byte)) return false;
        bytes += static_cast<char>(byte.as_fixed_nat());
        return true;
      };
      if (!elements(one)) return false;
      out = value::string(std::move(bytes));
      return true;
    }
    default:
      return expected(type);
  }
}

bool json_reader::blob_object(type_ref, value& out) {
  std::string key;
  if (!in_.expect('{') || !in_.string(key) || !in_.expect(':') || !in_.string(text_)
      || !in_.expect('}')) {
    return false;
  }
  if (key == "text") {
    out = value::string(text_);
    return true;
  }
  if (key != "base64") return refuse("expected {\"base64\": …} or {\"text\": …}");
  auto bytes = from_base64(text_);
  if (!bytes) return refuse(bytes.error().message);
  out = value::string(std::move(*bytes));
  return true;
}

} // namespace moxzi::candid
