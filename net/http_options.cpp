#include <charconv>

#include <fmt/format.h>

#include "base/nearest.hpp"
#include "net/http_target.hpp"

namespace moxzi::net {

namespace {

using std::string_view;

constexpr string_view names[] = {"timeout_ms", "async", "sender", "cycles", "blob", "lenient"};
// Those that may come as fields of the header too.
constexpr string_view field_names[] = {"timeout_ms", "async", "sender", "cycles"};
constexpr size_t cycles_digits_max = 38; // below 2^128
constexpr size_t principal_text_max = 63;

refusal bad(std::string message) {
  return bad_request(400, "MX003", std::move(message));
}

std::optional<refusal> set_flag(std::optional<bool>& out, string_view name, string_view value) {
  if (value != "0" && value != "1") return bad(fmt::format("{} must be 0 or 1", name));
  out = value == "1";
  return std::nullopt;
}

std::optional<refusal> set_timeout(std::optional<uint32_t>& out, string_view text,
                                   const http_limits& limits) {
  uint32_t value = 0;
  const auto* end = text.data() + text.size();
  auto [rest, ec] = std::from_chars(text.data(), end, value);
  if (ec != std::errc{} || rest != end || value == 0 || value > limits.call_timeout_ms)
    return bad(fmt::format("timeout_ms must be a whole number of milliseconds from 1 to {}",
                           limits.call_timeout_ms));
  out = value;
  return std::nullopt;
}

std::optional<refusal> set_cycles(std::optional<std::string>& out, string_view text) {
  if (text.empty() || text.size() > cycles_digits_max
      || text.find_first_not_of("0123456789") != string_view::npos)
    return bad(
      fmt::format("cycles must be a whole number of at most {} digits", cycles_digits_max));
  out = std::string{text};
  return std::nullopt;
}

std::optional<refusal> set_sender(std::optional<std::string>& out, string_view text) {
  if (text.empty() || text.size() > principal_text_max
      || text.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567-") != string_view::npos)
    return bad("sender must be a principal, such as 2vxsx-fae");
  out = std::string{text};
  return std::nullopt;
}

std::optional<refusal> set_blob(std::optional<bool>& out, string_view text) {
  if (text != "base64" && text != "hex") return bad("blob must be base64 or hex");
  out = text == "base64";
  return std::nullopt;
}

bool same_option(string_view field, string_view name) noexcept {
  if (field.size() != name.size()) return false;
  for (size_t i = 0; i < name.size(); ++i) {
    auto c = field[i];
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
    if (c != name[i]) return false;
  }
  return true;
}

} // namespace

std::optional<refusal> set_option(call_options& out, string_view name, string_view value,
                                  const http_limits& limits) {
  const auto twice = [name] { return bad(fmt::format("{} is given twice", name)); };
  if (name == "timeout_ms")
    return out.timeout_ms ? twice() : set_timeout(out.timeout_ms, value, limits);
  if (name == "async") return out.is_async ? twice() : set_flag(out.is_async, name, value);
  if (name == "lenient") return out.is_lenient ? twice() : set_flag(out.is_lenient, name, value);
  if (name == "sender") return out.sender ? twice() : set_sender(out.sender, value);
  if (name == "cycles") return out.cycles ? twice() : set_cycles(out.cycles, value);
  if (name == "blob") return out.blob_base64 ? twice() : set_blob(out.blob_base64, value);
  return bad(fmt::format("unknown parameter '{}' in the URL{}", name, did_you_mean(name, names)));
}

string_view option_of_field(string_view field) noexcept {
  for (auto name : field_names)
    if (same_option(field, name)) return name;
  return {};
}

} // namespace moxzi::net
