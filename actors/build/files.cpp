#include "actors/build/files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace moxzi::actors {

namespace {

error failed(const std::string& path) {
  return fail(base_errc::io, "{}: {}", path, std::strerror(errno));
}

// A descriptor that closes itself.
class descriptor {
public:
  explicit descriptor(int fd) noexcept : fd_(fd) {
    // nop
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const noexcept {
    return fd_;
  }

private:
  int fd_;
};

result<void> write_all(int fd, byte_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    auto n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

// A link's target, so that replacing the file keeps the link.
std::string resolve(const std::string& path) {
  std::error_code ec;
  auto target = std::filesystem::canonical(path, ec);
  return ec ? path : target.string();
}

mode_t mode_of(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0) return info.st_mode & 07777;
  auto mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

} // namespace

result<byte_string> read_file(const std::string& path, size_t bytes_max) {
  // Opening a pipe would wait for its writer.
  descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat info = {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) return failed(path);
  if (!S_ISREG(info.st_mode)) return fail(base_errc::io, "{}: not a regular file", path);
  byte_string out;
  char buffer[1u << 16];
  for (;;) {
    auto n = ::read(file.get(), buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path);
    if (n == 0) return out;
    if (out.size() + static_cast<size_t>(n) > bytes_max)
      return fail(base_errc::over_limit, "{}: larger than {} bytes", path, bytes_max);
    out.append(buffer, static_cast<size_t>(n));
  }
}

result<void> write_file_atomically(const std::string& path, byte_view bytes) {
  auto target = resolve(path);
  if (auto before = read_file(target, bytes.size()); before && *before == bytes) return {};
  auto beside = target + ".XXXXXX";
  descriptor file{::mkostemp(beside.data(), O_CLOEXEC)};
  if (file.get() < 0) return failed(path);
  auto done = write_all(file.get(), bytes, path);
  if (done && (::fchmod(file.get(), mode_of(target)) != 0 || ::fsync(file.get()) != 0))
    done = failed(path);
  if (done && ::rename(beside.c_str(), target.c_str()) != 0) done = failed(path);
  if (!done) ::unlink(beside.c_str());
  return done;
}

bool is_file(const std::string& path) noexcept {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

folder_lock::folder_lock(const std::string& folder) noexcept
    : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  while (fd_ >= 0 && ::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    // nop
  }
}

folder_lock::~folder_lock() {
  if (fd_ >= 0) ::close(fd_);
}

result<void> make_folders(const std::string& path) {
  std::error_code ec;
  std::filesystem::create_directories(path, ec);
  if (ec) return fail(base_errc::io, "{}: {}", path, ec.message());
  return {};
}

} // namespace moxzi::actors
