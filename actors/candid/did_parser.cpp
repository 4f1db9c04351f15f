#include "actors/candid/did_parser.hpp"

#include <deque>
#include <filesystem>
#include <set>

#include "actors/candid/grammar.hpp"

namespace moxzi::candid {

namespace {

/// Imported files, and so also how deep they may import each other.
constexpr size_t imports_max = 100;

/// Reads a file and those that it imports into one table.
class did_reader {
public:
  explicit did_reader(const did_loader& load) : load_(load) {
    // nop
  }

  result<interface> read(std::string_view text) {
    lexer in{text};
    if (!file(in, true)) return failure_ ? *failure_ : in.failure();
    std::vector<type_ref*> held;
    for (auto& ref : init_) held.push_back(&ref);
    if (service_) held.push_back(&*service_);
    for (auto& ref : merged_) held.push_back(&ref);
    for (auto& alias : aliases_) held.push_back(&alias.type);
    if (auto done = parser_.resolve(held); !done)
      return in_file(parser_.failed_text(), done.error());
    if (auto done = check_services(); !done) return done.error();
    if (auto done = merge_services(); !done) return done.error();
    auto made = make_interface(std::make_shared<const type_table>(std::move(types_)), service_,
                               std::move(init_));
    made.service_name = service_name_;
    made.has_constructor = has_constructor_;
    return made;
  }

private:
  bool file(lexer& in, bool is_main) {
    for (;;) {
      const auto offset = in.peek().offset;
      if (in.accept("type")) {
        if (!parser_.definition(in)) return false;
      } else if (in.accept("import")) {
        if (!import(in, offset)) return false;
      } else {
        break;
      }
      if (!in.accept(";") && in.peek().kind != token::form::end && !in.is("service")) {
        return in.fail_expected("';'");
      }
    }
    const bool has_service = in.accept("service");
    if (has_service && !service(in, is_main)) return false;
    if (has_service) in.accept(";");
    if (in.failed()) return false;
    if (in.peek().kind == token::form::end) return true;
    return in.fail_expected(has_service ? "the end after the service"
                                        : "'type', 'import' or 'service'");
  }

  bool import(lexer& in, size_t offset) {
    const bool with_service = in.accept("service");
    if (in.peek().kind != token::form::text) return in.fail_expected("the path of a file");
    const auto path = resolved(in.take().bytes, in.text());
    if (!load_) return in.fail_at(offset, "imports cannot be followed here");
    if (!loaded_.insert(path).second) return true;
    auto text = load_(path);
    if (!text) return in.fail_at(offset, text.error().message);
    if (loaded_.size() > imports_max) return in.fail_at(offset, "too many imports");
    files_.push_back({path, std::move(*text)});
    lexer imported{files_.back().text};
    const auto outer = take_service_;
    const auto outer_import = import_;
    const auto services = merged_.size();
    take_service_ = with_service;
    import_ = {in.text(), offset};
    if (!file(imported, false)) {
      if (!failure_) {
        failure_ = imported.failure();
        failure_->message = path + ":" + failure_->message;
      }
      return false;
    }
    take_service_ = outer;
    import_ = outer_import;
    if (with_service && merged_.size() == services) {
      return in.fail_at(offset, fmt::format("{} has no service", path));
    }
    return true;
  }

  /// The path of a file that the file with this text imports: from where the main file is.
  std::string resolved(const std::string& path, std::string_view importer) const {
    const auto folder = std::filesystem::path{path_of(importer)}.parent_path();
    return (folder / path).lexically_normal().string();
  }

  /// Of an imported file; empty for the main one.
  std::string path_of(std::string_view text) const {
    for (const auto& f : files_) {
      if (f.text.data() == text.data()) return f.path;
    }
    return {};
  }

  error in_file(std::string_view text, error what) const {
    const auto path = path_of(text);
    if (!path.empty()) what.message = path + ":" + what.message;
    return what;
  }

