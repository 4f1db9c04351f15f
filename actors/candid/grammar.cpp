#include "actors/candid/grammar.hpp"

#include <algorithm>
#include <numeric>

namespace moxzi::candid {

bool parse_id(const token& number, uint64_t& out) {
  out = 0;
  auto digits = number.raw;
  uint64_t base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  }
  if (digits.empty() || digits.front() == '_' || digits.back() == '_'
      || digits.find("__") != std::string_view::npos) {
    return false;
  }
  for (const char c : digits) {
    if (c == '_') continue;
    const auto lower = static_cast<char>(c | 0x20);
    uint64_t digit = 99;
    if (c >= '0' && c <= '9') digit = static_cast<uint64_t>(c - '0');
    if (lower >= 'a' && lower <= 'f') digit = static_cast<uint64_t>(lower - 'a' + 10);
    if (digit >= base) return false;
    out = out * base + digit;
    if (out > UINT32_MAX) return false;
  }
  return true;
}

bool type_parser::primitive(std::string_view name, type_ref& out) const {
  for (int raw = static_cast<int>(kind::null); raw >= static_cast<int>(kind::principal); --raw) {
    const auto k = static_cast<kind>(raw);
    if (is_primitive(k) && keyword(k) == name) {
      out = k;
      return true;
    }
  }
  return false;
}

bool type_parser::definition(lexer& in) {
  if (in.peek().kind != token::form::name) return in.fail_expected("a name");
  const auto name = in.take();
  if (!is_plain_name(name.raw)) {
    return in.fail_at(name.offset, fmt::format("'{}' is a keyword", name.raw));
  }
  if (!in.expect("=")) return false;
  type_ref meaning;
  if (!type(in, meaning)) return false;
  if (auto done = types_.define(name.raw, meaning); !done) {
    return in.fail_at(name.offset, done.error().message);
  }
  definers_.emplace(name.raw, in.text());
  return true;
}

type_ref type_parser::named(std::string_view name, const lexer& in, size_t offset) {
  auto at = uses_.find(name);
  if (at == uses_.end()) {
    at = uses_.emplace(std::string{name}, uses{{types_.declare(), in.text(), offset}}).first;
  }
  auto& all = at->second;
  const auto standin = all.front().standin;
  const bool is_known = std::any_of(
    all.begin(), all.end(), [&in](const use& one) { return one.text.data() == in.text().data(); });
  if (!is_known) all.push_back({standin, in.text(), offset});
  return standin;
}

bool type_parser::type(lexer& in, type_ref& out) {
  const auto& word = in.peek();
  if (word.kind != token::form::name) return in.fail_expected("a type");
  if (!in.deeper()) return false;
  const auto offset = word.offset;
  const auto name = word.raw;
  bool known = true;
  bool ok = true;
  if (primitive(name, out)) {
    in.take();
  } else {
    ok = composite(in, name, out, known);
    if (ok && !known) {
      if (!is_plain_name(name)) return in.fail_expected("a type");
      in.take();
      out = named(name, in, offset);
    }
  }
  in.shallower();
  return ok;
}

bool type_parser::composite(lexer& in, std::string_view word, type_ref& out, bool& known) {
  if (word == "blob") {
    in.take();
    out = types_.blob();
    return true;
  }
  if (word == "opt" || word == "vec") {
    in.take();
    out = types_.declare();
    type_ref element;
    if (!type(in, element)) return false;
    word == "opt" ? types_.set_opt(out, element) : types_.set_vec(out, element);
    return true;
  }
  if (word == "record" || word == "variant") {
    in.take();
    return fields(in, word == "record", out);
  }
  if (word == "func") {
    in.take();
    return func(in, out);
  }
  if (word == "service") {
    in.take();
    return actor(in, out);
  }
  known = false;
  return true;
}

