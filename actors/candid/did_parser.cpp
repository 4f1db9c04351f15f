#include "actors/candid/did_parser.hpp"

#include <filesystem>
#include <set>

#include "actors/candid/did_files.hpp"
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

  result<interface> read(std::string_view text, const std::string& name) {
    files_.add(std::filesystem::path{name}.lexically_normal().string(), std::string{text});
    if (!file(0)) return *failure_;
    if (auto done = resolve(); !done) return done.error();
    auto service = whole_service();
    if (!service) return service.error();
    auto made = make_interface(std::make_shared<const type_table>(std::move(types_)), *service,
                               std::move(init_));
    made.service_name = service_name_;
    made.has_constructor = files_[0].init.has_value();
    made.init_names = std::move(init_names_);
    return made;
  }

private:
  /// False with `failure_` set, path included.
  bool file(size_t index) {
    lexer in{files_[index].text};
    const bool ok = definitions(in, index) && main_service(in, index);
    if (!ok && !failure_) failure_ = files_.in_file(index, in.failure());
    files_[index].is_open = false;
    return ok;
  }

  bool definitions(lexer& in, size_t index) {
    for (;;) {
      const auto offset = in.peek().offset;
      if (in.accept("type")) {
        if (!parser_.definition(in)) return false;
      } else if (in.accept("import")) {
        if (!import(in, index, offset)) return false;
      } else {
        return true;
      }
      if (!in.accept(";") && in.peek().kind != token::form::end && !in.is("service")) {
        return in.fail_expected("';'");
      }
    }
  }

  bool main_service(lexer& in, size_t index) {
    const bool has_service = in.accept("service");
    if (has_service && !service(in, index)) return false;
    if (has_service) in.accept(";");
    if (in.failed()) return false;
    if (in.peek().kind == token::form::end) return true;
    return in.fail_expected(has_service ? "the end after the service"
                                        : "'type', 'import' or 'service'");
  }

  bool import(lexer& in, size_t importer, size_t offset) {
    const bool with_service = in.accept("service");
    if (in.peek().kind != token::form::text) return in.fail_expected("the path of a file");
    const auto path = files_.resolved(importer, in.take().bytes);
    if (!load_) return in.fail_at(offset, "imports cannot be followed here");
    auto imported = files_.find(path);
    if (imported && files_[*imported].is_open) {
      return in.fail_at(offset, "the imports go round: " + files_.cycle(*imported));
    }
    if (!imported) {
      auto text = load_(path);
      if (!text) return in.fail_at(offset, text.error().message);
      if (files_.size() > imports_max) return in.fail_at(offset, "too many imports");
      imported = files_.add(path, std::move(*text));
      if (!file(*imported)) return false;
    }
    files_[importer].imports.push_back(*imported);
    return !with_service || import_service(in, importer, *imported, offset);
  }

  bool import_service(lexer& in, size_t importer, size_t imported, size_t offset) {
    const auto& from = files_[imported];
    if (from.init) {
      failure_ = files_.in_file(imported,
                                error_at(from.text, *from.init, candid_errc::syntax,
                                         "a service with arguments of its own cannot be imported"));
      return false;
    }
    if (files_.services_of(imported).empty()) {
      return in.fail_at(offset, fmt::format("{} has no service", from.path));
    }
    files_[importer].service_imports.push_back({imported, offset});
    return true;
  }

  bool service(lexer& in, size_t index) {
    std::string name;
    if (in.peek().kind == token::form::name) name = in.take().raw;
    if (!in.expect(":")) return false;
    std::vector<type_ref> init;
    std::vector<std::string> names;
    if (in.is("(")) {
      files_[index].init = in.peek().offset;
      if (!parser_.tuple(in, init, names) || !in.expect("->")) return false;
    }
    type_ref type;
    if (in.is("{")) {
      if (!parser_.actor(in, type)) return false;
    } else if (in.peek().kind == token::form::name && is_plain_name(in.peek().raw)) {
      const auto alias = in.take();
      type = parser_.named(alias.raw, in, alias.offset);
      aliases_.push_back({index, alias.offset});
    } else {
      return in.fail_expected("a service type");
    }
    files_[index].service = type;
    if (index > 0) return true;
    service_name_ = std::move(name);
    init_ = std::move(init);
    init_names_ = std::move(names);
    return true;
  }

  result<void> resolve() {
    std::vector<type_ref*> held;
    for (auto& ref : init_) held.push_back(&ref);
    for (size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].service) held.push_back(&*files_[i].service);
    }
    const auto visible = files_.visible();
    const auto sees = [&](std::string_view user, std::string_view definer) {
      return visible[files_.index_of(user)][files_.index_of(definer)];
    };
    if (auto done = parser_.resolve(held, sees); !done) {
      return files_.in_file(files_.index_of(parser_.failed_text()), done.error());
    }
    for (const auto& alias : aliases_) {
      const auto form = types_.kind_of(*files_[alias.file].service);
      if (form == kind::service) continue;
      return refuse_at(alias.file, alias.offset,
                       fmt::format("the service is no service type but {}", keyword(form)));
    }
    return {};
  }

  error refuse_at(size_t index, size_t offset, std::string_view reason) const {
    return files_.in_file(index, error_at(files_[index].text, offset, candid_errc::syntax, reason));
  }

  /// `import service`: the methods of the imported ones join ours.
  result<std::optional<type_ref>> whole_service() {
    if (files_[0].service_imports.empty()) return files_[0].service;
    std::vector<method> all;
    std::set<std::string> names;
    for (const auto& from : files_.services_of(0)) {
      const auto theirs = types_.methods(*files_[from.file].service);
      for (const auto& place : theirs) {
        const auto& m = theirs[place.declared];
        if (!names.insert(m.name).second) {
          return refuse_at(
            from.importer, from.offset,
            fmt::format("method '{}' of the imported service is declared twice", m.name));
        }
        all.push_back(m);
      }
    }
    const auto made = types_.declare();
    if (auto done = types_.set_service(made, std::move(all)); !done) return done.error();
    return std::optional{made};
  }

  /// `service : NAME`
  struct service_alias {
    size_t file = 0;
    size_t offset = 0;
  };

  const did_loader& load_;
  type_table types_;
  type_parser parser_{types_};
  did_files files_;
  std::vector<service_alias> aliases_;
  std::string service_name_;
  std::vector<type_ref> init_;
  std::vector<std::string> init_names_;
  std::optional<error> failure_; ///< with the path of its file
};

} // namespace

result<interface> parse_did(std::string_view text, const did_loader& load,
                            const std::string& name) {
  return did_reader{load}.read(text, name);
}

result<tuple_type> parse_types(std::string_view text, const interface* names) {
  auto types =
    names == nullptr ? std::make_shared<type_table>() : std::make_shared<type_table>(*names->types);
  type_parser parser{*types};
  lexer in{text};
  std::vector<type_ref> items;
  std::vector<std::string> labels;
  if (!parser.tuple(in, items, labels)) return in.failure();
  if (in.peek().kind != token::form::end) in.fail_expected("the end");
  if (in.failed()) return in.failure();
  std::vector<type_ref*> held;
  for (auto& item : items) held.push_back(&item);
  if (auto done = parser.resolve(held); !done) return done.error();
  return make_tuple_type(std::move(types), std::move(items));
}

} // namespace moxzi::candid
