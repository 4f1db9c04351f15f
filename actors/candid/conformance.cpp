#include "actors/candid/conformance.hpp"

#include "actors/candid/decode.hpp"
#include "actors/candid/grammar.hpp"
#include "actors/candid/text.hpp"

namespace moxzi::candid {

namespace {

struct input {
  bool is_binary = false;
  std::string content;
};

struct statement {
  enum class form : uint8_t { decodes, refused, equal, different };
  form claim = form::decodes;
  input left;
  input right;
  std::vector<type_ref> types;
  std::string description;
  size_t offset = 0;
};

class suite_reader {
public:
  explicit suite_reader(std::string_view text) : text_(text), in_(text) {
    // nop
  }

  result<conformance_report> run() {
    while (in_.peek().kind != token::form::end) {
      if (!(in_.accept("type") ? parser_.definition(in_) : assertion())) return in_.failure();
      if (!in_.accept(";") && in_.peek().kind != token::form::end) {
        in_.fail_expected("';'");
        return in_.failure();
      }
    }
    if (in_.failed()) return in_.failure();
    std::vector<type_ref*> held;
    for (auto& s : statements_) {
      for (auto& type : s.types) held.push_back(&type);
    }
    if (auto done = parser_.resolve(held); !done) return done.error();
    auto shared = std::make_shared<const type_table>(std::move(types_));
    conformance_report report;
    for (const auto& s : statements_) {
      const auto reason = check(s, make_tuple_type(shared, s.types));
      if (reason.empty()) {
        ++report.passed;
        continue;
      }
      ++report.failed;
      const auto line = error_at(text_, s.offset, candid_errc::mismatch,
                                 fmt::format("{}: {}", s.description, reason));
      report.failures.push_back(line.message);
    }
    return report;
  }

private:
  bool read_input(input& out) {
    out.is_binary = in_.accept("blob");
    if (in_.peek().kind != token::form::text) return in_.fail_expected("an input in quotes");
    out.content = in_.take().bytes;
    return true;
  }

  bool assertion() {
    using form = statement::form;
    statement s;
    s.offset = in_.peek().offset;
    if (!in_.is("assert")) return in_.fail_expected("'type' or 'assert'");
    in_.take();
    if (!read_input(s.left)) return false;
    if (in_.accept("!:")) {
      s.claim = form::refused;
    } else {
      const bool equal = in_.accept("==");
      if (equal || in_.accept("!=")) {
        s.claim = equal ? form::equal : form::different;
        if (!read_input(s.right)) return false;
      }
      if (!in_.expect(":")) return false;
    }
    std::vector<std::string> names;
    if (!parser_.tuple(in_, s.types, names)) return false;
    if (in_.peek().kind == token::form::text) s.description = in_.take().bytes;
    statements_.push_back(std::move(s));
    return true;
  }

  static result<std::vector<value>> read(const input& in, const tuple_type& types) {
    return in.is_binary ? decode(in.content, types) : text_to_values(types, in.content);
  }

  /// Empty, or why the statement does not hold.
  static std::string check(const statement& s, const tuple_type& types) {
    using form = statement::form;
    const auto left = read(s.left, types);
    if (s.claim == form::refused) {
      return left ? "accepted as " + values_to_text(types, *left) : std::string{};
    }
    if (!left) return left.error().message;
    if (s.claim == form::decodes) return {};
    const auto right = read(s.right, types);
    if (!right) return "on the right: " + right.error().message;
    if ((*left == *right) == (s.claim == form::equal)) return {};
    return values_to_text(types, *left) + " and " + values_to_text(types, *right);
  }

  std::string_view text_;
  lexer in_;
  type_table types_;
  type_parser parser_{types_};
  std::vector<statement> statements_;
};

} // namespace

result<conformance_report> run_conformance(std::string_view text) {
  return suite_reader{text}.run();
}

} // namespace moxzi::candid
