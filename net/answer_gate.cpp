#include "net/answer_gate.hpp"

#include <iterator>
#include <utility>

#include <boost/beast/http/status.hpp>
#include <fmt/format.h>
#include <sys/socket.h>

namespace moxzi::net {

namespace {

// Longer ones are written by the server's thread, without a copy.
constexpr size_t short_bytes_max = 8u << 10;

} // namespace

void write_header(std::string& out, const http_answer& answer, size_t body_size,
                  std::string_view connection, std::string_view allow) {
  const auto status = static_cast<boost::beast::http::status>(answer.status);
  const auto reason = boost::beast::http::obsolete_reason(status);
  auto to = std::back_inserter(out);
  fmt::format_to(to, "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n", answer.status,
                 std::string_view{reason.data(), reason.size()}, answer.content_type, body_size);
  if (!allow.empty()) fmt::format_to(to, "Allow: {}\r\n", allow);
  if (!connection.empty()) fmt::format_to(to, "Connection: {}\r\n", connection);
  out += "\r\n";
}

void answer_gate::open(uint64_t number, int socket) noexcept {
  const std::lock_guard lock{mutex_};
  number_ = number;
  socket_ = socket;
  written_.reset();
}

std::optional<steady::time_point> answer_gate::shut() noexcept {
  const std::lock_guard lock{mutex_};
  socket_ = -1;
  return std::exchange(written_, std::nullopt);
}

answer_gate::outcome answer_gate::write(uint64_t number, const http_answer& answer) {
  if (answer.body.size() > short_bytes_max) return {};
  std::string bytes;
  write_header(bytes, answer, answer.body.size(), {}, {});
  bytes += answer.body;
  const std::lock_guard lock{mutex_};
  if (socket_ < 0 || number != number_) return {};
  const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  socket_ = -1;
  // The session finds out by itself what is wrong with its socket.
  if (sent <= 0) return {};
  if (static_cast<size_t>(sent) < bytes.size()) {
    return {true, bytes.substr(static_cast<size_t>(sent))};
  }
  written_ = steady::now();
  return {true, {}};
}

} // namespace moxzi::net
