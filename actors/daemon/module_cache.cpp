#include "actors/daemon/module_cache.hpp"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "actors/build/files.hpp"
#include "base/digest.hpp"

namespace fs = std::filesystem;

namespace moxzi::actors {

namespace {

constexpr size_t entry_bytes_max = 1u << 30;

} // namespace

module_cache::module_cache(std::string folder, size_t entries_max)
    : folder_(std::move(folder)), entries_max_(entries_max) {
  // nop
}

result<std::shared_ptr<const compiled_module>> module_cache::get(byte_view wasm,
                                                                 wasm_engine& engine) const {
  const auto path = path_of(wasm);
  const bool is_usable = !folder_.empty() && is_private();
  if (is_usable) {
    // The sum, then the artifact: half an entry must not be run.
    auto entry = read_file(path, entry_bytes_max);
    constexpr size_t sum_bytes = sizeof(sha256_hash);
    if (entry && entry->size() > sum_bytes) {
      const auto artifact = byte_view{*entry}.substr(sum_bytes);
      const auto sum = sha256(artifact);
      if (as_bytes(sum) == byte_view{*entry}.substr(0, sum_bytes)) {
        if (auto module = engine.load(wasm, artifact)) {
          std::error_code ignored; // eviction goes by the time of last use
          fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
          return module;
        }
      }
    }
  }
  auto module = engine.compile(wasm);
  if (module && is_usable) store(path, **module);
  return module;
}

std::string module_cache::path_of(byte_view wasm) const {
  byte_string key{wasm_engine::version()};
  key += '\0';
  key += as_bytes(sha256(wasm));
  return folder_ + "/" + to_hex(as_bytes(sha256(key)));
}

// Made here with mode 0700, or found as this user's and closed to others.
bool module_cache::is_private() const {
  if (!make_folders(fs::path{folder_}.parent_path().string())) return false;
  if (mkdir(folder_.c_str(), 0700) == 0) return true;
  struct stat found {};
  if (lstat(folder_.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return false;
  return found.st_uid == geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

void module_cache::store(const std::string& path, const compiled_module& module) const {
  const auto artifact = module.artifact();
  if (!artifact) return;
  const auto sum = sha256(*artifact);
  byte_string entry{as_bytes(sum)};
  entry += *artifact;
  if (write_file_atomically(path, entry)) evict();
}

void module_cache::evict() const {
  std::error_code ec;
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  for (fs::directory_iterator it{folder_, ec}, end; !ec && it != end; it.increment(ec)) {
    std::error_code gone;
    const auto time = it->last_write_time(gone);
    if (!gone) entries.emplace_back(time, it->path());
  }
  if (entries.size() <= entries_max_) return;
  std::sort(entries.begin(), entries.end());
  entries.resize(entries.size() - entries_max_);
  for (const auto& [_, path] : entries) fs::remove(path, ec);
}

} // namespace moxzi::actors
