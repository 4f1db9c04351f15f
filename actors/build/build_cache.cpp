#include "actors/build/build_cache.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "actors/build/files.hpp"
#include "base/codec.hpp"

namespace fs = std::filesystem;

namespace moxzi::actors {

namespace {

constexpr std::string_view magic = "moxzi build 1\n";
constexpr size_t entry_bytes_max = 256u << 20;
constexpr size_t source_bytes_max = 16u << 20;

byte_string encode(const std::string& deps, const build_outputs& outputs) {
  writer out;
  out.raw(magic);
  out.bytes(deps);
  out.bytes(outputs.wasm);
  out.bytes(outputs.did);
  out.bytes(outputs.most);
  out.bytes(outputs.warnings);
  auto sum = sha256(out.data());
  out.raw(as_bytes(sum));
  return out.take();
}

std::optional<build_outputs> decode(byte_view entry, std::string& deps) {
  sha256_hash sum;
  if (entry.size() < magic.size() + sum.size() || entry.substr(0, magic.size()) != magic)
    return std::nullopt;
  auto content = entry.substr(0, entry.size() - sum.size());
  sum = sha256(content);
  if (as_bytes(sum) != entry.substr(content.size())) return std::nullopt;
  reader in{content.substr(magic.size())};
  build_outputs out;
  deps = in.bytes();
  out.wasm = in.bytes();
  out.did = in.bytes();
  out.most = in.bytes();
  out.warnings = in.bytes();
  if (!in.finish()) return std::nullopt;
  return out;
}

// `PRINCIPAL NAME`, as it was imported.
bool is_known(std::string_view text, const std::vector<known_canister>& canisters) {
  return std::any_of(canisters.begin(), canisters.end(),
                     [text](const auto& one) { return text == one.id + " " + one.name; });
}

} // namespace

bool still_holds(std::string_view deps, const std::string& base,
                 const std::vector<known_canister>& canisters) {
  while (!deps.empty()) {
    auto line = deps.substr(0, deps.find('\n'));
    deps.remove_prefix(std::min(line.size() + 1, deps.size()));
    auto space = line.find(' ');
    if (space == std::string_view::npos) return false;
    auto digest = line.substr(0, space);
    if (digest == "@") {
      if (!is_known(line.substr(space + 1), canisters)) return false;
      continue;
    }
    auto path = (fs::path{base} / fs::path{line.substr(space + 1)}).string();
    if (digest == "-") {
      if (is_file(path)) return false;
      continue;
    }
    auto text = read_file(path, source_bytes_max);
    if (!text || to_hex(as_bytes(sha256(*text))) != digest) return false;
  }
  return true;
}

build_cache::build_cache(std::string folder, size_t entries_max)
    : folder_(std::move(folder)), entries_max_(entries_max) {
  // nop
}

std::string build_cache::path_of(const sha256_hash& key) const {
  return folder_ + "/" + to_hex(as_bytes(key));
}

std::optional<build_outputs> build_cache::find(const sha256_hash& key, const std::string& base,
                                               const std::vector<known_canister>& canisters) const {
  if (folder_.empty()) return std::nullopt;
  auto entry = read_file(path_of(key), entry_bytes_max);
  if (!entry) return std::nullopt;
  std::string deps;
  auto out = decode(*entry, deps);
  if (!out || !still_holds(deps, base, canisters)) return std::nullopt;
  std::error_code ignored; // eviction goes by the time of last use
  fs::last_write_time(path_of(key), fs::file_time_type::clock::now(), ignored);
  return out;
}

void build_cache::store(const sha256_hash& key, const std::string& deps,
                        const build_outputs& outputs) const {
  if (folder_.empty() || !make_folders(folder_)) return;
  if (write_file_atomically(path_of(key), encode(deps, outputs))) evict();
}

void build_cache::evict() const {
  std::error_code ec;
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  for (fs::directory_iterator it{folder_, ec}, end; !ec && it != end; it.increment(ec)) {
    std::error_code gone;
    auto time = it->last_write_time(gone);
    if (!gone) entries.emplace_back(time, it->path());
  }
  if (entries.size() <= entries_max_) return;
  std::sort(entries.begin(), entries.end());
  entries.resize(entries.size() - entries_max_);
  for (const auto& [time, path] : entries) fs::remove(path, ec);
}

} // namespace moxzi::actors
