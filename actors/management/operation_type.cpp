#include "actors/management/operation_type.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace moxzi::actors::management {

namespace {

using candid::braces;
using candid::declarations;
using candid::typed_text;
using candid::value;
using device::field_kind;

/// Of a distribution's tags, as declared, the one with a number.
constexpr int64_t bernoulli = 2;
constexpr size_t dtype_count = static_cast<size_t>(device::dtype::boolean) + 1;

std::vector<uint32_t> read_numbers(const value& list) {
  std::vector<uint32_t> numbers;
  numbers.reserve(list.as_list().size());
  for (const auto& item : list.as_list()) {
    numbers.push_back(static_cast<uint32_t>(item.as_fixed_nat()));
  }
  return numbers;
}

device::attribute read_attribute(field_kind kind, const std::vector<uint32_t>& choices,
                                 value from) {
  switch (kind) {
    case field_kind::boolean:
      return from.as_boolean();
    case field_kind::nat32:
    case field_kind::nat64:
      return static_cast<int64_t>(from.as_fixed_nat());
    case field_kind::int32:
    case field_kind::int64:
      return from.as_fixed_int();
    case field_kind::float64:
      return from.as_float64();
    case field_kind::text:
      return std::move(from.as_string());
    case field_kind::nat32s:
      return read_numbers(from);
    case field_kind::dtype:
    case field_kind::choice:
      return int64_t{std::ranges::find(choices, from.as_position()) - choices.begin()};
    case field_kind::distribution: {
      const auto which = std::ranges::find(choices, from.as_position()) - choices.begin();
      if (which == bernoulli) return from.as_payload().as_float64();
      return int64_t{which};
    }
    case field_kind::reg:
    case field_kind::opt_reg:
    case field_kind::regs:
      break;
  }
  moxzi_assert(false, "a register is no attribute");
  return {};
}

void read_registers(field_kind kind, const value& from, std::vector<device::reg>& to) {
  if (kind == field_kind::reg) {
    to.push_back(static_cast<device::reg>(from.as_fixed_nat()));
  } else if (kind == field_kind::regs) {
    for (const auto number : read_numbers(from)) to.push_back(number);
  } else if (from.is_null()) {
    to.push_back(device::no_register);
  } else {
    to.push_back(static_cast<device::reg>(from.as_some().as_fixed_nat()));
  }
}

void append_numbers(writer& out, std::span<const uint32_t> numbers) {
  out.count(numbers.size());
  for (const auto number : numbers) out.u32(number);
}

void append_attribute(writer& out, field_kind kind, const std::vector<uint32_t>& choices,
                      const device::attribute& from) {
  switch (kind) {
    case field_kind::boolean:
      return out.boolean(std::get<bool>(from));
    case field_kind::nat32:
    case field_kind::int32:
      return out.u32(static_cast<uint32_t>(std::get<int64_t>(from)));
    case field_kind::nat64:
    case field_kind::int64:
      return out.u64(static_cast<uint64_t>(std::get<int64_t>(from)));
    case field_kind::float64:
      return out.f64(std::get<double>(from));
    case field_kind::text:
      return out.bytes(std::get<std::string>(from));
    case field_kind::nat32s:
      return append_numbers(out, std::get<std::vector<uint32_t>>(from));
    case field_kind::dtype:
    case field_kind::choice:
      return out.count(choices[static_cast<size_t>(std::get<int64_t>(from))]);
    case field_kind::distribution:
      if (const auto* plain = std::get_if<int64_t>(&from)) {
        return out.count(choices[static_cast<size_t>(*plain)]);
      }
      out.count(choices[bernoulli]);
      return out.f64(std::get<double>(from));
    case field_kind::reg:
    case field_kind::opt_reg:
    case field_kind::regs:
      break;
  }
  moxzi_assert(false, "a register is no attribute");
}

void append_registers(writer& out, field_kind kind, std::span<const device::reg> from) {
  if (kind == field_kind::regs) return append_numbers(out, from);
  if (kind == field_kind::opt_reg) {
    out.boolean(from[0] != device::no_register);
    if (from[0] == device::no_register) return;
  }
  out.u32(from[0]);
}

candid::type_ref variant_of_names(declarations& in, std::span<const std::string_view> names) {
  std::vector<candid::field_spec> tags;
  for (const auto name : names) tags.emplace_back(name, candid::kind::null);
  return in.types().variant(std::move(tags));
}

} // namespace

// -- the type -----------------------------------------------------------------

typed_text operation_type::plain_type(declarations& in, const device::field& f) {
  using candid::kind;
  switch (f.kind) {
    case field_kind::reg:
      return {kind::nat32, "Reg"};
    case field_kind::opt_reg:
      return {in.types().opt(kind::nat32), "opt Reg"};
    case field_kind::regs:
      return {in.types().vec(kind::nat32), "vec Reg"};
    case field_kind::boolean:
      return {kind::boolean, "bool"};
    case field_kind::nat32:
      return {kind::nat32, "nat32"};
    case field_kind::int32:
      return {kind::int32, "int32"};
    case field_kind::int64:
      return {kind::int64, "int64"};
    case field_kind::nat64:
      return {kind::nat64, "nat64"};
    case field_kind::float64:
      return {kind::float64, "float64"};
    case field_kind::text:
      return {kind::text, "text"};
    case field_kind::nat32s:
      return {in.types().vec(kind::nat32), "vec nat32"};
    case field_kind::dtype: {
      if (const auto* known = in.types().lookup("Dtype")) return {*known, "Dtype"};
      std::vector<std::string_view> names;
      for (size_t i = 0; i < dtype_count; ++i) {
        names.push_back(device::name_of(static_cast<device::dtype>(i)));
      }
      const auto type = variant_of_names(in, names);
      in.define("Dtype", type, fmt::format("variant {{ {} }}", fmt::join(names, "; ")),
                "The type that a register computes in.");
      return {type, "Dtype"};
    }
    case field_kind::distribution:
      return {in.types().variant(
                {{"uniform", kind::null}, {"normal", kind::null}, {"bernoulli", kind::float64}}),
              "variant { uniform; normal; bernoulli : float64 }"};
    case field_kind::choice:
      break;
  }
  return {variant_of_names(in, f.choices),
          fmt::format("variant {{ {} }}", fmt::join(f.choices, "; "))};
}

