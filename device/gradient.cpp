#include "device/gradient.hpp"

#include <map>
#include <optional>

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

class reverse {
public:
  reverse(typed_program code, const std::vector<std::string>& parameters)
      : code_(std::move(code)), forward_(code_.code.size()), adjoints_(forward_), needs_(forward_) {
    for (auto& name : parameters) reads_[name];
    for (size_t i = 0; i < forward_; ++i) {
      auto& what = code_.code[i];
      if (what.id == op::param) {
        auto found = reads_.find(std::get<std::string>(what.attributes[0]));
        needs_[i] = found != reads_.end();
        if (needs_[i]) found->second.push_back(static_cast<reg>(i));
        continue;
      }
      if (!find_row(what.id)->gradient) continue;
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

  /// The sum over all places where the parameter is read.
  reg gradient_of(const std::string& name) {
    adjoint sum;
    for (auto i : reads_[name])
      if (adjoints_[i].exists()) add(sum, materialized(i), i);
    return sum.at;
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
    to.at = to.exists() ? emit({op::accumulate, {to.at, term}, {}}, origin) : term;
  }

  reg materialized(reg i) {
    auto& mine = adjoints_[i];
    if (mine.one) mine = {false, emit({op::ones_like, {i}, {}}, i)};
    return mine.at;
  }

  typed_program code_;
  size_t forward_;
  std::vector<adjoint> adjoints_;
  std::vector<char> needs_;
  std::optional<error> failed_;
  std::map<std::string, std::vector<reg>> reads_; ///< where each parameter is read
};

/// What a row's gradient rule sees.
class reverse::rule final : public gradient_context {
public:
  rule(reverse& all, reg self) : all_(all), self_(self) {
    // nop
  }
  bool has(size_t operand) const override {
    auto& operands = what().operands;
    return operand < operands.size() && operands[operand] != no_register;
  }
  bool wants(size_t operand) const override {
    return has(operand) && all_.needs_[what().operands[operand]];
  }
  reg operand(size_t n) const override {
    return what().operands[n];
  }
  reg self() const override {
    return self_;
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
    auto x = what().operands[n];
    all_.add(all_.adjoints_[x], all_.fitted(gradient, x, self_), self_);
  }

private:
  const operation& what() const {
    return all_.code_.code[self_];
  }

  reverse& all_;
  reg self_;
};

void reverse::visit(reg i) {
  auto how = find_row(code_.code[i].id);
  if (!how->gradient) return; // a parameter
  if (how->training_form != how->id) {
    take_training_form(code_, i);
    how = find_row(code_.code[i].id);
  }
  rule context(*this, i);
  how->gradient(context);
}

} // namespace

result<differentiated> differentiate(typed_program code, reg loss,
                                     const std::vector<std::string>& parameters) {
  differentiated out;
  if (parameters.empty()) {
    out.code = std::move(code);
    return out;
  }
  moxzi_assert(loss < code.code.size(), "loss={}", loss);
  auto& type = code.types[loss];
  if (type.dims.elements() != 1 || !is_float(type.type))
    return fail_at(device_errc::loss_not_scalar, "train.loss",
                   "register {} ({}) is {}; one floating-point number wanted", loss,
                   place_of(loss, code.code[loss].id), type.text());
  reverse walk(std::move(code), parameters);
  walk.walk_from(loss);
  for (auto& name : parameters) out.gradients.push_back(walk.gradient_of(name));
  if (walk.failed()) return *walk.failed();
  out.code = walk.take();
  return out;
}

} // namespace moxzi::device
