#include "device/gradient.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "base/assert.hpp"
#include "base/limits.hpp"

namespace moxzi::device {

namespace {

/// The gradient of a register while the program is walked backwards: none yet, the number one that
/// everything starts from (not made until somebody needs it as a register), or a register.
struct adjoint {
  bool one = false;
  reg at = no_register;
  bool exists() const noexcept {
    return one || at != no_register;
  }
};

/// True for what gradients are made of and cannot be differentiated once more; anything else
/// without a rule has no derivative but 0.
bool lacks_rule(op id) {
  auto how = find_row(id);
  return how->internal() && !how->gradient && id != op::ones_like;
}

class reverse {
public:
  /// `wanted` are the registers whose gradients are asked for.
  reverse(typed_program code, std::span<const reg> wanted)
      : code_(std::move(code)), forward_(code_.code.size()), adjoints_(forward_), needs_(forward_),
        again_(forward_) {
    for (size_t i = 0; i < forward_; ++i) again_[i] = static_cast<reg>(i);
    for (auto i : wanted) needs_[i] = true;
    for (size_t i = 0; i < forward_; ++i) {
      auto& what = code_.code[i];
      if (!find_row(what.id)->gradient && !lacks_rule(what.id)) continue;
      // What flows back through integers and booleans is nothing.
      if (!is_float(code_.types[i].type)) continue;
      for (auto x : what.operands) needs_[i] = needs_[i] || (x != no_register && needs_[x]);
    }
  }

  void walk_from(reg loss) {
    adjoints_[loss].one = true;
    for (size_t i = loss + 1; i-- > 0;)
      if (needs_[i] && adjoints_[i].exists()) visit(static_cast<reg>(i));
  }

  /// The sum over these registers; `no_register` if the loss depends on none of them.
  reg gradient_of(std::span<const reg> registers) {
    adjoint sum;
    for (auto i : registers)
      if (adjoints_[i].exists()) add(sum, materialized(i), i);
    return sum.at;
  }

  /// By register that was made: of which one it is the gradient, or itself.
  void list_gradients(std::map<reg, reg>& into) const {
    for (auto i = forward_; i < code_.code.size(); ++i) {
      const auto made = static_cast<reg>(i);
      const auto found = gradient_of_.find(made);
      into.emplace(made, found == gradient_of_.end() ? made : found->second);
    }
    for (reg i = 0; i < forward_; ++i)
      if (again_[i] != i) into.erase(again_[i]);
    for (const auto& [x, made] : kept_) into.erase(made);
  }

  /// Zeros in the shape and type of `x`.
  reg zeros(reg x) {
    auto& type = code_.types[x];
    std::vector<uint32_t> dims;
    for (auto size : type.dims.sizes()) dims.push_back(static_cast<uint32_t>(size));
    return emit({op::full, {}, {std::move(dims), 0.0, static_cast<int64_t>(type.type)}}, x);
  }

  typed_program take() {
    return std::move(code_);
  }

  /// Why there is no gradient, if there is none.
  const std::optional<error>& failed() const noexcept {
    return failed_;
  }

private:
  class rule;

  void visit(reg i);

  // -- what is made twice ------------------------------------------------------

  /// True if the operation is made again and not kept. What is random or writes runs once, and
  /// recomputes, which aren't pure either, are what is kept.
  bool repeats(reg x) const {
    auto& what = code_.code[x];
    auto how = find_row(what.id);
    return how->runs != row_runs::bound && how->pure && !what.operands.empty();
  }

  /// A register that was kept, as what is made again reads it: by that, what is made of it is not
  /// the same as what was made before.
  reg kept(reg x, size_t origin) {
    if (find_row(code_.code[x].id)->runs != row_runs::bound && code_.code[x].operands.empty())
      return x; // a constant
    auto [found, fresh] = kept_.try_emplace(x, no_register);
    if (fresh) found->second = emit({op::recompute, {x}, {}}, origin);
    return found->second;
  }

  /// All that this `recompute` was made from, back to what is kept, is made again, here; gradient
  /// rules of those operations find the new registers.
  void make_again(reg i) {
    std::vector<char> wanted(i);
    wanted[code_.code[i].operands[0]] = true;
    for (auto x = i; x-- > 0;)
      if (wanted[x] && repeats(x))
        for (auto from : code_.code[x].operands)
          if (from != no_register) wanted[from] = true;
    for (reg x = 0; x < i; ++x) {
      if (!wanted[x] || !repeats(x) || again_[x] != x) continue;
      auto what = code_.code[x];
      for (auto& from : what.operands)
        if (from != no_register) from = repeats(from) ? again_[from] : kept(from, x);
      again_[x] = emit(std::move(what), x);
    }
  }

