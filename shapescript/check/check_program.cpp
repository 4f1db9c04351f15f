#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "shapescript/check/checker.hpp"

namespace shapescript {

// -- files and names -----------------------------------------------------------

namespace {

// Names that may be declared in what could not be read, and how far each declaration goes.
void find_doubtful(module_info& info) {
  const auto& tokens = info.program.tokens;
  auto at = tokens.begin();
  for (const auto& part : info.program.skipped) {
    at = std::lower_bound(tokens.begin(), tokens.end(), part.begin,
                          [](const token& x, uint32_t place) { return x.where.begin < place; });
    for (; at != tokens.end() && at->where.begin < part.end; ++at)
      if (at->kind == token_kind::name) info.doubtful.insert(info.text.text(at->where));
  }
  const auto& program = info.program.program;
  const auto add = [&](const auto& all) {
    for (const auto& one : all) info.begins.push_back(one.where.begin);
  };
  add(program.devices);
  add(program.dim_decls);
  add(program.data);
  add(program.models);
  add(program.functions);
  add(program.imports);
  std::sort(info.begins.begin(), info.begins.end());
}

} // namespace

namespace {

bool is_device_kind(std::string_view word) {
  return word == "cpu" || word == "cuda" || word == "mps";
}

} // namespace

uint32_t checker::load_module(const source& text) {
  auto info = std::make_unique<module_info>(module_info{text, {}, {}, false});
  info->program = parse(info->text);
  info->lenient = !info->program.diagnostics.empty() || !info->program.skipped.empty();
  if (info->lenient) find_doubtful(*info);
  modules_.push_back(std::move(info));
  return static_cast<uint32_t>(modules_.size() - 1);
}

// The file that the module at hand imports.
std::string checker::imported_path(const import_decl& decl) const {
  std::string path;
  const auto& own = mod().text.name();
  if (const auto slash = own.rfind('/'); slash != own.npos) path = own.substr(0, slash + 1);
  for (size_t i = 0; i < decl.path.size(); ++i)
    path += (i > 0 ? "/" : "") + std::string{text(decl.path[i])};
  return path + ".ss";
}

void checker::import_file(uint32_t module, const import_decl& decl) {
  module_ = module;
  const auto path = imported_path(decl);
  const span where{decl.path.front().begin, decl.path.back().end};
  if (!loaded_.contains(path)) {
    loaded_[path] = no_index;
    auto text = load_ ? load_(path)
                      : moxzi::result<source>{moxzi::fail(
                        moxzi::base_errc::io, "{}: other files are not read here", path)};
    if (!text) {
      auto& d = report("E0201", where, fmt::format("no file `{}`", path), text.error().message);
      d.help.push_back(fmt::format("a Python module is imported with `import python {}`",
                                   this->text(decl.path.front())));
      d.fixes.push_back({{where.begin, where.begin}, "python "});
      return;
    }
    loaded_[path] = load_module(*text);
  }
  const auto target = loaded_[path];
  if (target == no_index) return;
  const auto& devices = modules_[target]->program.program.devices;
  const auto& ours = modules_[0]->program.program.devices;
  if (!devices.empty()) {
    const auto theirs = modules_[target]->text.text(devices[0].where);
    // A kind that does not exist is reported, and what was meant may well be the same.
    if (!ours.empty() && !is_device_kind(modules_[0]->text.text(ours[0].kind))) return;
    if (ours.empty() || modules_[0]->text.text(ours[0].where) != theirs)
      report("E0208", where, fmt::format("`{}` has another `devices` line", path),
             fmt::format("it says `{}`", theirs));
  }
}

// A program that imports a file with mistakes is not right: the first of them is named.
void checker::report_imports() {
  module_ = 0;
  for (const auto& decl : t().imports) {
    if (decl.python) continue;
    module_ = 0;
    const auto first = loaded_[imported_path(decl)];
    if (first == no_index || first == 0) continue;
    std::vector<uint32_t> open{first};
    for (size_t next = 0; next < open.size(); ++next) {
      module_ = open[next];
      const auto& own = mod().program.diagnostics;
      const auto found = broken_.find(module_);
      if (!own.empty() || found != broken_.end()) {
        const auto what = own.empty() ? found->second : own.front();
        const auto place = mod().text.position_of(what.primary().where.begin);
        const auto& name = mod().text.name();
        module_ = 0;
        auto& d = report(what.code.c_str(), {decl.path.front().begin, decl.path.back().end},
                         fmt::format("`{}` does not check: {}", name, what.message),
                         fmt::format("line {}, column {} of that file", place.line, place.column));
        d.help.push_back(fmt::format("see all of it with `shapescript check {}`", name));
        break;
      }
      for (const auto& inner : t().imports) {
        const auto target = inner.python ? no_index : loaded_[imported_path(inner)];
        if (target != no_index && target != 0
            && std::find(open.begin(), open.end(), target) == open.end())
          open.push_back(target);
      }
    }
  }
}

void checker::declare(std::string_view name, entity what) {
  static constexpr name_kind kinds[] = {name_kind::dim,      name_kind::record, name_kind::model,
                                        name_kind::function, name_kind::python, name_kind::file};
  what.name = new_name(kinds[what.kind], name, what.declared);
  auto& names = modules_[module_]->names;
  const auto [place, fresh] = names.emplace(name, what);
  if (fresh) return;
  // A head that stands twice: the first has no block, which is reported.
  if (blockless(place->second) && place->second.kind == what.kind) {
    place->second = what;
    return;
  }
  auto& d =
    report("E0203", what.declared, fmt::format("`{}` is declared twice", name), "declared again");
  mark(d, place->second.declared, "first declared here");
}

// Whether nothing but the head of the declaration could be read.
bool checker::blockless(const entity& what) const {
  switch (what.kind) {
    case entity::record:
      return records_[what.index].decl->broken && records_[what.index].decl->fields.empty();
    case entity::model: {
      const auto& decl = *models_[what.index].decl;
      return decl.broken && decl.members.empty() && decl.methods.empty();
    }
    case entity::function:
      return functions_[what.index].decl->broken && functions_[what.index].decl->body.empty();
    default:
      return false;
  }
}

void checker::collect_names(uint32_t module) {
  module_ = module;
  const auto& program = t();
  for (const auto& [kind, index] : program.order) {
    switch (kind) {
      case decl_kind::devices:
        break;
      case decl_kind::dim: {
        const auto& decl = program.dim_decls[index];
        declare(text(decl.name), {entity::dim, uint32_t(dims_.size()), decl.name});
        dims_.push_back({module, &decl});
        break;
      }
      case decl_kind::data: {
        const auto& decl = program.data[index];
        declare(text(decl.name), {entity::record, uint32_t(records_.size()), decl.name});
        records_.push_back({module, &decl, {}});
        break;
      }
      case decl_kind::model: {
        const auto& decl = program.models[index];
        const auto place = uint32_t(models_.size());
        declare(text(decl.name), {entity::model, place, decl.name});
        models_.push_back({module, &decl, text(decl.name), {}, {}, {}, {}});
        for (const auto method : decl.methods) {
          function_info f;
          f.module = module;
          f.decl = &program.functions[method];
          f.owner = place;
          functions_.push_back(std::move(f));
        }
        break;
      }
      case decl_kind::function: {
        function_info f;
        f.module = module;
        f.decl = &program.functions[index];
        declare(text(f.decl->name), {entity::function, uint32_t(functions_.size()), f.decl->name});
        f.name_at = find(text(f.decl->name))->name;
        functions_.push_back(std::move(f));
        break;
      }
      case decl_kind::import: {
        const auto& decl = program.imports[index];
        entity what{entity::python, index, decl.name};
        if (!decl.python) {
          what.kind = entity::file;
          what.index = loaded_[imported_path(decl)];
        }
        declare(text(decl.name), what);
        break;
      }
    }
  }
}

// An unknown dim or type is one mistake, however often it is used.
bool checker::first_time(std::string_view name) {
  return reported_.emplace(module_, name).second;
}

// Whether a syntax error is in the declaration that begins there.
bool checker::has_syntax_error(const span& declaration) const {
  if (!lenient()) return false;
  const auto& begins = mod().begins;
  const auto next = std::upper_bound(begins.begin(), begins.end(), declaration.begin);
  const auto end = next == begins.end() ? uint32_t(mod().text.text().size() + 1) : *next;
  const auto& found = mod().program.diagnostics;
  const auto inside = [&](const diagnostic& d) {
    const auto at = d.primary().where.begin;
    // A missing block is reported where the next declaration begins.
    return at >= declaration.begin && (at < end || (at == end && d.code == "E0111"));
  };
  return std::any_of(found.begin(), found.end(), inside);
}

const entity* checker::find(std::string_view name) const {
  const auto place = mod().names.find(name);
  return place == mod().names.end() ? nullptr : &place->second;
}

// -- dims ----------------------------------------------------------------------

namespace {

// The names in a size.
void names_in(const tree& t, dim_id id, std::vector<const dim_expr*>& out) {
  if (id == dim_id::none) return;
  std::vector<dim_id> open{id};
  while (!open.empty()) {
    const auto& node = t.at(open.back());
    open.pop_back();
    if (node.kind == dim_expr::name) out.push_back(&node);
    if (node.kind != dim_expr::binary) continue;
    open.push_back(node.right);
    open.push_back(node.left);
  }
}

} // namespace

// What a name in a size stands for: of this file, or `lib.D`.
const entity* checker::find_size(const dim_expr& node) const {
  if (node.file == span{}) return find(text(node.word));
  const auto* file = find(text(node.file));
  if (file == nullptr || file->kind != entity::file || file->index == no_index) return nullptr;
  const auto& names = modules_[file->index]->names;
  const auto place = names.find(text(node.word));
  return place == names.end() ? nullptr : &place->second;
}

void checker::resolve_dims() {
  // Depth first with a stack of its own: a chain of dims may be as long as the file.
  enum class state : uint8_t { fresh, open, done };
  std::vector<state> states(dims_.size(), state::fresh);
  for (uint32_t first = 0; first < dims_.size(); ++first) {
    std::vector<uint32_t> open;
    if (states[first] == state::fresh) open.push_back(first);
    while (!open.empty()) {
      const auto index = open.back();
      module_ = dims_[index].module;
      if (states[index] == state::done) {
        open.pop_back();
        continue;
      }
      if (states[index] == state::open) {
        resolve_dim(index);
        states[index] = state::done;
        open.pop_back();
        continue;
      }
      states[index] = state::open;
      std::vector<const dim_expr*> names;
      names_in(t(), dims_[index].decl->value, names);
      for (const auto* one : names) {
        const auto* found = find_size(*one);
        if (found == nullptr || found->kind != entity::dim) continue;
        if (states[found->index] == state::fresh) {
          open.push_back(found->index);
        } else if (states[found->index] == state::open) {
          // The first of the circle in the file is named; its members are not known.
          const auto begin = std::find(open.begin(), open.end(), found->index);
          auto lowest = found->index;
          for (auto i = begin; i != open.end(); ++i) {
            if (states[*i] == state::open) lowest = std::min(lowest, *i);
          }
          module_ = dims_[lowest].module;
          auto& d = report("E0303", dims_[lowest].decl->name,
                           fmt::format("`{}` is defined by itself", text(dims_[lowest].decl->name)),
                           "its size depends on itself");
          for (auto i = begin; i != open.end(); ++i)
            if (states[*i] == state::open && *i != lowest && dims_[*i].module == module_)
              mark(d, dims_[*i].decl->name, "by way of this one");
          states[index] = state::done;
          break;
        }
      }
    }
  }
}

void checker::resolve_dim(uint32_t index) {
  const auto& decl = *dims_[index].decl;
  if (decl.value == dim_id::none) return; // a syntax error
  size_scope none;
  // A name in a dim is a dim: there are no symbolic sizes here.
  std::vector<const dim_expr*> names;
  names_in(t(), decl.value, names);
  std::vector<std::string_view> known;
  for (const auto* one : names) {
    const auto where = one->word;
    const auto* found = find_size(*one);
    if (found != nullptr && found->kind == entity::dim) {
      if (!dims_[found->index].known) return; // reported there
      continue;
    }
    if (!(one->file == span{})) break; // said below
    if (doubtful(text(where)) || full() || !first_time(text(where))) return;
    for (const auto& [name, what] : mod().names)
      if (what.kind == entity::dim) known.push_back(name);
    auto& d =
      report("E0201", where, fmt::format("unknown dim `{}`", text(where)), "no dim has this name");
    suggest(d, where, text(where), known);
    return;
  }
  const auto size = resolve_size(decl.value, none, false);
  if (!size) return;
  const auto number = size->number();
  const auto where = t().at(decl.value).where;
  if (!number) {
    report("E0302", where, fmt::format("`{}` does not fit 64 bits", text(decl.name)), "too large");
  } else if (*number < 1) {
    report("E0302", where,
           fmt::format("`{}` is {}, but a size is at least 1", text(decl.name), *number),
           fmt::format("this is {}", *number));
  } else {
    dims_[index].known = true;
    dims_[index].value = *number;
    if (const auto* found = find(text(decl.name)); found != nullptr && found->name != no_index) {
      auto& what = all_->names[found->name].what;
      what = scalar_of(base_type::integer);
      what.value = size_form{*number};
    }
  }
}

// -- devices -------------------------------------------------------------------

void checker::check_devices() {
  module_ = 0;
  const auto& lines = t().devices;
  if (lines.empty()) return;
  for (size_t i = 1; i < lines.size(); ++i) {
    auto& d = report("E0208", {lines[i].where.begin, lines[i].where.begin + 7},
                     "a program has one `devices` line", "a second one");
    mark(d, {lines[0].where.begin, lines[0].where.begin + 7}, "the first one");
  }
  const auto& line = lines[0];
  const auto kind = text(line.kind);
  if (!is_device_kind(kind)) {
    auto& d = report("E1501", line.kind, fmt::format("unknown kind of device `{}`", kind),
                     "known are `cpu`, `cuda` and `mps`");
    std::string lower{kind};
    for (auto& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (lower == "gpu") lower = "cuda";
    suggest(d, line.kind, lower, {"cpu", "cuda", "mps"});
  }
  if (kind == "mps" && !line.indices.empty()) {
    auto& d = report("E1507", line.list, "`mps` is one device, without a list", "leave this out");
    d.fixes.push_back({line.list, ""});
  }
  std::map<std::string_view, span> seen;
  for (const auto where : line.indices) {
    const auto [place, fresh] = seen.emplace(text(where), where);
    if (fresh) continue;
    auto& d =
      report("E1502", where, fmt::format("device {} is listed twice", text(where)), "again");
    mark(d, place->second, "listed here");
  }
  devices_ = std::max<size_t>(1, seen.size());
  for (const auto& option : line.options) check_option(line, option);
}

void checker::check_option(const devices_decl& line, const devices_option& option) {
  if (!option.well_formed) {
    auto& d =
      report("E1504", option.where, fmt::format("unknown devices option `{}`", text(option.where)),
             "known are `shard params` and `split NAME`");
    if (text(option.where) == "shard") {
      d.help.push_back("what is sharded are the parameters: `shard params`");
      d.fixes.push_back({option.where, "shard params"});
    } else {
      suggest(d, option.where, text(option.where), {"shard params"});
    }
    return;
  }
  if (devices_ < 2) {
    report("W1501", option.where,
           fmt::format("`{}` does nothing on one device", text(option.where)), "without effect");
  }
  if (text(option.word) != "split") return;
  for (const auto where : option.names) {
    use_entity(where);
    const auto* found = find(text(where));
    if (found == nullptr || found->kind != entity::dim) {
      if (found == nullptr && (doubtful(text(where)) || !first_time(text(where)))) continue;
      auto& d = report("E1505", where, fmt::format("`{}` is no dim", text(where)),
                       "only an axis with a declared size can be split");
      std::vector<std::string_view> known;
      for (const auto& [name, what] : mod().names)
        if (what.kind == entity::dim) known.push_back(name);
      suggest(d, where, text(where), known);
      continue;
    }
    const auto& dim = dims_[found->index];
    if (dim.known && dim.value % static_cast<int64_t>(devices_) != 0) {
      auto& d = report(
        "E1506", where,
        fmt::format("`{}` is {}, which {} devices do not divide", text(where), dim.value, devices_),
        fmt::format("{} / {} leaves {}", dim.value, devices_,
                    dim.value % static_cast<int64_t>(devices_)));
      mark(d, line.list, fmt::format("{} devices", devices_));
      mark(d, dim.decl->name, "the size is given here");
    } else if (devices_ > 1) {
      split_dims_.emplace(text(where));
    }
  }
}

} // namespace shapescript
