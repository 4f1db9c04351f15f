#include "actors/candid/encode.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "actors/candid/decode.hpp"
#include "actors/candid/errc.hpp"
#include "base/limits.hpp"

namespace moxzi::candid {

namespace {

void append_count(byte_string& out, uint64_t n) {
  while (n >= 0x80) {
    out += static_cast<char>(n | 0x80);
    n >>= 7;
  }
  out += static_cast<char>(n);
}

void append_signed(byte_string& out, int64_t n) {
  while (n < -64 || n > 63) {
    out += static_cast<char>(n | 0x80);
    n >>= 7;
  }
  out += static_cast<char>(n & 0x7F);
}

template <class T>
void append_fixed(byte_string& out, T number) {
  static_assert(std::endian::native == std::endian::little);
  char raw[sizeof(T)];
  std::memcpy(raw, &number, sizeof(T));
  out.append(raw, sizeof(T));
}

// -- types --------------------------------------------------------------------

/// Writes the table of one message: numbers entries as they are met, breadth first.
class table_writer {
public:
  explicit table_writer(const type_table& types) : types_(types) {
    // nop
  }

  byte_string write(std::span<const type_ref> items) {
    byte_string arguments;
    append_count(arguments, items.size());
    for (const auto item : items) append_ref(arguments, item);
    byte_string body;
    for (size_t i = 0; i < queue_.size(); ++i) append_entry(body, queue_[i]);
    byte_string out = "DIDL";
    append_count(out, queue_.size());
    return out + body + arguments;
  }

private:
  void append_ref(byte_string& out, type_ref type) {
    if (!type.is_entry()) {
      append_signed(out, type.raw());
      return;
    }
    const auto next = static_cast<uint32_t>(queue_.size());
    const auto [at, added] = numbers_.emplace(type.index(), next);
    if (added) queue_.push_back(type);
    append_signed(out, at->second);
  }

  void append_entry(byte_string& out, type_ref type) {
    const auto form = types_.kind_of(type);
    append_signed(out, static_cast<int>(form));
    switch (form) {
      case kind::opt:
      case kind::vec:
        append_ref(out, types_.element(type));
        break;
      case kind::record:
      case kind::variant:
        append_count(out, types_.fields(type).size());
        for (const auto& f : types_.fields(type)) {
          append_count(out, f.id);
          append_ref(out, f.type);
        }
        break;
      case kind::func:
        append_func(out, type);
        break;
      case kind::service:
        append_count(out, types_.methods(type).size());
        for (const auto& m : types_.methods(type)) {
          append_count(out, m.name.size());
          out += m.name;
          append_ref(out, m.type);
        }
        break;
      default: // a future type: no bytes of its own
        append_count(out, 0);
        break;
    }
  }

  void append_func(byte_string& out, type_ref type) {
    append_count(out, types_.arguments(type).size());
    for (const auto t : types_.arguments(type)) append_ref(out, t);
    append_count(out, types_.results(type).size());
    for (const auto t : types_.results(type)) append_ref(out, t);
    const auto set = types_.annotations(type);
    append_count(out, static_cast<uint64_t>(std::popcount(set)));
    if (set & annotation::query) out += '\x01';
    if (set & annotation::oneway) out += '\x02';
    if (set & annotation::composite_query) out += '\x03';
  }

  const type_table& types_;
  std::unordered_map<uint32_t, uint32_t> numbers_; // never iterated
  std::vector<type_ref> queue_;
};

// -- values -------------------------------------------------------------------

class value_writer {
public:
  value_writer(const type_table& types, byte_string& out) : types_(types), out_(out) {
    // nop
  }

  /// False if the value does not have the shape of the type; `path()` then says where.
  bool write(type_ref type, const value& v);

  std::string path() const {
    std::string text;
    for (auto at = path_.rbegin(); at != path_.rend(); ++at) text += *at;
    return text;
  }
  const std::string& reason() const {
    return reason_;
  }
  /// Values written.
  size_t written() const noexcept {
    return written_;
  }

private:
  bool refuse(type_ref type) {
    reason_ = fmt::format("no {}", keyword(types_.kind_of(type)));
    return false;
  }
  bool write_fixed(type_ref type, const value& v);
  bool write_composite(type_ref type, const value& v);
  bool write_vec(type_ref type, const value& v);
  bool write_record(type_ref type, const value& v);
  bool write_variant(type_ref type, const value& v);
  void write_principal(const principal& who) {
    out_ += '\x01';
    append_count(out_, who.bytes().size());
    out_ += who.bytes();
  }
  bool write_text(type_ref type, const value& v) {
    if (!v.holds<std::string>()) return refuse(type);
    if (!is_utf8(v.as_string())) {
      reason_ = "text that is not UTF-8";
      return false;
    }
    append_count(out_, v.as_string().size());
    out_ += v.as_string();
    return true;
  }
  template <class T>
  bool write_nat(type_ref type, const value& v) {
    if (!v.holds<uint64_t>() || v.as_fixed_nat() > std::numeric_limits<T>::max()) {
      return refuse(type);
    }
    append_fixed(out_, static_cast<T>(v.as_fixed_nat()));
    return true;
  }
  template <class T>
  bool write_int(type_ref type, const value& v) {
    if (!v.holds<int64_t>()) return refuse(type);
    const auto n = v.as_fixed_int();
    if (n < std::numeric_limits<T>::min() || n > std::numeric_limits<T>::max()) return refuse(type);
    append_fixed(out_, static_cast<T>(n));
    return true;
  }

