#include <array>
#include <charconv>

#include "actors/candid/base64.hpp"
#include "actors/candid/errc.hpp"
#include "actors/candid/json.hpp"
#include "actors/candid/json_source.hpp"
#include "actors/candid/visit_value.hpp"

namespace moxzi::candid {

namespace {

/// The largest whole number that every reader of JSON takes exactly.
constexpr int64_t exact_max = (int64_t{1} << 53) - 1;

class json_writer {
public:
  json_writer(const type_table& types, const json_options& options)
      : types_(types), options_(options) {
    // nop
  }

  void write(type_ref type, const value& v) {
    visit_value(*this, types_, type, v);
  }

  void null() {
    text_ += "null";
  }
  void boolean(bool b) {
    text_ += b ? "true" : "false";
  }
  void whole(type_ref, const integer& n) {
    const auto small = n.to_int64();
    if (!small || *small > exact_max || *small < -exact_max) {
      text_ += '"' + n.to_text() + '"';
      return;
    }
    std::array<char, 24> raw;
    const auto end = std::to_chars(raw.data(), raw.data() + raw.size(), *small).ptr;
    text_.append(raw.data(), end);
  }
  void floating(type_ref, std::string number) {
    if (number.find("nan") != std::string::npos) {
      number = "\"NaN\""; // JSON here has one
    } else if (number.ends_with("inf")) {
      number = number.front() == '-' ? "\"-Infinity\"" : "\"Infinity\"";
    }
    text_ += number;
  }
  void text(const std::string& s) {
    append_json_string(text_, s);
  }
  void blob(const std::string& bytes) {
    if (options_.blob_base64) {
      text_ += "{\"base64\":\"" + to_base64(bytes) + "\"}";
    } else {
      text_ += "\"0x" + to_hex(bytes) + '"';
    }
  }
  void reference(type_ref, const principal& who) {
    text_ += '"' + who.to_text() + '"';
  }
  void func(const value::func_ref& f) {
    text_ += "{\"principal\":\"" + f.service.to_text() + "\",\"method\":";
    append_json_string(text_, f.method);
    text_ += '}';
  }
  void no_value(type_ref type) {
    const bool nested = types_.is_nullable(types_.element(type));
    if (!nested) return null();
    enter('[');
    leave(']');
  }
  void some(type_ref type, const value& content);
  void vec(type_ref type, const std::vector<value>& items);
  void record(type_ref type, const std::vector<value>& items);
  void variant(const field& tag, type_ref type, const value& payload);

  std::string take() {
    return std::move(text_);
  }
  /// What stands between values.
  void put(char c) {
    text_ += c;
  }
  /// Does what was written nest deeper than it may?
  bool is_too_deep() const noexcept {
    return is_too_deep_;
  }

private:
  void enter(char bracket) {
    text_ += bracket;
    if (++depth_ > limits::json_depth_max) is_too_deep_ = true;
  }
  void leave(char bracket) {
    text_ += bracket;
    --depth_;
  }
  void label(type_ref type, const field& f);

  const type_table& types_;
  const json_options& options_;
  std::string text_;
  int depth_ = 0;
  bool is_too_deep_ = false;
};

/// A name that reads as the number of another field is not written: its own number is.
void json_writer::label(type_ref type, const field& f) {
  const auto name = types_.name_of(f);
  const auto id = id_of_key(name);
  if (f.name == field::no_name || (id && types_.find(type, *id) != nullptr)) {
    text_ += "\"_" + std::to_string(f.id) + "_\"";
  } else {
    append_json_string(text_, name);
  }
}

void json_writer::some(type_ref type, const value& content) {
  const auto element = types_.element(type);
  const bool nested = types_.is_nullable(element);
  if (nested) enter('[');
  write(element, content);
  if (nested) leave(']');
}

void json_writer::vec(type_ref type, const std::vector<value>& items) {
  const auto element = types_.element(type);
  enter('[');
  for (size_t i = 0; i < items.size() && !is_too_deep_; ++i) {
    if (i > 0) text_ += ',';
    write(element, items[i]);
  }
  leave(']');
}

void json_writer::record(type_ref type, const std::vector<value>& items) {
  const auto fields = types_.fields(type);
  const bool tuple = types_.is_tuple(type);
  enter(tuple ? '[' : '{');
  for (size_t i = 0; i < fields.size() && !is_too_deep_; ++i) {
    if (i > 0) text_ += ',';
    const auto at = tuple ? i : fields[i].declared;
    if (!tuple) {
      label(type, fields[at]);
      text_ += ':';
    }
    write(fields[at].type, items[at]);
  }
  leave(tuple ? ']' : '}');
}

void json_writer::variant(const field& tag, type_ref type, const value& payload) {
  if (types_.kind_of(tag.type) == kind::null) return label(type, tag);
  enter('{');
  label(type, tag);
  text_ += ':';
  write(tag.type, payload);
  leave('}');
}

} // namespace

result<std::string> values_to_json(const tuple_type& types, std::span<const value> values,
                                   const json_options& options) {
  json_writer writer{*types.types, options};
  writer.put('[');
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) writer.put(',');
    writer.write(types.items[i], values[i]);
    if (writer.is_too_deep()) {
      return fail(candid_errc::over_limit, "args[{}]: JSON nested deeper than {}", i,
                  limits::json_depth_max);
    }
  }
  writer.put(']');
  return writer.take();
}

result<std::string> reply_to_json(const method_type& method, byte_view reply,
                                  const json_options& options) {
  constexpr quota allowed{.steps_max = limits::json_values_max};
  // Seen through before anything is built, so that what is refused takes no memory.
  if (auto sound = validate(reply, method.results, allowed); !sound) return sound.error();
  auto values = decode(reply, method.results, allowed);
  if (!values) return values.error();
  return values_to_json(method.results, *values, options);
}

} // namespace moxzi::candid
