#include "shapescript/lower/lowering.hpp"

namespace shapescript {

using leave_t = lowering_frame::leave_t;

void lowering::run_block(const block& body) {
  for (const auto id : body) {
    if (failed() || frame_->leave != leave_t::no) return;
    const auto& node = t().at(id);
    if (frame_ == outer_) line_ = node.where;
    run_statement(node);
  }
}

void lowering::run_statement(const stmt& node) {
  switch (node.kind) {
    case stmt_kind::expression:
      expression(node.values[0]);
      return;
    case stmt_kind::assign:
      run_assign(node);
      return;
    case stmt_kind::return_: {
      std::vector<value> values;
      for (const auto id : node.values) values.push_back(expression(id));
      if (values.size() == 1) {
        frame_->result = std::move(values[0]);
      } else if (values.size() > 1) {
        frame_->result.emplace().base = base_type::tuple;
        frame_->result->parts = std::move(values);
      }
      if (frame_ == outer_) where_ = node.where;
      frame_->leave = leave_t::return_;
      return;
    }
    case stmt_kind::break_:
      frame_->leave = leave_t::break_;
      return;
    case stmt_kind::continue_:
      frame_->leave = leave_t::continue_;
      return;
    case stmt_kind::for_:
      run_for(node);
      return;
    case stmt_kind::while_:
      run_while(node);
      return;
    case stmt_kind::if_:
      for (const auto& one : node.branches) {
        if (!condition(one.condition)) continue;
        run_block(one.body);
        return;
      }
      if (!failed()) run_block(node.body);
      return;
    case stmt_kind::pass:
    case stmt_kind::error:
      return;
  }
}

// -- assignment ----------------------------------------------------------------

void lowering::run_assign(const stmt& node) {
  std::vector<value> values;
  for (const auto id : node.values) values.push_back(expression(id));
  if (failed()) return;
  if (node.operation != token_kind::assign) {
    auto operation = token_kind::plus;
    if (node.operation == token_kind::minus_assign) operation = token_kind::minus;
    if (node.operation == token_kind::times_assign) operation = token_kind::times;
    if (node.operation == token_kind::divide_assign) operation = token_kind::divide;
    const auto target = node.targets[0];
    auto before = expression(target);
    where_ = node.where;
    const bool host = before.base != base_type::tensor && values[0].base != base_type::tensor;
    if (host) {
      assign(target, host_arithmetic(operation, before, values[0], node.where));
      return;
    }
    // The result has the axes of what is changed, or more of them.
    const auto& x = type_of(target);
    const auto& y = type_of(node.values[0]);
    const auto& known = y.axes.size() > x.axes.size() ? y : x;
    assign(target, arithmetic(operation, before, x, values[0], y, known, node.where));
    return;
  }
  if (node.targets.size() > 1 && values.size() == 1 && values[0].base == base_type::tuple)
    values = std::vector<value>(values[0].parts);
  if (node.targets.size() == 1 && values.size() > 1) {
    value tuple;
    tuple.base = base_type::tuple;
    tuple.parts = std::move(values);
    values = {std::move(tuple)};
  }
  for (size_t i = 0; i < node.targets.size() && i < values.size(); ++i)
    assign(node.targets[i], std::move(values[i]));
}

void lowering::assign(expr_id target, value what) {
  const auto& left = t().at(target);
  if (failed()) return;
  note_value(target, type_of(target), what);
  if (left.kind == expr_kind::name)
    frame_->locals[text(left.name)] = std::move(what);
  else
    assign_member(left, what);
}

void lowering::assign_member(const expr& target, const value& what) {
  const auto base = expression(target.left);
  where_ = target.where;
  if (base.base != base_type::model) {
    fail(target.where, "only a model's tensors are changed by a device function");
    return;
  }
  for (const auto& one : program_.models[base.declaration].members) {
    if (one.name != text(target.name)) continue;
    const auto path = fmt::format("{}.{}", base.text, one.name);
    const auto at = tensor(what, lowered_dtype(one.what.element));
    if (one.kind == member_kind::param)
      written_[path] = emit(op::assign, {at}, {path});
    else
      written_[path] = emit(op::store, {at}, {path});
  }
}

// -- control flow --------------------------------------------------------------

bool lowering::condition(expr_id id) {
  const auto what = expression(id);
  if (what.at != no_register)
    fail(t().at(id).where, "what is done depends on a value that is known when it runs");
  return !failed() && what.flag;
}

void lowering::run_for(const stmt& node) {
  const auto over = expression(node.values[0]);
  if (failed()) return;
  const auto name = text(node.names[0]);
  const auto first = over.base == base_type::range ? over.integer : 0;
  if (over.base != base_type::range && over.base != base_type::layers) {
    fail(t().at(node.values[0]).where, "a device function loops over a range or over layers");
    return;
  }
  for (auto i = first; i < over.count && !failed(); ++i) {
    value item;
    if (over.base == base_type::range) {
      item.base = base_type::integer;
      item.integer = i;
    } else {
      item = over.parts[0];
      item.text = fmt::format("{}.{}", over.text, i);
    }
    frame_->locals[name] = item;
    run_block(node.body);
    const auto leave = frame_->leave;
    if (leave == leave_t::return_) return;
    frame_->leave = leave_t::no;
    if (leave == leave_t::break_) break;
    take_step();
  }
  frame_->locals.erase(name);
}

void lowering::run_while(const stmt& node) {
  const auto& one = node.branches[0];
  for (size_t rounds = 0; condition(one.condition); ++rounds) {
    if (rounds == lowered_operations_max) {
      fail(t().at(one.condition).where, "the loop does not end");
      return;
    }
    run_block(one.body);
    const auto leave = frame_->leave;
    if (leave == leave_t::return_) return;
    frame_->leave = leave_t::no;
    if (leave == leave_t::break_) return;
  }
}

// -- calls ---------------------------------------------------------------------

value lowering::call_function(uint32_t index, std::vector<lowered_argument>& arguments,
                              const value* self, std::optional<bool> trains) {
  const auto& f = program_.functions[index];
  const auto called_at = where_;
  if (open_.size() >= nesting_max) {
    fail(where_, "functions call each other too deeply");
    return {};
  }
  lowering_frame frame;
  frame.function = index;
  frame.module = f.module;
  frame.trains = trains.value_or(frame_->trains);
  const size_t bound = self != nullptr ? 1 : 0;
  std::vector<value> values(f.parameters.size());
  std::vector<bool> given(f.parameters.size(), false);
  std::vector<std::pair<std::string_view, expr_id>> changed;
  if (self != nullptr && !values.empty()) {
    values[0] = *self;
    given[0] = true;
  }
  size_t next = bound;
  for (auto& one : arguments) {
    auto place = next;
    if (!(one.name == span{})) {
      place = 0;
      while (place < f.parameters.size() && f.parameters[place].name != text(one.name)) ++place;
    } else {
      ++next;
    }
    const auto what = argument(one);
    if (place >= f.parameters.size()) {
      // An axis of the result alone.
      for (const auto axis : f.only_in_result)
        if (program_.symbols[axis].name == text(one.name)) frame.sizes[axis] = what.integer;
      continue;
    }
    values[place] = what;
    given[place] = true;
    const auto& p = f.parameters[place];
    if (p.is_mut && is_tensor(p.what) && one.id != expr_id::none)
      changed.emplace_back(p.name, one.id);
  }
  if (failed()) return {};
  auto* caller = std::exchange(frame_, &frame);
  open_.push_back(index);
  // Sizes may follow from those of a later parameter.
  for (auto before = frame.sizes.size() + 1; before != frame.sizes.size();) {
    before = frame.sizes.size();
    for (size_t i = 0; i < values.size(); ++i)
      if (given[i]) bind_sizes(f.parameters[i].what, values[i]);
  }
  for (size_t i = 0; i < values.size() && !failed(); ++i) {
    const auto& p = f.parameters[i];
    if (!given[i]) values[i] = expression(f.decl->parameters[i].initial);
    if (is_tensor(p.what)) {
      const auto at = tensor(values[i], lowered_dtype(p.what.element));
      values[i] = as_value(at);
      bind_sizes(p.what, values[i]);
    }
    frame.locals[p.name] = values[i];
  }
  if (!failed()) run_block(f.decl->body);
  open_.pop_back();
  frame_ = caller;
  where_ = called_at;
  if (f.decl->is_extern) return call_python(index, values, frame);
  for (const auto& [name, target] : changed) assign(target, frame.locals[name]);
  return frame.result.value_or(value{});
}

} // namespace shapescript
