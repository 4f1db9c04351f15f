#include "actors/lifecycle_codec.hpp"

#include <algorithm>
#include <utility>

namespace moxzi::actors {

namespace {

namespace lc = lifecycle;
using actors::put;

// Numbers of the changes; append only.
enum class change_code : uint8_t {
  uninstall = 1,
  start = 2,
  stop = 3,
  remove = 4,
  settings = 5,
  deposit = 6,
  take_snapshot = 7,
  load_snapshot = 8,
  delete_snapshot = 9,
  prices = 10,
};

template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
overloaded(Ts...) -> overloaded<Ts...>;

void put(writer& out, uint64_t value) {
  out.u64(value);
}
void put(writer& out, const byte_string& value) {
  out.bytes(value);
}
void put(writer& out, const principal& value) {
  out.bytes(value.bytes());
}
void put(writer& out, const std::vector<principal>& values) {
  out.count(values.size());
  for (const auto& value : values) put(out, value);
}
void put(writer& out, const lc::audience& value) {
  out.u8(static_cast<uint8_t>(value.who));
  put(out, value.viewers);
}
void put(writer& out, const std::map<std::string, std::string>& values) {
  out.count(values.size());
  for (const auto& [name, value] : values) {
    out.bytes(name);
    out.bytes(value);
  }
}
template <class T>
void put_optional(writer& out, const std::optional<T>& value) {
  out.boolean(value.has_value());
  if (value) put(out, *value);
}

void get(reader& in, uint64_t& value) {
  value = in.u64();
}
void get(reader& in, cycles& value) {
  value = get_cycles(in);
}
void get(reader& in, byte_string& value) {
  value = in.bytes();
}
void get(reader& in, principal& value) {
  value = get_principal(in);
}
void get(reader& in, std::vector<principal>& values) {
  const auto count = in.items(1);
  for (uint64_t i = 0; i < count && in.ok(); ++i) values.push_back(get_principal(in));
}
void get(reader& in, lc::audience& value) {
  const auto code = in.u8();
  if (code > 2) in.reject("a visibility is 0 to 2");
  value.who = static_cast<lc::visibility>(code);
  get(in, value.viewers);
}
void get(reader& in, std::map<std::string, std::string>& values) {
  const auto count = in.items(2);
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    std::string name{in.text()};
    values.insert_or_assign(std::move(name), std::string{in.text()});
  }
}
template <class T>
void get_optional(reader& in, std::optional<T>& value) {
  if (in.boolean()) get(in, value.emplace());
}

template <class Settings, class Function>
void for_each_field(Settings& settings, Function&& function) {
  function(settings.controllers);
  function(settings.compute_allocation);
  function(settings.memory_allocation);
  function(settings.freezing_threshold);
  function(settings.reserved_cycles_limit);
  function(settings.wasm_memory_limit);
  function(settings.wasm_memory_threshold);
  function(settings.logs);
  function(settings.snapshots);
  function(settings.status);
  function(settings.log_bytes_max);
  function(settings.call_cycles_min);
  function(settings.environment);
}

template <class Prices, class Function>
void for_each_price(Prices& prices, Function&& function) {
  for (auto* price :
       {&prices.execution, &prices.billion_instructions, &prices.call, &prices.call_byte,
        &prices.ingress, &prices.ingress_byte, &prices.create_canister, &prices.http_request,
        &prices.http_request_byte, &prices.http_response_byte, &prices.sign_with_ecdsa,
        &prices.sign_with_schnorr}) {
    function(*price);
  }
}

void put_prices(writer& out, const price_table& prices) {
  for_each_price(prices, [&out](uint64_t price) { out.u64(price); });
}

price_table get_prices(reader& in) {
  price_table prices;
  for_each_price(prices, [&in](uint64_t& price) { price = in.u64(); });
  return prices;
}

void put_code(writer& out, change_code code) {
  out.u8(static_cast<uint8_t>(code));
}

} // namespace

void put(writer& out, cycles value) {
  const auto amount = to_amount(value);
  out.u64(amount.low);
  out.u64(amount.high);
}

cycles get_cycles(reader& in) {
  persist::cycles_amount amount;
  amount.low = in.u64();
  amount.high = in.u64();
  return to_cycles(amount);
}

principal get_principal(reader& in) {
  auto value = principal::from_bytes(in.bytes());
  if (!value) {
    in.reject(value.error().message);
    return {};
  }
  return *std::move(value);
}