  const type_table& types_;
  byte_string& out_;
  std::vector<std::string> path_; // innermost first
  std::string reason_;
  size_t written_ = 0;
  int depth_ = 0;
};

bool value_writer::write(type_ref type, const value& v) {
  const auto form = types_.kind_of(type);
  ++written_;
  switch (form) {
    case kind::null:
    case kind::reserved:
      return v.is_null() || refuse(type);
    case kind::boolean:
      if (!v.holds<bool>()) return refuse(type);
      out_ += v.as_boolean() ? '\x01' : '\x00';
      return true;
    case kind::nat:
      if (!v.holds<integer>() || v.as_whole().is_negative()) return refuse(type);
      v.as_whole().append_leb128(out_);
      return true;
    case kind::integer:
      if (!v.holds<integer>()) return refuse(type);
      v.as_whole().append_sleb128(out_);
      return true;
    case kind::float32:
      if (!v.holds<float>()) return refuse(type);
      append_fixed(out_, v.as_float32());
      return true;
    case kind::float64:
      if (!v.holds<double>()) return refuse(type);
      append_fixed(out_, v.as_float64());
      return true;
    case kind::text:
      return write_text(type, v);
    case kind::principal:
    case kind::service:
      if (!v.holds<principal>()) return refuse(type);
      write_principal(v.as_principal());
      return true;
    case kind::func:
      if (!v.holds_func()) return refuse(type);
      out_ += '\x01';
      write_principal(v.as_func().service);
      append_count(out_, v.as_func().method.size());
      out_ += v.as_func().method;
      return true;
    default:
      return write_fixed(type, v);
  }
}

bool value_writer::write_fixed(type_ref type, const value& v) {
  switch (types_.kind_of(type)) {
    case kind::nat8:
      return write_nat<uint8_t>(type, v);
    case kind::nat16:
      return write_nat<uint16_t>(type, v);
    case kind::nat32:
      return write_nat<uint32_t>(type, v);
    case kind::nat64:
      return write_nat<uint64_t>(type, v);
    case kind::int8:
      return write_int<int8_t>(type, v);
    case kind::int16:
      return write_int<int16_t>(type, v);
    case kind::int32:
      return write_int<int32_t>(type, v);
    case kind::int64:
      return write_int<int64_t>(type, v);
    default:
      return write_composite(type, v);
  }
}

bool value_writer::write_composite(type_ref type, const value& v) {
  if (depth_ >= limits::candid_depth_max) {
    reason_ = fmt::format("nested deeper than {}", limits::candid_depth_max);
    return false;
  }
  ++depth_;
  bool ok = false;
  switch (types_.kind_of(type)) {
    case kind::opt:
      if (v.is_null()) {
        out_ += '\x00';
        ok = true;
      } else if (v.holds_some()) {
        out_ += '\x01';
        ok = write(types_.element(type), v.as_some());
      } else {
        ok = refuse(type);
      }
      break;
    case kind::vec:
      ok = write_vec(type, v);
      break;
    case kind::record:
      ok = write_record(type, v);
      break;
    case kind::variant:
      ok = write_variant(type, v);
      break;
    default: // empty and future types have no values
      ok = refuse(type);
      break;
  }
  --depth_;
  return ok;
}

bool value_writer::write_vec(type_ref type, const value& v) {
  const auto element = types_.element(type);
  if (element == type_ref{kind::nat8}) {
    if (!v.holds<std::string>()) return refuse(type);
    append_count(out_, v.as_string().size());
    out_ += v.as_string();
    return true;
  }
  if (!v.holds_list()) return refuse(type);
  const auto& items = v.as_list();
  append_count(out_, items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (write(element, items[i])) continue;
    path_.push_back(fmt::format("[{}]", i));
    return false;
  }
  return true;
}

bool value_writer::write_record(type_ref type, const value& v) {
  const auto fields = types_.fields(type);
  if (!v.holds_list() || v.as_list().size() != fields.size()) return refuse(type);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (write(fields[i].type, v.as_list()[i])) continue;
    path_.push_back("." + types_.label_of(fields[i]));
    return false;
  }
  return true;
}

bool value_writer::write_variant(type_ref type, const value& v) {
  const auto tags = types_.fields(type);
  if (!v.holds_variant() || v.as_position() >= tags.size()) return refuse(type);
  append_count(out_, v.as_position());
  if (write(tags[v.as_position()].type, v.as_payload())) return true;
  path_.push_back("." + types_.label_of(tags[v.as_position()]));
  return false;
}

} // namespace

byte_string encode_header(const type_table& types, std::span<const type_ref> items) {
  return table_writer{types}.write(items);
}

result<byte_string> encode(const tuple_type& types, std::span<const value> values) {
  if (values.size() != types.items.size()) {
    return fail(candid_errc::mismatch, "{} values for {} types", values.size(), types.items.size());
  }
  auto out = types.header;
  value_writer writer{*types.types, out};
  for (size_t i = 0; i < values.size(); ++i) {
    if (!writer.write(types.items[i], values[i])) {
      return fail(candid_errc::mismatch, "args[{}]{}: {}", i, writer.path(), writer.reason());
    }
  }
  // Reading costs a step a value, at most one for two bytes of a header, and less for long numbers:
  // nearly all messages are plainly within the quota. The others are read to see.
  const auto cost_max = writer.written() + types.header.size() + out.size();
  const bool is_plain =
    cost_max <= limits::candid_steps_free + limits::candid_steps_per_byte * out.size()
    && types.header.size() <= limits::candid_types_max
    && writer.written() <= limits::candid_empty_values_max;
  if (!is_plain) {
    auto readable = validate_any(out);
    if (!readable && readable.error().code == candid_errc::over_limit) {
      return fail(candid_errc::over_limit, "nobody could read the message: {}",
                  readable.error().message);
    }
  }
  return out;
}

} // namespace moxzi::candid