bool type_parser::fields(lexer& in, bool is_record, type_ref& out) {
  out = types_.declare();
  const auto offset = in.peek().offset;
  if (!in.expect("{")) return false;
  std::vector<field_spec> all;
  uint64_t next = 0;
  while (!in.is("}")) {
    if (!one_field(in, is_record, all, next)) return false;
    if (!in.accept(";") && !in.is("}")) return in.fail_expected("';' or '}'");
  }
  in.take();
  const auto made =
    is_record ? types_.set_record(out, std::move(all)) : types_.set_variant(out, std::move(all));
  if (!made) return in.fail_at(offset, made.error().message);
  return true;
}

bool type_parser::one_field(lexer& in, bool is_record, std::vector<field_spec>& all,
                            uint64_t& next) {
  const auto& first = in.peek();
  const auto form = first.kind;
  const auto offset = first.offset;
  const bool has_type = in.peek_second().raw == ":" && form != token::form::symbol;
  if (form == token::form::number) {
    const auto number = in.take();
    uint64_t id = 0;
    if (!parse_id(number, id)) {
      return in.fail_at(offset, "a field id is a whole number below 2^32");
    }
    type_ref type_of = kind::null;
    if (has_type) {
      in.take();
      if (!type(in, type_of)) return false;
    } else if (is_record) {
      return in.fail_expected("':'");
    }
    all.emplace_back(static_cast<uint32_t>(id), type_of);
    next = id + 1;
    return true;
  }
  if (has_type || !is_record) {
    if (form != token::form::name && form != token::form::text) {
      return in.fail_expected("a field");
    }
    const auto name = in.take();
    const std::string label{form == token::form::text ? std::string_view{name.bytes} : name.raw};
    if (form == token::form::text && !is_utf8(label)) {
      return in.fail_at(offset, "a name that is not UTF-8");
    }
    type_ref type_of = kind::null;
    if (in.accept(":") && !type(in, type_of)) return false;
    all.emplace_back(label, type_of);
    next = uint64_t{hash_name(label)} + 1;
    return true;
  }
  type_ref type_of;
  if (!type(in, type_of)) return false;
  if (next > UINT32_MAX) return in.fail_at(offset, "no field id is left after the one before");
  all.emplace_back(static_cast<uint32_t>(next++), type_of);
  return true;
}

bool type_parser::tuple(lexer& in, std::vector<type_ref>& out, std::vector<std::string>& names) {
  if (!in.expect("(")) return false;
  std::set<std::string> taken;
  while (!in.is(")")) {
    names.emplace_back();
    const auto form = in.peek().kind;
    if ((form == token::form::name || form == token::form::text) && in.peek_second().raw == ":") {
      const auto name = in.take();
      in.take();
      std::string label{form == token::form::text ? std::string_view{name.bytes} : name.raw};
      if (!is_utf8(label)) return in.fail_at(name.offset, "a name that is not UTF-8");
      if (!taken.insert(label).second) {
        return in.fail_at(name.offset, fmt::format("'{}' names two of them", label));
      }
      names.back() = std::move(label);
    }
    type_ref item;
    if (!type(in, item)) return false;
    out.push_back(item);
    if (!in.accept(",") && !in.is(")")) return in.fail_expected("',' or ')'");
  }
  in.take();
  return true;
}

bool type_parser::func(lexer& in, type_ref& out) {
  out = types_.declare();
  std::vector<type_ref> arguments;
  std::vector<type_ref> results;
  std::vector<std::string> names;
  if (!tuple(in, arguments, names) || !in.expect("->") || !tuple(in, results, names)) return false;
  uint8_t set = 0;
  for (;;) {
    const auto offset = in.peek().offset;
    if (in.accept("query")) {
      set |= annotation::query;
    } else if (in.accept("composite_query")) {
      set |= annotation::composite_query;
    } else if (in.accept("oneway")) {
      set |= annotation::oneway;
      if (!results.empty()) return in.fail_at(offset, "a function with results cannot be oneway");
    } else {
      break;
    }
  }
  types_.set_func(out, arguments, results, set);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) types_.name_parameter(out, i, std::move(names[i]));
  }
  return true;
}