typed_text operation_type::field_type(declarations& in, const device::field& f) {
  auto plain = plain_type(in, f);
  if (!f.optional || device::is_register(f.kind)) return plain;
  return {in.types().opt(plain.type), "opt " + plain.text};
}

typed_text operation_type::payload_type(declarations& in, const device::row& row) {
  moxzi_assert(!row.fields.empty(), "{} has no fields", row.name);
  if (row.form == device::field_form::bare) {
    moxzi_assert(row.fields.size() == 1, "{} is bare and not of one field", row.name);
    return field_type(in, row.fields[0]);
  }
  std::vector<candid::field_spec> fields;
  std::vector<std::string> parts;
  for (const auto& f : row.fields) {
    auto [type, text] = field_type(in, f);
    fields.emplace_back(f.name, type);
    parts.push_back(fmt::format("{} : {}", f.name, text));
  }
  return {in.types().record(std::move(fields)), braces("record", parts, {}, false)};
}

void operation_type::lay_out(const candid::type_table& types, candid::type_ref payload,
                             tag& to) const {
  to.order.resize(to.row->fields.size());
  for (size_t i = 0; i < to.order.size(); ++i) {
    auto type = payload;
    if (!to.is_bare()) {
      to.order[types.fields(payload)[i].declared] = static_cast<uint32_t>(i);
      type = types.declared(payload, i).type;
    }
    if (types.kind_of(type) == candid::kind::opt) type = types.element(type);
    auto& positions = to.choices.emplace_back();
    if (types.kind_of(type) != candid::kind::variant) continue;
    for (const auto& f : types.fields(type)) positions.push_back(f.declared);
  }
}

operation_type::operation_type(declarations& in, std::span<const device::row> rows) {
  std::vector<candid::field_spec> tags;
  std::vector<std::string> parts;
  std::vector<std::string> notes;
  std::vector<const device::row*> declared;
  for (const auto& row : rows) {
    if (row.internal()) continue;
    declared.push_back(&row);
    auto [type, text] = payload_type(in, row);
    tags.emplace_back(row.name, type);
    parts.push_back(fmt::format("{} : {}", row.name, text));
    notes.emplace_back(row.sentence);
  }
  type_ = in.types().variant(std::move(tags));
  in.define("Op", type_, braces("variant", parts, notes, true),
            "An operation. Its result is the register whose number is its position.");
  tags_.resize(declared.size());
  for (size_t i = 0; i < declared.size(); ++i) {
    const auto position = in.types().fields(type_)[i].declared;
    tags_[position].row = declared[i];
    lay_out(in.types(), in.types().fields(type_)[position].type, tags_[position]);
  }
}

// -- values -------------------------------------------------------------------

device::operation operation_type::read(value from) const {
  const auto& wanted = tags_[from.as_position()];
  auto payload = from.take_payload();
  const auto& fields = wanted.row->fields;
  std::vector<value*> values(fields.size(), &payload);
  if (!wanted.is_bare()) {
    for (size_t i = 0; i < fields.size(); ++i) values[wanted.order[i]] = &payload.as_list()[i];
  }
  device::operation made;
  made.id = wanted.row->id;
  const auto registers = wanted.row->register_fields();
  made.operands.reserve(registers);
  made.attributes.reserve(fields.size() - registers);
  for (size_t i = 0; i < fields.size(); ++i) {
    auto* held = values[i];
    if (device::is_register(fields[i].kind)) {
      read_registers(fields[i].kind, *held, made.operands);
      continue;
    }
    if (fields[i].optional) held = held->is_null() ? nullptr : &held->as_some();
    made.attributes.push_back(
      held == nullptr ? device::attribute{}
                      : read_attribute(fields[i].kind, wanted.choices[i], std::move(*held)));
  }
  return made;
}

void operation_type::append(writer& out, const device::operation& from) const {
  const auto found =
    std::ranges::find(tags_, from.id, [](const tag& candidate) { return candidate.row->id; });
  moxzi_assert(found != tags_.end(), "operation {} is not public", static_cast<int>(from.id));
  out.count(static_cast<uint64_t>(found - tags_.begin()));
  for (const auto i : found->order) {
    const auto& fields = found->row->fields;
    const auto kind = fields[i].kind;
    // Operands and attributes are each in the order of the row's fields.
    const auto operand = static_cast<size_t>(
      std::count_if(fields.begin(), fields.begin() + i,
                    [](const device::field& f) { return device::is_register(f.kind); }));
    if (device::is_register(kind)) {
      append_registers(out, kind, std::span{from.operands}.subspan(operand));
      continue;
    }
    const auto& attribute = from.attributes[i - operand];
    const bool given = !std::holds_alternative<std::monostate>(attribute);
    if (fields[i].optional) out.boolean(given);
    if (given) append_attribute(out, kind, found->choices[i], attribute);
  }
}

} // namespace moxzi::actors::management
