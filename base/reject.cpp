#include "base/reject.hpp"

#include <fmt/format.h>

#include "base/bytes.hpp"

namespace moxzi {

std::string_view name_of(reject_code code) noexcept {
  switch (code) {
    case reject_code::none:
      return "bad_request";
    case reject_code::sys_fatal:
      return "system_fatal";
    case reject_code::sys_transient:
      return "system_transient";
    case reject_code::destination_invalid:
      return "destination_invalid";
    case reject_code::canister_reject:
      return "canister_reject";
    case reject_code::canister_error:
      return "canister_error";
    case reject_code::sys_unknown:
      return "system_unknown";
  }
  return "system_unknown";
}

namespace {

// The length of the well-formed UTF-8 sequence at the front of `text`, 0 if there is none.
size_t sequence_length(std::string_view text) {
  for (size_t n = 1; n <= 4 && n <= text.size(); ++n) {
    if (is_utf8(text.substr(0, n))) return n;
  }
  return 0;
}

} // namespace

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
      ++i;
    } else if (c == '\n') {
      out += "\\n";
      ++i;
    } else if (c == '\t') {
      out += "\\t";
      ++i;
    } else if (c == '\r') {
      out += "\\r";
      ++i;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
      ++i;
    } else if (const auto n = sequence_length(text.substr(i)); n > 0) {
      out += text.substr(i, n);
      i += n;
    } else {
      out += "\xEF\xBF\xBD";
      ++i;
    }
  }
  out += '"';
  return out;
}

std::string to_json(const rejection& why) {
  return fmt::format(R"({{"error":{{"code":{},"name":{},"message":{},"error_code":{}}}}})",
                     static_cast<int>(why.code), json_quote(name_of(why.code)),
                     json_quote(why.message), json_quote(why.error_code));
}

} // namespace moxzi
