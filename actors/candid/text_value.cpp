#include "actors/candid/text_value.hpp"

#include <algorithm>
#include <set>

#include "actors/principal.hpp"
#include "base/limits.hpp"

namespace moxzi::candid {

namespace {

/// Is it `digits[.digits][e±digits]` or its hexadecimal form, with one `_` between digits or none?
bool is_number(std::string_view raw) {
  const bool hex = raw.starts_with("0x") || raw.starts_with("0X");
  if (hex) raw.remove_prefix(2);
  const auto digit = [hex](char c) {
    if (c >= '0' && c <= '9') return true;
    const auto lower = static_cast<char>(c | 0x20);
    return hex && lower >= 'a' && lower <= 'f';
  };
  size_t at = 0;
  const auto run = [&](auto&& is_one) {
    const auto start = at;
    for (; at < raw.size(); ++at) {
      const bool is_between = at > start && raw[at] == '_' && raw[at - 1] != '_'
                              && at + 1 < raw.size() && is_one(raw[at + 1]);
      if (!is_between && !is_one(raw[at])) break;
    }
    return at > start;
  };
  if (!run(digit)) return false;
  if (at < raw.size() && raw[at] == '.') {
    ++at;
    run(digit);
  }
  if (at < raw.size()
      && std::string_view{hex ? "pP" : "eE"}.find(raw[at]) != std::string_view::npos) {
    ++at;
    if (at < raw.size() && (raw[at] == '+' || raw[at] == '-')) ++at;
    if (!run([](char c) { return c >= '0' && c <= '9'; })) return false;
  }
  return at == raw.size();
}

} // namespace

bool text_value::is_float() const noexcept {
  if (what != form::number) return false;
  if (text.find('n') != std::string::npos) return true; // nan, nan:0x1, inf
  const bool hex = text.find("0x") != std::string::npos || text.find("0X") != std::string::npos;
  return text.find_first_of(hex ? ".pP" : ".eE") != std::string::npos;
}

bool text_parser::arguments(std::vector<text_value>& out) {
  if (!in_.expect("(")) return false;
  while (!in_.is(")")) {
    out.emplace_back();
    if (!annotated(out.back())) return false;
    if (!in_.accept(",") && !in_.is(")")) return in_.fail_expected("',' or ')'");
  }
  in_.take();
  return !in_.failed();
}

bool text_parser::annotated(text_value& out) {
  if (!in_.deeper()) return false;
  if (!single(out)) return false;
  while (in_.accept(":")) {
    text_value outer;
    outer.what = text_value::form::annotated;
    outer.offset = out.offset;
    if (!types_.type(in_, outer.type)) return false;
    outer.items.push_back(std::move(out));
    out = std::move(outer);
    if (!in_.deeper()) return false; // a chain of annotations nests as well
  }
  in_.shallower();
  return true;
}

bool text_parser::single(text_value& out) {
  out.offset = in_.peek().offset;
  if (++count_ > limits::text_values_max) {
    return in_.fail_at(out.offset, fmt::format("more than {} values", limits::text_values_max));
  }
  switch (in_.peek().kind) {
    case token::form::number:
      return number(out);
    case token::form::text:
      return quoted(out, text_value::form::text);
    case token::form::name:
      return word(out);
    case token::form::symbol:
      if (in_.is("-") || in_.is("+")) return number(out);
      if (in_.accept("(")) return annotated(out) && in_.expect(")");
      break;
    case token::form::end:
      break;
  }
  return in_.fail_expected("a value");
}

bool text_parser::number(text_value& out) {
  const bool negative = in_.accept("-");
  if (!negative) in_.accept("+");
  out.what = text_value::form::number;
  out.text = negative ? "-" : "";
  if (in_.is("inf") || in_.is("nan")) {
    const bool is_nan = in_.is("nan");
    out.text += in_.take().raw;
    if (!is_nan || !in_.is(":") || in_.peek_second().kind != token::form::number) return true;
    in_.take(); // no annotation: a type is no number
    out.text += ':';
    out.text += in_.take().raw;
    return true;
  }
  if (in_.peek().kind != token::form::number) return in_.fail_expected("a number");
  const auto taken = in_.take();
  if (!is_number(taken.raw)) {
    return in_.fail_at(taken.offset, fmt::format("'{}' is no number", excerpt(taken.raw)));
  }
  out.text += taken.raw;
  std::erase(out.text, '_');
  return true;
}

bool text_parser::quoted(text_value& out, text_value::form what) {
  if (in_.peek().kind != token::form::text) return in_.fail_expected("a text in quotes");
  out.what = what;
  auto taken = in_.take();
  out.text = std::move(taken.bytes);
  if (what == text_value::form::text && !is_utf8(out.text)) {
    return in_.fail_at(taken.offset, "a text that is not UTF-8");
  }
  return true;
}

bool text_parser::reference(text_value& out, text_value::form what) {
  if (!quoted(out, what)) return false;
  if (auto who = principal::from_text(out.text); !who) {
    return in_.fail_at(out.offset, who.error().message);
  }
  if (what != text_value::form::func) return true;
  if (!in_.expect(".")) return false;
  const auto form = in_.peek().kind;
  if (form != token::form::name && form != token::form::text) {
    return in_.fail_expected("the name of a method");
  }
  auto taken = in_.take();
  out.method = form == token::form::text ? std::move(taken.bytes) : std::string{taken.raw};
  return is_utf8(out.method) || in_.fail_at(taken.offset, "a name that is not UTF-8");
}

bool text_parser::word(text_value& out) {
  using form = text_value::form;
  const auto w = in_.peek().raw;
  if (w == "inf" || w == "nan") return number(out);
  if (w == "null") {
    in_.take();
    return true;
  }
  if (w == "true" || w == "false") {
    out.what = form::boolean;
    out.text = w;
    in_.take();
    return true;
  }
  if (w == "opt") {
    in_.take();
    out.what = form::opt;
    out.items.emplace_back();
    if (!in_.deeper() || !single(out.items.back())) return false;
    in_.shallower();
    return true;
  }
  if (in_.accept("blob")) return quoted(out, form::blob);
  if (in_.accept("principal")) return reference(out, form::principal);
  if (in_.accept("service")) return reference(out, form::service);
  if (in_.accept("func")) return reference(out, form::func);
  if (in_.accept("vec")) return vec(out);
  if (in_.accept("record")) return record(out);
  if (in_.accept("variant")) return variant(out);
  return in_.fail_expected("a value");
}

bool text_parser::vec(text_value& out) {
  out.what = text_value::form::vec;
  if (!in_.expect("{")) return false;
  while (!in_.is("}")) {
    out.items.emplace_back();
    if (!annotated(out.items.back())) return false;
    if (!in_.accept(";") && !in_.is("}")) return in_.fail_expected("';' or '}'");
  }
  in_.take();
  return true;
}

bool text_parser::label(text_value::label& out) {
  const auto form = in_.peek().kind;
  const auto taken = in_.take();
  if (form == token::form::number) {
    uint64_t id = 0;
    if (!parse_id(taken, id)) {
      return in_.fail_at(taken.offset, "a field id is a whole number below 2^32");
    }
    out.id = static_cast<uint32_t>(id);
    return true;
  }
  if (form != token::form::name && form != token::form::text) {
    return in_.fail_at(taken.offset, "expected a field");
  }
  out.name = form == token::form::text ? taken.bytes : std::string{taken.raw};
  out.has_name = true;
  out.id = hash_name(out.name);
  return is_utf8(out.name) || in_.fail_at(taken.offset, "a name that is not UTF-8");
}

bool text_parser::record_item(text_value& out, uint64_t& next) {
  text_value::label key;
  const auto offset = in_.peek().offset;
  if (in_.peek().kind != token::form::symbol && in_.peek_second().raw == "="
      && in_.peek_second().kind == token::form::symbol) {
    if (!label(key)) return false;
    in_.take();
  } else {
    if (next > UINT32_MAX) return in_.fail_at(offset, "no field id is left after the one before");
    key.id = static_cast<uint32_t>(next);
  }
  next = uint64_t{key.id} + 1;
  out.labels.push_back(std::move(key));
  out.items.emplace_back();
  return annotated(out.items.back());
}

bool text_parser::record(text_value& out) {
  out.what = text_value::form::record;
  if (!in_.expect("{")) return false;
  uint64_t next = 0;
  std::set<uint32_t> seen;
  while (!in_.is("}")) {
    const auto offset = in_.peek().offset;
    if (!record_item(out, next)) return false;
    if (!seen.insert(out.labels.back().id).second) {
      return in_.fail_at(offset, fmt::format("field {} twice", out.labels.back().id));
    }
    if (!in_.accept(";") && !in_.is("}")) return in_.fail_expected("';' or '}'");
  }
  in_.take();
  return true;
}

bool text_parser::variant(text_value& out) {
  out.what = text_value::form::variant;
  if (!in_.expect("{")) return false;
  if (in_.is("}")) return in_.fail_expected("a tag");
  out.labels.emplace_back();
  out.items.emplace_back();
  out.items.back().offset = in_.peek().offset;
  if (!label(out.labels.back())) return false;
  if (in_.accept("=") && !annotated(out.items.back())) return false;
  in_.accept(";");
  return in_.expect("}");
}

void collect_types(std::vector<text_value>& values, std::vector<type_ref*>& out) {
  for (auto& v : values) {
    if (v.what == text_value::form::annotated) out.push_back(&v.type);
    collect_types(v.items, out);
  }
}

} // namespace moxzi::candid
