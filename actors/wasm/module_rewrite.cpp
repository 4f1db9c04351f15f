#include "actors/wasm/module_rewrite.hpp"

#include "actors/wasm/module_info.hpp"
#include "actors/wasm/section_reader.hpp"

namespace moxzi::actors {

namespace {

void put_number(byte_string& out, uint64_t value) {
  do {
    auto b = static_cast<uint8_t>(value & 0x7f);
    value >>= 7;
    if (value != 0) b |= 0x80;
    out.push_back(static_cast<char>(b));
  } while (value != 0);
}

void put_section(byte_string& out, uint8_t id, byte_view body) {
  out.push_back(static_cast<char>(id));
  put_number(out, body.size());
  out += body;
}

} // namespace

byte_string rewrite_module(byte_view wasm, const module_additions& additions) {
  byte_string added;
  auto add = [&added](std::string_view name, uint8_t kind, uint64_t index) {
    put_number(added, name.size());
    added += name;
    added.push_back(static_cast<char>(kind));
    put_number(added, index);
  };
  for (size_t i = 0; i < additions.mutable_globals.size(); ++i)
    add(global_export_name(i), 3, additions.mutable_globals[i]);
  if (additions.table) add(table_export_name, 1, 0);
  if (additions.start) add(start_export_name, 0, *additions.start);
  uint64_t added_count =
    additions.mutable_globals.size() + additions.table + additions.start.has_value();

  byte_string out{wasm.substr(0, 8)};
  out.reserve(wasm.size() + added.size() + 32);
  section_reader in{wasm.substr(8)};
  bool exported = false;
  auto put_exports = [&](byte_view old) {
    section_reader entries{old};
    auto count = old.empty() ? 0 : entries.number();
    byte_string body;
    put_number(body, count + added_count);
    body += entries.rest();
    body += added;
    put_section(out, sections::exports, body);
    exported = true;
  };
  while (!in.at_end()) {
    auto id = in.byte();
    auto body = in.name();
    if (id == sections::exports) {
      put_exports(body);
      continue;
    }
    // A module without exports gets them where the section belongs.
    if (!exported && id > sections::exports && id != sections::tag && added_count > 0)
      put_exports({});
    if (id != sections::start) put_section(out, id, body);
  }
  if (!exported && added_count > 0) put_exports({});
  return out;
}

} // namespace moxzi::actors
