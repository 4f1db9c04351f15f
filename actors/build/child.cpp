#include "actors/build/child.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace moxzi::actors {

namespace {

// Reads until the other ends of the pipe are closed; what is above the limit is read and dropped,
// so that the child never blocks on a full pipe.
std::string drain(int fd, size_t bytes_max) {
  std::string out;
  char buffer[1u << 14];
  for (;;) {
    auto n = ::read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    out.append(buffer, std::min(static_cast<size_t>(n), bytes_max - out.size()));
  }
  return out;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    // nop
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

result<child_outcome> run_child(const std::vector<std::string>& argv, size_t output_bytes_max) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(base_errc::io, "pipe: {}", std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> words;
  for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t pid = 0;
  auto failed = ::posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    return fail(base_errc::io, "{}: {}", argv[0], std::strerror(failed));
  }
  child_outcome out;
  out.output = drain(ends[0], output_bytes_max);
  ::close(ends[0]);
  out.status = wait_for(pid);
  return out;
}

} // namespace moxzi::actors
