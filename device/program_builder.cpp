#include "device/program_builder.hpp"

#include <utility>

#include "device/errors.hpp"
#include "device/ops/table.hpp"
#include "device/program_under_way.hpp"

namespace moxzi::device {

// -- operations ----------------------------------------------------------------

operation_call& operation_call::on(var x) {
  if (!x.program())
    has_wrong_operand_ = true;
  else if (!in_)
    in_ = x.program();
  else if (in_ != x.program())
    has_wrong_operand_ = true;
  what_.operands.push_back(x.number());
  return *this;
}

operation_call& operation_call::on(const std::optional<var>& x) {
  if (x) return on(*x);
  what_.operands.push_back(no_register);
  return *this;
}

operation_call& operation_call::on(const std::vector<var>& xs) {
  for (auto x : xs) on(x);
  return *this;
}

operation_call& operation_call::add(attribute value) {
  what_.attributes.push_back(std::move(value));
  return *this;
}

var operation_call::made() {
  if (!in_) return {};
  auto number = static_cast<reg>(in_->code.size());
  if (has_wrong_operand_ && !in_->wrong)
    in_->wrong = fail_at(device_errc::register_order, place_of(number, what_.id),
                         "an operand is no value of this program_builder");
  in_->code.push_back(std::move(what_));
  return {in_, number};
}

// -- the builder ---------------------------------------------------------------

program_builder::program_builder() : code_(std::make_unique<program_under_way>()) {
  attach(code_.get());
}

program_builder::program_builder(program_builder&&) noexcept = default;
program_builder& program_builder::operator=(program_builder&&) noexcept = default;
program_builder::~program_builder() = default;

var program_builder::input(elem type, std::vector<uint32_t> dims) {
  auto number = static_cast<uint32_t>(code_->inputs.size());
  auto checked = checked_shape(dims);
  if (checked)
    code_->inputs.push_back({type, *checked});
  else if (!code_->wrong)
    code_->wrong =
      at(device_errc::shape_mismatch, fmt::format("inputs[{}]", number), checked.error().message);
  return input(number);
}

result<runnable> program_builder::answering(const answers& wanted) const {
  return finished(wanted, std::nullopt);
}

result<runnable> program_builder::training(var loss, train_spec how, const answers& wanted) const {
  if (loss.program() != code_.get())
    return at(device_errc::register_order, "train.loss", "no value of this program_builder");
  how.loss = loss.number();
  return finished(wanted, std::move(how));
}

result<runnable> program_builder::finished(const answers& wanted,
                                           std::optional<train_spec> train) const {
  if (code_->wrong) return *code_->wrong;
  runnable out;
  auto collect = [this](std::string_view list, const std::vector<var>& from,
                        std::vector<reg>& to) -> result<void> {
    for (auto x : from) {
      if (x.program() != code_.get())
        return at(device_errc::register_order, fmt::format("{}[{}]", list, to.size()),
                  "no value of this program_builder");
      to.push_back(x.number());
    }
    return {};
  };
  if (auto ok = collect("scalars", wanted.scalars, out.request.scalars); !ok) return ok.error();
  if (auto ok = collect("tensors", wanted.tensors, out.request.tensors); !ok) return ok.error();
  out.request.train = std::move(train);
  out.request.code = std::make_shared<const program>(code_->code);
  out.inputs = code_->inputs;
  return out;
}

} // namespace moxzi::device
