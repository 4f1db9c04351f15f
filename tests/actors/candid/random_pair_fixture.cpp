#include <bit>
#include <cmath>
#include <set>

#include "actors/candid/encode.hpp"
#include "tests/actors/candid/random_pair.hpp"

namespace moxzi::candid {

random_pair pair_generator::draw() {
  types_ = std::make_shared<type_table>();
  type_ref drawn;
  do {
    drawn = type(static_cast<int>(below(5)));
  } while (!inhabited(drawn));
  random_pair made;
  made.held = of(drawn, 0);
  made.types = make_tuple_type(types_, {drawn});
  return made;
}

/// `empty` has no values; a variant needs one tag that has.
bool pair_generator::inhabited(type_ref type) const {
  const auto form = types_->kind_of(type);
  if (form == kind::record) {
    for (const auto& f : types_->fields(type)) {
      if (!inhabited(f.type)) return false;
    }
    return true;
  }
  if (form != kind::variant) return form != kind::empty;
  for (const auto& f : types_->fields(type)) {
    if (inhabited(f.type)) return true;
  }
  return false;
}

type_ref pair_generator::type(int depth) {
  if (depth > 0 && below(3) > 0) return composite(depth);
  constexpr kind primitives[]{
    kind::null,  kind::boolean, kind::nat,     kind::integer,  kind::nat8,     kind::nat16,
    kind::nat32, kind::nat64,   kind::int8,    kind::int16,    kind::int32,    kind::int64,
    kind::text,  kind::float32, kind::float64, kind::reserved, kind::principal};
  return primitives[below(std::size(primitives))];
}

type_ref pair_generator::composite(int depth) {
  switch (below(9)) {
    case 0:
      return types_->opt(type(depth - 1));
    case 1:
      return types_->vec(type(depth - 1));
    case 2:
      return types_->blob();
    case 3:
    case 4:
      return types_->record(fields(depth, true));
    case 5:
    case 6:
      return types_->variant(fields(depth, false));
    case 7: {
      const auto made = types_->declare();
      if (below(2) == 0) {
        const std::vector<type_ref> arguments{type(0)};
        types_->set_func(made, arguments, {}, static_cast<uint8_t>(below(2)));
      } else {
        const auto func = types_->declare();
        types_->set_func(func, {}, {}, 0);
        (void)types_->set_service(made, {{text(), func}});
      }
      return made;
    }
    default:
      return recursive_list(depth);
  }
}

/// `type L = opt record { t; L }`
type_ref pair_generator::recursive_list(int depth) {
  const auto list = types_->declare();
  auto head = type(depth - 1);
  if (!inhabited(head)) head = kind::nat;
  const auto cell = types_->record({{"head", head}, {"tail", list}});
  types_->set_opt(list, cell);
  return list;
}

std::vector<field_spec> pair_generator::fields(int depth, bool is_record) {
  std::vector<field_spec> all;
  std::set<uint32_t> ids;
  const auto count = below(5) + (is_record ? 0 : 1);
  const bool tuple = is_record && below(3) == 0;
  for (uint32_t i = 0; i < count; ++i) {
    auto of_type = type(depth - 1);
    if (!is_record && i > 0 && below(8) == 0) of_type = kind::empty;
    const auto name = below(4) == 0 ? text() : "f" + std::to_string(below(1000));
    const auto spec = tuple           ? field_spec{i, of_type}
                      : below(4) == 0 ? field_spec{static_cast<uint32_t>(random_()), of_type}
                                      : field_spec{name, of_type};
    if (ids.insert(spec.id).second) all.push_back(spec);
  }
  return all;
}

uint64_t pair_generator::bits(int width) {
  // As many small numbers and corners as large ones.
  const auto all = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  switch (below(5)) {
    case 0:
      return 0;
    case 1:
      return all;
    case 2:
      return uint64_t{1} << (width - 1);
    case 3:
      return below(200) & all;
    default:
      return random_() & all;
  }
}

integer pair_generator::whole(bool negative_too) {
  const bool negative = negative_too && below(2) == 0;
  if (below(2) == 0) {
    const auto n = bits(64);
    byte_string magnitude;
    for (int i = 0; i < 8; ++i) magnitude += static_cast<char>(n >> 8 * i);
    return integer::from_magnitude(negative, magnitude);
  }
  byte_string magnitude(1 + below(512), '\0');
  const auto fill = below(3);
  for (auto& c : magnitude) {
    c = static_cast<char>(fill == 0 ? 0 : fill == 1 ? 0xFF : below(256));
  }
  if (fill == 0) magnitude.back() = static_cast<char>(1u << below(8)); // a power of two
  return integer::from_magnitude(negative, magnitude);
}

double pair_generator::float64() {
  const uint64_t sign = below(2) << 63;
  switch (below(7)) {
    case 0:
      return std::bit_cast<double>(sign); // zero
    case 1:
      return std::bit_cast<double>(sign | (random_() >> 12)); // subnormal
    case 2:
      return std::bit_cast<double>(sign | 0x7FF0000000000000u); // infinite
    case 3:
      return std::bit_cast<double>(sign | 0x7FF0000000000001u | (random_() >> 12)); // NaN
    case 4:
      return static_cast<double>(static_cast<int64_t>(bits(32))); // whole
    case 5:
      return static_cast<double>(below(100000)) / 1000;
    default:
      return std::bit_cast<double>(random_());
  }
}

float pair_generator::float32() {
  const auto sign = static_cast<uint32_t>(below(2) << 31);
  const auto drawn = static_cast<uint32_t>(random_());
  switch (below(6)) {
    case 0:
      return std::bit_cast<float>(sign);
    case 1:
      return std::bit_cast<float>(sign | drawn >> 9);
    case 2:
      return std::bit_cast<float>(sign | 0x7F800000u);
    case 3:
      return std::bit_cast<float>(sign | 0x7F800001u | drawn >> 9);
    case 4:
      return static_cast<float>(below(1000)) / 8;
    default:
      return std::bit_cast<float>(drawn);
  }
}

std::string pair_generator::text() {
  std::string out;
  for (auto n = below(8); n > 0; --n) {
    switch (below(6)) {
      case 0:
        out += static_cast<char>(below(0x80)); // controls, quotes, backslash
        break;
      case 1:
        out += "\"\\\n\t'{}"[below(7)];
        break;
      case 2:
        out += "é";
        break;
      case 3:
        out += "\U0010FFFF";
        break;
      case 4:
        out += "☃";
        break;
      default:
        out += static_cast<char>('a' + below(26));
        break;
    }
  }
  return out;
}

principal pair_generator::who() {
  byte_string bytes;
  for (auto n = below(30); n > 0; --n) bytes += static_cast<char>(below(256));
  return principal::from_bytes(bytes).value();
}

value pair_generator::variant_of(type_ref type, int depth) {
  const auto tags = types_->fields(type);
  for (;;) {
    const auto at = static_cast<uint32_t>(below(tags.size()));
    if (inhabited(tags[at].type)) return value::variant(at, of(tags[at].type, depth + 1));
  }
}

value pair_generator::of(type_ref type, int depth) {
  const auto signed_bits = [this](int width) {
    const auto shift = 64 - width;
    return value::fixed_int(static_cast<int64_t>(bits(width) << shift) >> shift);
  };
  switch (types_->kind_of(type)) {
    case kind::boolean:
      return value::boolean(below(2) == 0);
    case kind::nat:
      return value::whole(whole(false));
    case kind::integer:
      return value::whole(whole(true));
    case kind::nat8:
      return value::fixed_nat(bits(8));
    case kind::nat16:
      return value::fixed_nat(bits(16));
    case kind::nat32:
      return value::fixed_nat(bits(32));
    case kind::nat64:
      return value::fixed_nat(bits(64));
    case kind::int8:
      return signed_bits(8);
    case kind::int16:
      return signed_bits(16);
    case kind::int32:
      return signed_bits(32);
    case kind::int64:
      return signed_bits(64);
    case kind::float32:
      return value::float32(float32());
    case kind::float64:
      return value::float64(float64());
    case kind::text:
      return value::string(text());
    case kind::principal:
    case kind::service:
      return value::principal(who());
    case kind::func:
      return value::func({who(), text()});
    case kind::opt: {
      const auto element = types_->element(type);
      if (!inhabited(element) || depth > 12 || below(3) == 0) return {};
      return value::some(of(element, depth + 1));
    }
    case kind::vec: {
      const auto element = types_->element(type);
      if (types_->is_blob(type)) return value::string(text() + '\xFF');
      std::vector<value> items(inhabited(element) && depth < 8 ? below(4) : 0);
      for (auto& item : items) item = of(element, depth + 1);
      return value::list(std::move(items));
    }
    case kind::record: {
      std::vector<value> items;
      for (const auto& f : types_->fields(type)) items.push_back(of(f.type, depth + 1));
      return value::list(std::move(items));
    }
    case kind::variant:
      return variant_of(type, depth);
    default:
      return {};
  }
}

bool equal_but_nan(const value& x, const value& y) {
  if (x.holds<double>() && y.holds<double>() && std::isnan(x.as_float64())) {
    return std::isnan(y.as_float64());
  }
  if (x.holds<float>() && y.holds<float>() && std::isnan(x.as_float32())) {
    return std::isnan(y.as_float32());
  }
  if (x.holds_some() && y.holds_some()) return equal_but_nan(x.as_some(), y.as_some());
  if (x.holds_variant() && y.holds_variant()) {
    return x.as_position() == y.as_position() && equal_but_nan(x.as_payload(), y.as_payload());
  }
  if (!x.holds_list() || !y.holds_list()) return x == y;
  const auto& a = x.as_list();
  const auto& b = y.as_list();
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!equal_but_nan(a[i], b[i])) return false;
  }
  return true;
}

} // namespace moxzi::candid
