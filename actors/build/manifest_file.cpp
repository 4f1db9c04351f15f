#include "actors/build/manifest_file.hpp"

#include <filesystem>

#include "actors/build/files.hpp"

namespace fs = std::filesystem;

namespace moxzi::actors {

namespace {

constexpr size_t manifest_bytes_max = 4u << 20;

result<void> locate(std::string& file, const fs::path& folder, const std::string& manifest,
                    const std::string& actor) {
  auto path = folder / file; // an absolute `file` stays as it is
  if (!is_file(path.string()))
    return fail(manifest_errc::missing_file,
                "{}: the file of actor \"{}\", {}, is not there; 'moxzi build' makes it", manifest,
                actor, path.string());
  file = path.string();
  return {};
}

// The shortest way to name `file` from `folder`; as it is if there is none.
std::string seen_from(const fs::path& folder, const std::string& file) {
  std::error_code ec;
  auto base = fs::weakly_canonical(folder.empty() ? fs::path{"."} : folder, ec);
  auto target = fs::weakly_canonical(file, ec);
  auto relative = ec ? fs::path{} : target.lexically_relative(base);
  return relative.empty() ? file : relative.string();
}

} // namespace

result<manifest> read_manifest(const std::string& path) {
  auto text = read_file(path, manifest_bytes_max);
  if (!text) return text.error();
  auto out = parse_manifest(*text, path);
  if (!out) return out;
  auto folder = fs::path{path}.parent_path();
  for (auto& actor : out->actors) {
    if (auto good = locate(actor.wasm, folder, path, actor.name); !good) return good.error();
    if (!actor.did) continue;
    if (auto good = locate(*actor.did, folder, path, actor.name); !good) return good.error();
  }
  return out;
}

result<void> update_manifest(const std::string& path, manifest_actor entry) {
  auto folder = fs::path{path}.parent_path();
  folder_lock lock{folder.empty() ? "." : folder.string()};
  byte_string before;
  std::error_code ec;
  if (fs::exists(fs::symlink_status(path, ec))) {
    auto text = read_file(path, manifest_bytes_max);
    if (!text) return text.error();
    before = std::move(*text);
  }
  entry.wasm = seen_from(folder, entry.wasm);
  if (entry.did) entry.did = seen_from(folder, *entry.did);
  auto after = with_actor(before, path, entry);
  if (!after) return after.error();
  return write_file_atomically(path, *after);
}

} // namespace moxzi::actors
