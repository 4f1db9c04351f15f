#include "shapescript/lsp/stdio.hpp"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <poll.h>
#include <string>
#include <string_view>
#include <unistd.h>

#include "shapescript/lsp/server.hpp"
#include "shapescript/lsp/transport.hpp"

namespace shapescript::lsp {

namespace {

// So many reads come before an answer, however fast the client sends.
constexpr int reads_max = 4096;

// Reports on a program are sent when the person who writes it stops for so long: what is wrong with
// half a word is not worth saying.
constexpr int pause_ms = 150;

// How long to wait for more before the next piece of work; -1 is for ever.
int patience(const server& of, bool rested) {
  if (of.has_requests()) return 0;
  if (of.has_work()) return rested ? 0 : pause_ms;
  return -1;
}

bool readable(int in, int wait_ms) {
  pollfd one{in, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&one, 1, wait_ms);
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

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code failed;
  const std::filesystem::path path{folder.empty() ? "." : folder};
  for (auto i = std::filesystem::directory_iterator{path, failed};
       !failed && i != std::filesystem::directory_iterator{}; i.increment(failed))
    out.push_back(i->path().filename().string());
  return out;
}

} // namespace

int serve(int in, int out) {
  std::signal(SIGPIPE, SIG_IGN); // a client that went away is seen by the write
  server answers{read_imported, names_in};
  message_reader reader;
  std::vector<incoming> messages;
  std::string buffer(1 << 16, '\0');
  bool ended = false;
  bool rested = false; // nothing came for a while
  while (!answers.finished()) {
    // All that has come is taken before anything is done: a cancellation may be among it.
    for (int reads = 0; reads < reads_max && !ended; ++reads) {
      if (!readable(in, patience(answers, rested))) {
        rested = true;
        break;
      }
      rested = false;
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