bool type_parser::actor(lexer& in, type_ref& out) {
  out = types_.declare();
  const auto start = in.peek().offset;
  if (!in.expect("{")) return false;
  std::vector<method> all;
  while (!in.is("}")) {
    const auto form = in.peek().kind;
    if (form != token::form::name && form != token::form::text) {
      return in.fail_expected("a method");
    }
    const auto name = in.take();
    const std::string label{form == token::form::text ? std::string_view{name.bytes} : name.raw};
    if (!is_utf8(label)) return in.fail_at(name.offset, "a name that is not UTF-8");
    if (!in.expect(":")) return false;
    type_ref type_of;
    if (in.is("(")) {
      if (!func(in, type_of)) return false;
    } else if (in.peek().kind == token::form::name && is_plain_name(in.peek().raw)) {
      const auto alias = in.take();
      type_of = named(alias.raw, in, alias.offset);
      aliased_methods_.emplace_back(label, use{type_of, in.text(), alias.offset});
    } else {
      return in.fail_expected("a function type");
    }
    all.push_back({label, type_of});
    if (!in.accept(";") && !in.is("}")) return in.fail_expected("';' or '}'");
  }
  in.take();
  if (auto made = types_.set_service(out, std::move(all)); !made) {
    return in.fail_at(start, made.error().message);
  }
  return true;
}

error type_parser::fail_use(const use& used, candid_errc code, std::string_view reason) {
  failed_text_ = used.text;
  return error_at(used.text, used.offset, code, reason);
}

result<const type_ref*> type_parser::meaning_of(std::string_view name, const uses& all,
                                                const visibility& sees) {
  const auto* meaning = types_.lookup(name);
  if (meaning == nullptr) {
    return fail_use(all.front(), candid_errc::unknown_name,
                    fmt::format("type '{}' is not defined", name));
  }
  const auto definer = definers_.find(name);
  if (!sees || definer == definers_.end()) return meaning;
  for (const auto& used : all) {
    if (sees(used.text, definer->second)) continue;
    return fail_use(used, candid_errc::unknown_name,
                    fmt::format("type '{}' is defined neither here nor in an imported file", name));
  }
  return meaning;
}

result<void> type_parser::resolve(std::span<type_ref* const> extra, const visibility& sees) {
  std::vector<type_ref> targets;
  for (uint32_t i = 0; i < types_.size(); ++i) targets.push_back(type_ref::entry(i));
  for (const auto& [name, all] : uses_) {
    const auto meaning = meaning_of(name, all, sees);
    if (!meaning) return meaning.error();
    targets[all.front().standin.index()] = **meaning;
  }
  // An alias of an alias leads on; more steps than names is a circle.
  for (const auto& [name, all] : uses_) {
    const auto& used = all.front();
    auto& target = targets[used.standin.index()];
    std::vector<uint32_t> way;
    while (target.is_entry() && targets[target.index()] != target && way.size() <= uses_.size()) {
      way.push_back(target.index());
      target = targets[target.index()];
    }
    if (target.is_entry() && (target == used.standin || targets[target.index()] != target)) {
      return fail_use(used, candid_errc::syntax,
                      fmt::format("type '{}' is defined as itself", name));
    }
    for (const auto at : way) targets[at] = target; // so that no way is gone twice
  }
  types_.substitute(targets);
  for (auto* ref : extra) {
    if (ref->is_entry()) *ref = targets[ref->index()];
  }
  return check_methods(targets);
}

result<void> type_parser::check_methods(std::span<const type_ref> targets) {
  for (const auto& [name, used] : aliased_methods_) {
    const auto form = types_.kind_of(targets[used.standin.index()]);
    if (form == kind::func) continue;
    return fail_use(used, candid_errc::syntax,
                    fmt::format("method '{}' is no function but {}", name, keyword(form)));
  }
  return {};
}

} // namespace moxzi::candid