  reg emit(operation what, size_t origin) {
    auto made = append(code_, std::move(what), code_.origins[origin]);
    if (made) return *made;
    // The walk goes on from any register, and what it makes is thrown away.
    if (!failed_)
      failed_ = at(device_errc::op_unsupported, place_of(origin, code_.code[origin].id),
                   "its gradient can't be made: " + made.error().message);
    return 0;
  }

  /// The gradient in the shape and type of `x`.
  reg fitted(reg gradient, reg x, size_t origin) {
    auto& wanted = code_.types[x];
    if (code_.types[gradient].dims != wanted.dims) {
      std::vector<uint32_t> dims;
      for (auto size : wanted.dims.sizes()) dims.push_back(static_cast<uint32_t>(size));
      gradient = emit({op::sum_to, {gradient}, {std::move(dims)}}, origin);
    }
    if (code_.types[gradient].type == code_.types[x].type) return gradient;
    return emit({op::cast, {gradient}, {static_cast<int64_t>(code_.types[x].type)}}, origin);
  }

  void add(adjoint& to, reg term, size_t origin) {
    to.at = to.exists() ? emit({op::add, {to.at, term}, {}}, origin) : term;
  }

  void note_gradient(reg made, reg of) {
    if (made >= forward_) gradient_of_.emplace(made, of);
  }

  reg materialized(reg i) {
    auto& mine = adjoints_[i];
    if (mine.one) mine = {false, emit({op::ones_like, {i}, {}}, i)};
    note_gradient(mine.at, i);
    return mine.at;
  }

  typed_program code_;
  size_t forward_;
  std::vector<adjoint> adjoints_;
  std::vector<char> needs_;
  std::optional<error> failed_;
  std::vector<reg> again_; ///< by register of the program: itself, or what was made in its place
  std::map<reg, reg> kept_;
  std::map<reg, reg> gradient_of_; ///< by register that was made
};

/// What a row's gradient rule sees.
class reverse::rule final : public gradient_context {
public:
  rule(reverse& all, reg self) : all_(all), self_(self), made_(all.again_[self]) {
    // nop
  }
  bool has(size_t operand) const override {
    auto& operands = what().operands;
    return operand < operands.size() && operands[operand] != no_register;
  }
  bool wants(size_t operand) const override {
    return has(operand) && all_.needs_[asked().operands[operand]];
  }
  reg operand(size_t n) const override {
    return what().operands[n];
  }
  reg self() const override {
    return made_;
  }
  const register_type& type_of(reg x) const override {
    return all_.code_.types[x];
  }
  const attribute& attr(size_t n) const override {
    return what().attributes[n];
  }
  reg upstream() override {
    return all_.materialized(self_);
  }
  bool upstream_is_one() const override {
    return all_.adjoints_[self_].one;
  }
  reg emit(op id, std::vector<reg> operands, std::vector<attribute> attributes) override {
    return all_.emit({id, std::move(operands), std::move(attributes)}, self_);
  }
  void give(size_t n, reg gradient) override {
    if (!wants(n)) return;
    auto x = asked().operands[n];
    auto term = all_.fitted(gradient, x, self_);
    all_.note_gradient(term, x);
    all_.add(all_.adjoints_[x], term, self_);
    all_.note_gradient(all_.adjoints_[x].at, x);
  }

private:
  /// The operation as it is made, perhaps again, and as it is in the program.
  const operation& what() const {
    return all_.code_.code[made_];
  }
  const operation& asked() const {
    return all_.code_.code[self_];
  }

