#include "tests/net/http_fixture.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace moxzi::net::test {

int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

void wait_a_little() {
  ::poll(nullptr, 0, 1);
}

raw_client::raw_client(uint16_t port, uint8_t host) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  if (host != 1) {
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + host);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
}

raw_client::~raw_client() {
  ::close(fd_);
}

bool raw_client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd ready{fd_, POLLOUT, 0};
    if (::poll(&ready, 1, deadline_ms) <= 0) return false;
    auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN) return false;
    if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

void raw_client::finish() {
  ::shutdown(fd_, SHUT_WR);
}

void raw_client::reset() {
  linger now{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  ::close(fd_);
  fd_ = -1;
}

bool raw_client::fill() {
  if (ended_) return false;
  pollfd ready{fd_, POLLIN, 0};
  if (::poll(&ready, 1, deadline_ms) <= 0) return false;
  char bytes[1u << 16];
  auto n = ::recv(fd_, bytes, sizeof(bytes), 0);
  if (n <= 0) {
    ended_ = true;
    return false;
  }
  buffer_.append(bytes, static_cast<size_t>(n));
  return true;
}

std::optional<response> raw_client::read(bool has_body) {
  size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos)
    if (!fill()) return std::nullopt;
  response out;
  auto header = buffer_.substr(0, end + 2);
  buffer_.erase(0, end + 4);
  out.status = std::atoi(header.c_str() + sizeof("HTTP/1.1"));
  for (auto at = header.find("\r\n") + 2; at < header.size();) {
    auto line = header.substr(at, header.find("\r\n", at) - at);
    at += line.size() + 2;
    auto colon = line.find(": ");
    auto name = line.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    out.fields[name] = line.substr(colon + 2);
  }
  if (out.status == 100 || !has_body) return out;
  auto size = std::strtoul(out.fields["content-length"].c_str(), nullptr, 10);
  while (buffer_.size() < size)
    if (!fill()) return std::nullopt;
  out.body = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return out;
}

std::optional<std::string> raw_client::read_to_end() {
  while (fill()) {
    // nop
  }
  if (!ended_) return std::nullopt;
  return std::move(buffer_);
}

bool raw_client::is_closed() {
  return read_to_end().has_value();
}

std::string post(std::string_view target, std::string_view body, std::string_view fields) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n{}\r\n{}", target,
                     body.size(), fields, body);
}

void echo(const http_call_ptr& call) {
  call->sink->answer(
    {.body = fmt::format("{} {} {} {}", call->kind == call_kind::update ? "update" : "query",
                         call->actor, call->method, call->body)});
}

void echo_node(const node_request_ptr& what) {
  what->sink->answer({.body = fmt::format("{} {} {} {} {} {}", static_cast<int>(what->what),
                                          what->actor, what->section, what->from, what->cycles,
                                          what->is_local ? "local" : "remote")});
}

std::function<void(http_call_ptr)> held_calls::handler() {
  return [this](http_call_ptr call) {
    const std::lock_guard guard{mutex};
    calls.push_back(std::move(call));
  };
}

size_t held_calls::size() {
  const std::lock_guard guard{mutex};
  return calls.size();
}

http_call_ptr held_calls::take() {
  const std::lock_guard guard{mutex};
  auto out = calls.front();
  calls.erase(calls.begin());
  return out;
}

std::string call_id_of(const std::string& body) {
  const std::string key = "\"call_id\":\"";
  const auto at = body.rfind(key);
  if (at == std::string::npos) return "none";
  return body.substr(at + key.size(), body.find('"', at + key.size()) - at - key.size());
}

running_server::running_server(std::function<void(http_call_ptr)> call, http_limits limits)
    : server({.port = 0, .limits = limits}, {std::move(call), echo_node}),
      port(server.start().value()) {
  // nop
}

} // namespace moxzi::net::test
