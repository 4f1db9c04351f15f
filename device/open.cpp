#include "device/open.hpp"

#include <algorithm>
#include <charconv>

#include <dlfcn.h>

#include "base/nearest.hpp"
#include "device/errors.hpp"

namespace moxzi::device {

namespace {

struct plugin_kind {
  std::string_view kind;
  std::string_view library;
};
constexpr plugin_kind plugin_kinds[] = {{"cpu", "libmoxzi_torch.so"}, {"cuda", "libmoxzi_cuda.so"}};
/// Known to people who read about other systems, but nothing we have.
constexpr std::string_view foreign_kinds[] = {"wgpu", "metal", "rocm", "vulkan"};

error refuse(std::string_view kind, std::string_view why) {
  return fail(device_errc::no_device, "--device {}: {}", kind, why);
}

std::string listed(const std::filesystem::path& plugins) {
  return fmt::format("built in: {}", fmt::join(built_in_kinds(plugins), ", "));
}

/// The plugin's function, or null.
template <class Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

result<std::unique_ptr<backend>> open_plugin(std::string_view asked, const std::string& kind,
                                             uint32_t threads,
                                             const std::filesystem::path& library) {
  // Never closed: libtorch does not survive it.
  auto handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return refuse(asked, ::dlerror());
  auto version = symbol<plugin_version_function>(handle, "moxzi_device_plugin_version");
  auto open = symbol<plugin_open_function>(handle, "moxzi_device_open");
  if (!version || !open || version() != plugin_version)
    return refuse(asked, fmt::format("{} is of another build", library.string()));
  backend_options options{kind, threads};
  std::string why;
  std::unique_ptr<backend> opened(open(&options, &why));
  if (!opened) return refuse(asked, why);
  return opened;
}

} // namespace

std::vector<std::string> built_in_kinds(const std::filesystem::path& plugins) {
  std::vector<std::string> kinds;
  for (auto& [kind, library] : plugin_kinds) {
    std::error_code ignored;
    if (!std::filesystem::exists(plugins / library, ignored)) continue;
    kinds.push_back(fmt::format("burn:{}{}", kind, kind == "cuda" ? "[:N]" : ""));
  }
  kinds.insert(kinds.end(), {"reference", "null"});
  return kinds;
}

result<std::unique_ptr<backend>> open_backend(std::string_view asked, uint32_t threads,
                                              const std::filesystem::path& plugins) {
  auto kind = asked;
  if (kind.starts_with("burn:"))
    kind.remove_prefix(5);
  else if (kind == "reference")
    return make_reference_backend();
  else if (kind == "null")
    return make_null_backend();
  auto colon = kind.find(':');
  auto base = kind.substr(0, colon);
  for (auto& [name, library] : plugin_kinds) {
    if (base != name) continue;
    if (colon != std::string_view::npos) {
      auto digits = kind.substr(colon + 1);
      uint32_t index = 0;
      auto end = digits.data() + digits.size();
      auto [stop, code] = std::from_chars(digits.data(), end, index);
      if (base == "cpu" || digits.empty() || code != std::errc{} || stop != end)
        return refuse(asked, base == "cpu" ? "a cpu has no number"
                                           : "the number of a card wanted after the colon");
    }
    auto path = plugins / library;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
      return refuse(asked, fmt::format("not built into this moxzid; {}", listed(plugins)));
    return open_plugin(asked, std::string(kind), threads, path);
  }
  if (std::ranges::count(foreign_kinds, base) > 0)
    return refuse(asked, fmt::format("not built into this moxzid; {}", listed(plugins)));
  constexpr std::string_view known[] = {"cpu",       "cuda",      "burn:cpu",
                                        "burn:cuda", "reference", "null"};
  return refuse(asked, fmt::format("no such kind of device{}; {}", did_you_mean(asked, known),
                                   listed(plugins)));
}

} // namespace moxzi::device
