#include "device/check.hpp"

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "base/nearest.hpp"
#include "device/ops/rows.hpp"

namespace moxzi::device {

namespace {

/// What a row's shape rule sees of the operation being checked.
class checking final : public rule_context {
public:
  checking(typed_program& all, const operation& what) : all_(all), what_(what) {
    // nop
  }

  bool has(size_t operand) const override {
    return operand < what_.operands.size() && what_.operands[operand] != no_register;
  }
  const register_type& operand(size_t n) const override {
    return all_.types[what_.operands[n]];
  }
  size_t operand_count() const override {
    return what_.operands.size();
  }
  const attribute& attr(size_t n) const override {
    return what_.attributes[n];
  }

  result<register_type> input(int64_t n) const override {
    auto& inputs = all_.where.inputs;
    if (n >= static_cast<int64_t>(inputs.size()))
      return complain(device_errc::input_number, "input {}, but {} inputs were sent", n,
                      inputs.size());
    auto& sent = inputs[static_cast<size_t>(n)];
    auto type = computed_in(sent.type);
    // Integers stay as narrow as they came; floats are converted on the way in.
    auto storage = is_float(type) ? stored_as(type) : sent.type;
    return register_type{type, storage, sent.dims, fresh_axes(sent.dims)};
  }

  result<register_type> parameter(const std::string& name) const override {
    return named(all_.where.parameters, device_errc::unknown_parameter, "parameter", name);
  }
  result<register_type> value(const std::string& name) const override {
    return named(all_.where.values, device_errc::unknown_value, "stored value", name);
  }

  result<register_type> second(size_t operand) const override {
    return all_.seconds[what_.operands[operand]];
  }

  axis_factors fresh_axis(int64_t size) const override {
    return {{all_.axes++, size}};
  }

private:
  result<register_type> named(std::map<std::string, register_type, std::less<>>& known,
                              device_errc otherwise, std::string_view kind,
                              const std::string& name) const {
    auto found = known.find(name);
    if (found == known.end()) return complain(otherwise, "no {} \"{}\"", kind, name);
    // Read twice, it has the same axes.
    auto& type = found->second;
    if (type.factors.size() != type.dims.rank()) type.factors = fresh_axes(type.dims);
    return type;
  }

  std::vector<axis_factors> fresh_axes(const shape& dims) const {
    std::vector<axis_factors> axes;
    for (auto size : dims.sizes()) axes.push_back(fresh_axis(size));
    return axes;
  }

  typed_program& all_;
  const operation& what_;
};

bool is_nat32(const attribute& value) {
  auto integer = std::get_if<int64_t>(&value);
  return integer && *integer >= 0 && *integer <= UINT32_MAX;
}

bool fits(const field& wanted, const attribute& value) {
  if (std::holds_alternative<std::monostate>(value)) return wanted.optional;
  switch (wanted.kind) {
    case field_kind::boolean:
      return std::holds_alternative<bool>(value);
    case field_kind::nat32:
      return is_nat32(value);
    case field_kind::int32:
    case field_kind::int64:
    case field_kind::nat64:
      return std::holds_alternative<int64_t>(value);
    case field_kind::float64:
      return std::holds_alternative<double>(value);
    case field_kind::text:
      return std::holds_alternative<std::string>(value);
    case field_kind::nat32s:
      return std::holds_alternative<std::vector<uint32_t>>(value);
    case field_kind::distribution:
      return std::holds_alternative<double>(value)
             || (is_nat32(value) && std::get<int64_t>(value) <= 1);
    case field_kind::dtype:
      return is_nat32(value) && std::get<int64_t>(value) <= static_cast<int>(dtype::boolean);
    case field_kind::choice:
      return is_nat32(value)
             && std::get<int64_t>(value) < static_cast<int64_t>(wanted.choices.size());
    default:
      return false;
  }
}

/// Operands and attributes are as many and of the kinds that the row's fields say, and every
/// operand is made before.
result<void> check_form(const row& how, const operation& what, size_t made) {
  size_t operand = 0, value = 0;
  auto check_register = [&](std::string_view name, bool optional) -> result<void> {
    if (operand >= what.operands.size())
      return complain(device_errc::undecodable, "operand {} is missing", name);
    auto x = what.operands[operand++];
    if (x < made || (optional && x == no_register)) return {};
    return complain(device_errc::register_order,
                    "{} = {} is not made before this operation, which makes register {}", name, x,
                    made);
  };
  for (auto& f : how.fields) {
    if (f.kind == field_kind::regs) {
      while (operand < what.operands.size())
        if (auto ok = check_register(f.name, false); !ok) return ok;
    } else if (is_register(f.kind)) {
      if (auto ok = check_register(f.name, f.kind == field_kind::opt_reg); !ok) return ok;
    } else if (value >= what.attributes.size() || !fits(f, what.attributes[value++])) {
      return complain(device_errc::undecodable, "{} is missing or of another type", f.name);
    }
  }
  if (operand != what.operands.size() || value != what.attributes.size())
    return complain(device_errc::undecodable, "it has more operands or attributes than it takes");
  return {};
}

result<void> add(typed_program& to, const row& how, operation what, uint32_t origin) {
  checking context(to, what);
  auto type = how.infer(context);
  if (!type) return type.error();
  to.seconds.push_back(how.infer_second ? how.infer_second(context) : register_type{});
  to.types.push_back(std::move(*type));
  to.code.push_back(std::move(what));
  to.origins.push_back(origin);
  return {};
}

error placed(const error& why, size_t position, op id) {
  return at(static_cast<device_errc>(why.code.value()), place_of(position, id), why.message);
}

} // namespace

std::string place_of(size_t position, op id) {
  auto how = find_row(id);
  return fmt::format("program[{}] {}", position, how ? how->name : "?");
}

result<typed_program> check(const program& code, environment where) {
  if (code.size() > limits::program_ops_max)
    return fail_at(device_errc::program_too_long, "program", "{} operations; at most {}",
                   code.size(), limits::program_ops_max);
  typed_program out;
  out.where = std::move(where);
  for (size_t i = 0; i < code.size(); ++i) {
    auto what = code[i];
    auto id = what.id;
    auto how = find_row(id);
    if (!how || how->internal())
      return fail_at(device_errc::op_unsupported, place_of(i, op{UINT16_MAX}),
                     "there is no operation number {}", static_cast<int>(id));
    if (auto ok = check_form(*how, what, i); !ok) return placed(ok.error(), i, id);
    if (how->settle) {
      how->settle(what, out.where.trains);
      how = find_row(what.id);
    }
    if (auto ok = add(out, *how, std::move(what), static_cast<uint32_t>(i)); !ok)
      return placed(ok.error(), i, id);
  }
  return out;
}

result<reg> append(typed_program& to, operation what, uint32_t origin) {
  auto how = find_row(what.id);
  moxzi_assert(how, "id={}", static_cast<int>(what.id));
  auto id = what.id;
  auto position = to.code.size();
  if (auto ok = check_form(*how, what, position); !ok) return placed(ok.error(), position, id);
  if (auto ok = add(to, *how, std::move(what), origin); !ok)
    return placed(ok.error(), position, id);
  return static_cast<reg>(position);
}

void take_training_form(typed_program& in, reg at) {
  in.code[at].id = find_row(in.code[at].id)->training_form;
  auto what = in.code[at];
  checking context(in, what);
  in.seconds[at] = find_row(what.id)->infer_second(context);
}

result<shape> checked_shape(std::span<const uint32_t> dims) {
  return checked_sizes("shape", dims);
}

} // namespace moxzi::device