  reverse& all_;
  reg self_, made_;
};

void reverse::visit(reg i) {
  auto made = again_[i];
  auto how = find_row(code_.code[made].id);
  if (lacks_rule(how->id) && !failed_)
    failed_ = at(device_errc::op_unsupported, place_of(i, how->id),
                 fmt::format("it has no derivative: {}", how->no_gradient));
  auto flows_on = std::ranges::any_of(code_.code[i].operands,
                                      [this](reg x) { return x != no_register && needs_[x]; });
  if (!how->gradient || !flows_on) return; // it ends here
  if (how->training_form != how->id) {
    take_training_form(code_, made);
    how = find_row(code_.code[made].id);
  }
  if (how->id == op::recompute) make_again(i);
  rule context(*this, i);
  how->gradient(context);
}

// -- gradients inside of a program ---------------------------------------------

/// Gradients of gradients double a program each time.
constexpr size_t expanded_ops_max = 4 * limits::program_ops_max;

class expansion {
public:
  explicit expansion(typed_program from) : from_(std::move(from)) {
    made_.axes = from_.axes;
    made_.where = std::move(from_.where);
  }

  result<differentiated> expand() {
    for (reg i = 0; i < from_.code.size();) {
      if (from_.code[i].id == op::grad) {
        auto end = end_of_group(i);
        if (auto ok = differentiate_here(i, end); !ok) return ok.error();
        i = end;
        continue;
      }
      auto what = std::move(from_.code[i]);
      for (auto& x : what.operands)
        if (x != no_register) x = now_[x];
      auto made = append(made_, std::move(what), from_.origins[i]);
      if (!made) return made.error();
      now_.push_back(*made);
      ++i;
    }
    return differentiated{std::move(made_), {}, std::move(now_), std::move(gradient_of_)};
  }

private:
  /// Gradients of one loss that follow one another are made in one walk.
  reg end_of_group(reg begin) const {
    auto end = begin;
    while (end < from_.code.size() && from_.code[end].id == op::grad
           && from_.code[end].operands[0] == from_.code[begin].operands[0]
           && from_.code[end].operands[1] < begin)
      ++end;
    return end;
  }

  result<void> differentiate_here(reg begin, reg end) {
    std::vector<reg> wanted;
    for (auto i = begin; i < end; ++i) wanted.push_back(now_[from_.code[i].operands[1]]);
    reverse walk(std::move(made_), wanted);
    walk.walk_from(now_[from_.code[begin].operands[0]]);
    for (auto& x : wanted) {
      auto gradient = walk.gradient_of({&x, 1});
      now_.push_back(gradient == no_register ? walk.zeros(x) : gradient);
    }
    if (walk.failed()) return *walk.failed();
    walk.list_gradients(gradient_of_);
    made_ = walk.take();
    if (made_.code.size() <= expanded_ops_max) return {};
    return fail_at(device_errc::program_too_long, place_of(begin, op::grad),
                   "with its gradient the program has {} operations; at most {}", made_.code.size(),
                   expanded_ops_max);
  }

  typed_program from_, made_;
  std::vector<reg> now_;
  std::map<reg, reg> gradient_of_;
};

result<differentiated> expanded(typed_program code) {
  if (std::ranges::none_of(code.code, [](auto& what) { return what.id == op::grad; }))
    return differentiated{std::move(code), {}, {}};
  return expansion(std::move(code)).expand();
}

} // namespace

result<differentiated> differentiate(typed_program given, reg given_loss,
                                     const std::vector<std::string>& parameters) {
  auto made = expanded(std::move(given));
  if (!made || parameters.empty()) return made;
  auto out = std::move(*made);
  auto code = std::move(out.code);
  moxzi_assert(given_loss < (out.now.empty() ? code.code.size() : out.now.size()), "loss={}",
               given_loss);
  auto loss = out.at(given_loss);
  auto& type = code.types[loss];
  if (type.dims.elements() != 1 || !is_float(type.type))
    return fail_at(device_errc::loss_not_scalar, "train.loss",
                   "register {} ({}) is {}; one floating-point number wanted", loss,
                   place_of(loss, code.code[loss].id), type.text());
  std::map<std::string_view, std::vector<reg>> reads;
  for (auto& name : parameters) reads[name];
  std::vector<reg> wanted;
  for (reg i = 0; i < code.code.size(); ++i) {
    if (code.code[i].id != op::param) continue;
    auto found = reads.find(std::get<std::string>(code.code[i].attributes[0]));
    if (found == reads.end()) continue;
    found->second.push_back(i);
    wanted.push_back(i);
  }
  reverse walk(std::move(code), wanted);
  walk.walk_from(loss);
  for (auto& name : parameters) out.gradients.push_back(walk.gradient_of(reads[name]));
  if (walk.failed()) return *walk.failed();
  out.code = walk.take();
  return out;
}

} // namespace moxzi::device