void put_created(writer& out, const create_input& created) {
  for_each_field(created.settings, [&out](const auto& field) { put(out, field); });
  put(out, created.balance);
  out.boolean(created.charging);
  put_prices(out, created.prices);
  put(out, created.origin);
  put_optional(out, created.origin_version);
}

create_input get_created(reader& in) {
  create_input created;
  for_each_field(created.settings, [&in](auto& field) {
    field = {};
    get(in, field);
  });
  created.balance = get_cycles(in);
  created.charging = in.boolean();
  created.prices = get_prices(in);
  created.origin = get_principal(in);
  get_optional(in, created.origin_version);
  return created;
}

void put_change(writer& out, const change_input& change) {
  put_optional(out, change.sender);
  put_optional(out, change.sender_version);
  std::visit(overloaded{
               [&](const lc::install_code& what) {
                 out.u8(static_cast<uint8_t>(what.mode));
                 out.boolean(what.skip_pre_upgrade);
                 out.u8(static_cast<uint8_t>(what.heap));
                 out.raw(as_bytes(change.module));
                 out.bytes(what.argument);
               },
               [&out](const lc::uninstall_code&) { put_code(out, change_code::uninstall); },
               [&out](const lc::start&) { put_code(out, change_code::start); },
               [&out](const lc::stop&) { put_code(out, change_code::stop); },
               [&out](const lc::remove&) { put_code(out, change_code::remove); },
               [&out](const lc::change_settings& what) {
                 put_code(out, change_code::settings);
                 for_each_field(what.what, [&out](const auto& field) { put_optional(out, field); });
               },
               [&out](const lc::deposit& what) {
                 put_code(out, change_code::deposit);
                 put(out, what.amount);
               },
               [&out](const lc::take_snapshot& what) {
                 put_code(out, change_code::take_snapshot);
                 put_optional(out, what.replace);
                 out.boolean(what.uninstall);
               },
               [&out](const lc::load_snapshot& what) {
                 put_code(out, change_code::load_snapshot);
                 out.bytes(what.id);
               },
               [&out](const lc::delete_snapshot& what) {
                 put_code(out, change_code::delete_snapshot);
                 out.bytes(what.id);
               },
               [&out](const lc::change_prices& what) {
                 put_code(out, change_code::prices);
                 out.boolean(what.charging);
                 put_prices(out, what.prices);
               },
               [](const auto&) {}, // what only reads leaves no record
             },
             change.what);
}

change_input get_installation(reader& in) {
  change_input change;
  get_optional(in, change.sender);
  get_optional(in, change.sender_version);
  lc::install_code what;
  const auto mode = in.u8();
  if (mode > 2) in.reject("an installation's mode is 0 to 2");
  what.mode = static_cast<lc::install_mode>(mode);
  what.skip_pre_upgrade = in.boolean();
  const auto heap = in.u8();
  if (heap > 2) in.reject("what becomes of the heap is 0 to 2");
  what.heap = static_cast<lc::heap_policy>(heap);
  const auto hash = in.raw(change.module.size());
  std::copy(hash.begin(), hash.end(), change.module.begin());
  what.argument = in.bytes();
  change.what = std::move(what);
  return change;
}

change_input get_change(reader& in) {
  change_input change;
  get_optional(in, change.sender);
  get_optional(in, change.sender_version);
  switch (static_cast<change_code>(in.u8())) {
    case change_code::uninstall:
      change.what = lc::uninstall_code{};
      break;
    case change_code::start:
      change.what = lc::start{};
      break;
    case change_code::stop:
      change.what = lc::stop{};
      break;
    case change_code::remove:
      change.what = lc::remove{};
      break;
    case change_code::settings: {
      lc::change_settings what;
      for_each_field(what.what, [&in](auto& field) { get_optional(in, field); });
      change.what = std::move(what);
      break;
    }
    case change_code::deposit:
      change.what = lc::deposit{get_cycles(in)};
      break;
    case change_code::take_snapshot: {
      lc::take_snapshot what;
      get_optional(in, what.replace);
      what.uninstall = in.boolean();
      change.what = std::move(what);
      break;
    }
    case change_code::load_snapshot:
      change.what = lc::load_snapshot{byte_string{in.bytes()}};
      break;
    case change_code::delete_snapshot:
      change.what = lc::delete_snapshot{byte_string{in.bytes()}};
      break;
    case change_code::prices: {
      lc::change_prices what;
      what.charging = in.boolean();
      what.prices = get_prices(in);
      change.what = what;
      break;
    }
    default:
      in.reject("there is no such change");
  }
  return change;
}

} // namespace moxzi::actors
