#include "shapescript/lsp/transport.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace shapescript::lsp {

namespace {

constexpr std::string_view length_name = "content-length:";

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Where the name of the length begins, in any case; npos if it is not there.
size_t find_length(std::string_view line) {
  const auto same = [](char x, char y) { return lower(x) == y; };
  const auto found =
    std::search(line.begin(), line.end(), length_name.begin(), length_name.end(), same);
  return found == line.end() ? line.npos : static_cast<size_t>(found - line.begin());
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

} // namespace

void message_reader::feed(std::string_view bytes, std::vector<incoming>& out) {
  const auto skipped = std::min(skip_, bytes.size());
  bytes.remove_prefix(skipped);
  skip_ -= skipped;
  held_ += bytes;
  while (skip_ == 0 && (in_body_ ? take_body(out) : take_header(out))) {
    // nop
  }
  held_.erase(0, at_);
  at_ = 0;
}

bool message_reader::take_header(std::vector<incoming>& out) {
  const auto rest = std::string_view{held_}.substr(at_);
  const auto end = rest.find('\n');
  if (end == rest.npos) {
    // The name of a length may be cut in two by the stream.
    if (rest.size() > header_bytes_max) at_ = held_.size() - length_name.size();
    return false;
  }
  at_ += end + 1;
  read_line(trimmed(rest.substr(0, end)), out);
  return true;
}

void message_reader::read_line(std::string_view line, std::vector<incoming>& out) {
  const auto complain = [&](std::string text) {
    if (!std::exchange(garbage_, true)) out.push_back({{}, std::move(text)});
  };
  if (const auto name = find_length(line); name != line.npos) {
    const auto digits = trimmed(line.substr(name + length_name.size()));
    const auto [end, failed] =
      std::from_chars(digits.data(), digits.data() + digits.size(), length_);
    has_length_ = !digits.empty() && failed == std::errc{} && end == digits.data() + digits.size();
    if (has_length_)
      garbage_ = false;
    else
      complain("Content-Length is not a number of bytes");
  } else if (!line.empty()) {
    if (line.find(':') == line.npos || line.find('{') != line.npos)
      complain("a line that is no header");
  } else if (has_length_) {
    has_length_ = false;
    garbage_ = false;
    in_body_ = length_ <= message_bytes_max;
    if (in_body_) return;
    out.push_back(
      {{}, fmt::format("a message of {} bytes; the most is {}", length_, message_bytes_max)});
    skip_ = length_;
    const auto here = std::min(skip_, held_.size() - at_);
    at_ += here;
    skip_ -= here;
  } else {
    complain("a header without Content-Length");
  }
}

bool message_reader::take_body(std::vector<incoming>& out) {
  if (held_.size() - at_ < length_) return false;
  out.push_back({held_.substr(at_, length_), {}});
  at_ += length_;
  in_body_ = false;
  return true;
}

std::string framed(std::string_view body) {
  return fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
}

} // namespace shapescript::lsp
