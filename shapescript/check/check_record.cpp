#include <algorithm>
#include <tuple>

#include "shapescript/check/checker.hpp"

namespace shapescript {

uint32_t checker::new_name(name_kind kind, std::string_view name, span declared, const type& what,
                           uint32_t owner) {
  if (!records_all_ || trials_ > 0) return no_index;
  const auto place = static_cast<uint32_t>(all_->names.size());
  all_->names.push_back({kind, std::string{name}, module_, declared, what, owner});
  if (!(declared == span{})) all_->uses.push_back({module_, declared, place, true, false});
  return place;
}

void checker::use(uint32_t name, span where, bool writes) {
  if (name == no_index || trials_ > 0 || where == span{}) return;
  const auto& what = all_->names[name];
  if (what.module == module_ && what.declared == where) return;
  all_->uses.push_back({module_, where, name, false, writes});
}

// A word that names a size: a dim, an axis of the function, or another name for one.
void checker::use_axis(span where, const size_scope* scope) {
  if (!records_all_ || trials_ > 0) return;
  const auto word = text(where);
  const auto found = scope != nullptr ? scope->find(word) : size_scope::const_iterator{};
  if (scope == nullptr || found == scope->end()) {
    if (const auto* what = find(word); what != nullptr && what->kind == entity::dim)
      use(what->name, where);
    else if (const auto known = aliases_.find({function_, std::string{word}});
             known != aliases_.end())
      use(known->second, where);
    return;
  }
  if (const auto lone = found->second.lone(); lone && symbols_[*lone].name == word) {
    auto& one = symbols_[*lone];
    if (one.name_at == no_index && one.module == module_)
      one.name_at =
        new_name(name_kind::axis, word, one.declared, scalar_of(base_type::integer), function_);
    use(one.name_at, where);
    return;
  }
  const auto [place, fresh] = aliases_.try_emplace({function_, std::string{word}}, no_index);
  if (fresh)
    place->second =
      new_name(name_kind::axis, word, where, scalar_of(base_type::integer), function_);
  use(place->second, where);
}

// An axis that a call makes by giving its size: `repeat(b -> b k, k=3)`.
void checker::use_given_axis(span where) {
  if (!records_all_ || function_ == no_index) return;
  const auto word = text(where);
  if (scope_ != nullptr && scope_->contains(word)) return use_axis(where, scope_);
  const auto [place, fresh] = aliases_.try_emplace({function_, std::string{word}}, no_index);
  if (fresh)
    place->second =
      new_name(name_kind::axis, word, where, scalar_of(base_type::integer), function_);
  use(place->second, where);
}

void checker::use_entity(span where) {
  if (!records_all_ || trials_ > 0) return;
  if (const auto* found = find(text(where))) use(found->name, where);
}

void checker::keep_type(expr_id id, const type& what) {
  if (!records_all_ || trials_ > 0 || is_poison(what)) return;
  auto& types = modules_[module_]->types;
  if (types.empty()) types.resize(t().exprs.size());
  types[static_cast<uint32_t>(id)] = what;
}

void checker::finish_record() {
  auto& uses = all_->uses;
  std::sort(uses.begin(), uses.end(), [](const name_use& x, const name_use& y) {
    return std::tuple{x.module, x.where.begin, x.where.end, x.name, !x.writes}
           < std::tuple{y.module, y.where.begin, y.where.end, y.name, !y.writes};
  });
  uses.erase(std::unique(uses.begin(), uses.end(),
                         [](const name_use& x, const name_use& y) {
                           return x.module == y.module && x.where == y.where && x.name == y.name;
                         }),
             uses.end());
  for (const auto& f : functions_) {
    if (f.name_at == no_index) continue;
    auto& what = all_->names[f.name_at].what;
    what = scalar_of(base_type::function);
    what.declaration = static_cast<uint32_t>(&f - functions_.data());
  }
  const auto& lines = modules_[0]->program.program.devices;
  if (lines.empty()) return;
  auto& devices = all_->devices;
  const auto& own = modules_[0]->text;
  devices.kind = own.text(lines[0].kind);
  devices.count = devices_;
  for (const auto& option : lines[0].options)
    devices.shard_params |= option.well_formed && own.text(option.word) == "shard";
  devices.split.assign(split_dims_.begin(), split_dims_.end());
}

} // namespace shapescript