  bool service(lexer& in, bool is_main) {
    std::string name;
    if (in.peek().kind == token::form::name) name = in.take().raw;
    if (!in.expect(":")) return false;
    std::vector<type_ref> init;
    const auto start = in.peek().offset;
    const bool has_constructor = in.is("(");
    if (has_constructor && (!parser_.tuple(in, init) || !in.expect("->"))) return false;
    type_ref type;
    if (in.is("{")) {
      if (!parser_.actor(in, type)) return false;
    } else if (in.peek().kind == token::form::name && is_plain_name(in.peek().raw)) {
      const auto alias = in.take();
      type = parser_.named(alias.raw, in, alias.offset);
      aliases_.push_back({type, in.text(), alias.offset});
    } else {
      return in.fail_expected("a service type");
    }
    if (is_main) {
      service_ = type;
      service_name_ = std::move(name);
      init_ = std::move(init);
      has_constructor_ = has_constructor;
    } else if (take_service_) {
      if (has_constructor) {
        return in.fail_at(start, "a service with arguments of its own cannot be imported");
      }
      merged_.push_back(type);
      imports_.push_back(import_);
    }
    return true;
  }

  result<void> check_services() const {
    for (const auto& alias : aliases_) {
      const auto form = types_.kind_of(alias.type);
      if (form == kind::service) continue;
      return in_file(alias.text,
                     error_at(alias.text, alias.offset, candid_errc::syntax,
                              fmt::format("the service is no service type but {}", keyword(form))));
    }
    return {};
  }

  /// `import service`: the methods of the imported ones join ours.
  result<void> merge_services() {
    if (merged_.empty()) return {};
    std::vector<method> all;
    std::set<std::string> names;
    const auto take = [&](type_ref type) -> const method* {
      for (const auto& m : types_.methods(type)) {
        if (!names.insert(m.name).second) return &m;
        all.push_back(m);
      }
      return nullptr;
    };
    if (service_) take(*service_);
    for (size_t i = 0; i < merged_.size(); ++i) {
      const auto* twice = take(merged_[i]);
      if (twice == nullptr) continue;
      const auto& at = imports_[i];
      return in_file(at.text,
                     error_at(at.text, at.offset, candid_errc::syntax,
                              fmt::format("method '{}' of the imported service is declared twice",
                                          twice->name)));
    }
    service_ = types_.declare();
    return types_.set_service(*service_, std::move(all));
  }

  /// `service : NAME`
  struct service_alias {
    type_ref type;
    std::string_view text; ///< of the file
    size_t offset = 0;
  };

  struct file_text {
    std::string path; ///< from where the main file is
    std::string text;
  };

  /// Where an import is written.
  struct place {
    std::string_view text; ///< of the file
    size_t offset = 0;
  };

  const did_loader& load_;
  type_table types_;
  type_parser parser_{types_};
  std::set<std::string> loaded_;
  std::deque<file_text> files_;  ///< the imported ones
  std::vector<type_ref> merged_; ///< services of `import service`
  std::vector<place> imports_;   ///< of each of these, that which brought it
  place import_;                 ///< of the file being read
  std::vector<service_alias> aliases_;
  bool take_service_ = false;
  std::optional<type_ref> service_;
  std::string service_name_;
  std::vector<type_ref> init_;
  bool has_constructor_ = false;
  std::optional<error> failure_; ///< in an imported file
};

} // namespace

result<interface> parse_did(std::string_view text, const did_loader& load) {
  return did_reader{load}.read(text);
}

result<tuple_type> parse_types(std::string_view text, const interface* names) {
  auto types =
    names == nullptr ? std::make_shared<type_table>() : std::make_shared<type_table>(*names->types);
  type_parser parser{*types};
  lexer in{text};
  std::vector<type_ref> items;
  if (!parser.tuple(in, items)) return in.failure();
  if (in.peek().kind != token::form::end) in.fail_expected("the end");
  if (in.failed()) return in.failure();
  std::vector<type_ref*> held;
  for (auto& item : items) held.push_back(&item);
  if (auto done = parser.resolve(held); !done) return done.error();
  return make_tuple_type(std::move(types), std::move(items));
}

} // namespace moxzi::candid
