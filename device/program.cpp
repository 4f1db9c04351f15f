#include "device/program.hpp"

namespace moxzi::device {

namespace {

void encode(writer& out, const attribute& what) {
  out.u8(static_cast<uint8_t>(what.index()));
  if (auto flag = std::get_if<bool>(&what))
    out.boolean(*flag);
  else if (auto integer = std::get_if<int64_t>(&what))
    out.u64(static_cast<uint64_t>(*integer));
  else if (auto number = std::get_if<double>(&what))
    out.f64(*number);
  else if (auto text = std::get_if<std::string>(&what))
    out.bytes(*text);
  else if (auto list = std::get_if<std::vector<uint32_t>>(&what)) {
    out.count(list->size());
    for (auto entry : *list) out.u32(entry);
  }
}

} // namespace

void encode(writer& out, const program& what) {
  out.count(what.size());
  for (auto& step : what) {
    out.u16(static_cast<uint16_t>(step.id));
    out.count(step.operands.size());
    for (auto operand : step.operands) out.u32(operand);
    out.count(step.attributes.size());
    for (auto& value : step.attributes) encode(out, value);
  }
}

} // namespace moxzi::device
