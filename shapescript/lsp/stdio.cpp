#include "shapescript/lsp/stdio.hpp"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <string_view>
#include <unistd.h>

#include "shapescript/lsp/server.hpp"
#include "shapescript/lsp/transport.hpp"

namespace shapescript::lsp {

namespace {

// So many reads come before an answer, however fast the client sends.
constexpr int reads_max = 4096;

bool readable(int in, bool wait) {
  pollfd one{in, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&one, 1, wait ? -1 : 0);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

bool write_all(int out, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::write(out, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

} // namespace

int serve(int in, int out) {
  std::signal(SIGPIPE, SIG_IGN); // a client that went away is seen by the write
  server answers{read_source};
  message_reader reader;
  std::vector<incoming> messages;
  std::string buffer(1 << 16, '\0');
  bool ended = false;
  while (!answers.finished()) {
    // All that has come is taken before anything is done: a cancellation may be among it.
    for (int reads = 0; reads < reads_max && !ended && readable(in, !answers.has_work()); ++reads) {
      const auto n = read(in, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      ended = n <= 0;
      if (ended) break;
      reader.feed({buffer.data(), static_cast<size_t>(n)}, messages);
      for (const auto& one : messages) {
        if (one.problem.empty())
          answers.receive(one.body);
        else
          answers.refuse(one.problem);
      }
      messages.clear();
    }
    const bool worked = answers.work();
    for (const auto& body : answers.take_output())
      if (!write_all(out, framed(body))) return 1;
    if (ended && !worked) break;
  }
  return answers.exit_status();
}

} // namespace shapescript::lsp
