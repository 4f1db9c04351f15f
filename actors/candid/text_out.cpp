#include "actors/candid/lexer.hpp"
#include "actors/candid/text.hpp"
#include "actors/candid/visit_value.hpp"

namespace moxzi::candid {

namespace {

class text_writer {
public:
  text_writer(const type_table& types, const text_options& options)
      : types_(types), options_(options) {
    // nop
  }

  void write(type_ref type, const value& v, bool under_opt = false) {
    under_opt_ = under_opt;
    visit_value(*this, types_, type, v);
  }

  void null() {
    text_ += "null";
  }
  void boolean(bool b) {
    text_ += b ? "true" : "false";
  }
  void whole(type_ref type, const integer& n) {
    number(type, n.to_text());
  }
  void floating(type_ref type, const std::string& text) {
    number(type, text);
  }
  void text(const std::string& s) {
    text_ += quoted(s);
  }
  void blob(const std::string& bytes) {
    text_ += "blob " + quoted_bytes(bytes);
  }
  void reference(type_ref type, const principal& who) {
    text_ += fmt::format("{} \"{}\"", keyword(types_.kind_of(type)), who.to_text());
  }
  void func(const value::func_ref& f) {
    text_ += "func \"" + f.service.to_text() + "\".";
    text_ += is_plain_name(f.method) ? f.method : quoted(f.method);
  }
  void no_value(type_ref) {
    null();
  }
  void some(type_ref type, const value& content) {
    text_ += "opt ";
    write(types_.element(type), content, true);
  }
  void vec(type_ref type, const std::vector<value>& items);
  void record(type_ref type, const std::vector<value>& items);
  void variant(const field& tag, type_ref type, const value& payload);

  std::string take() {
    return std::move(text_);
  }
  /// What stands between values.
  void put(std::string_view text) {
    text_ += text;
  }

private:
  void number(type_ref type, std::string_view text);
  void label(const field& f);

  const type_table& types_;
  const text_options& options_;
  std::string text_;
  bool under_opt_ = false;
};

/// A number, with its type if it would read back at another (`int` and `float64` are assumed).
void text_writer::number(type_ref type, std::string_view text) {
  const auto form = types_.kind_of(type);
  const bool says = options_.annotate && form != kind::integer && form != kind::float64;
  if (says && under_opt_) text_ += '(';
  text_ += text;
  if (!says) return;
  text_ += " : ";
  text_ += keyword(form);
  if (under_opt_) text_ += ')';
}

void text_writer::label(const field& f) {
  const auto name = types_.name_of(f);
  if (f.name == field::no_name) {
    text_ += std::to_string(f.id);
  } else {
    text_ += is_plain_name(name) ? std::string{name} : quoted(name);
  }
}

void text_writer::vec(type_ref type, const std::vector<value>& items) {
  text_ += "vec {";
  for (size_t i = 0; i < items.size(); ++i) {
    text_ += i == 0 ? " " : "; ";
    write(types_.element(type), items[i]);
  }
  text_ += items.empty() ? "}" : " }";
}

void text_writer::record(type_ref type, const std::vector<value>& items) {
  const auto fields = types_.fields(type);
  const bool tuple = types_.is_tuple(type);
  text_ += "record {";
  for (size_t i = 0; i < fields.size(); ++i) {
    text_ += i == 0 ? " " : "; ";
    const auto at = tuple ? i : fields[i].declared;
    if (!tuple) {
      label(fields[at]);
      text_ += " = ";
    }
    write(fields[at].type, items[at]);
  }
  text_ += fields.empty() ? "}" : " }";
}

void text_writer::variant(const field& tag, type_ref, const value& payload) {
  text_ += "variant { ";
  label(tag);
  if (types_.kind_of(tag.type) != kind::null) {
    text_ += " = ";
    write(tag.type, payload);
  }
  text_ += " }";
}

} // namespace

std::string values_to_text(const tuple_type& types, std::span<const value> values,
                           const text_options& options) {
  text_writer writer{*types.types, options};
  writer.put("(");
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) writer.put(", ");
    writer.write(types.items[i], values[i]);
  }
  writer.put(")");
  return writer.take();
}

std::string message_to_text(const message& what, const text_options& options) {
  return values_to_text({.types = what.types, .items = what.items, .header = {}}, what.values,
                        options);
}

} // namespace moxzi::candid
