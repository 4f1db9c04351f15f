#pragma once

#include <cstddef>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"

/// Whole files, for programs a person runs. All functions block and are for such programs' own
/// thread.
namespace moxzi::actors {

/// Reads a regular file of at most `bytes_max` bytes.
result<byte_string> read_file(const std::string& path, size_t bytes_max);

/// Puts `bytes` under `path` so that whoever opens it sees all of the old or all of the new
/// content, also after a crash: written beside it, synced, renamed. A file that already holds
/// `bytes` is left alone. Keeps the mode of the file that was there; a symbolic link keeps pointing
/// and its target is replaced.
result<void> write_file_atomically(const std::string& path, byte_view bytes);

/// True if `path` is a regular file or a link to one.
bool is_file(const std::string& path) noexcept;

/// Keeps other processes that take the same lock out of a folder, until it is destroyed or the
/// process ends. Waits for its turn. A folder that cannot be locked (a network drive, say) is not
/// an error: writes stay atomic, only concurrent updates may overtake each other.
class folder_lock {
public:
  explicit folder_lock(const std::string& folder) noexcept;
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;
  ~folder_lock();

private:
  int fd_;
};

/// Makes a folder and those above it.
result<void> make_folders(const std::string& path);

} // namespace moxzi::actors
