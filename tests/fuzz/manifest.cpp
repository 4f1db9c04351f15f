// The manifest: any text is read or refused; after an update the actor is there and every other one
// is as it was.

#include <algorithm>
#include <cstdlib>

#include "actors/manifest.hpp"

using namespace moxzi::actors;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  auto before = parse_manifest(text, "m");
  const manifest_actor entry{.name = "letters", .wasm = "l.wasm", .did = "l.did"};
  auto updated = with_actor(text, "m", entry);
  if (!updated) return 0;
  auto after = parse_manifest(*updated, "m");
  if (!after) std::abort();
  auto find = [](const manifest& in, std::string_view name) {
    return std::find_if(in.actors.begin(), in.actors.end(),
                        [name](const manifest_actor& actor) { return actor.name == name; });
  };
  auto mine = find(*after, entry.name);
  if (mine == after->actors.end() || mine->wasm != entry.wasm) std::abort();
  if (!before) return 0;
  for (const auto& actor : before->actors)
    if (actor.name != entry.name && *find(*after, actor.name) != actor) std::abort();
  return 0;
}
