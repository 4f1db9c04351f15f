// `.did` files: what is read prints as something that is read again, as the same interface. The
// input is several files with a byte FF between them, which import each other as "0", "1", …; the
// first is the one that is read.

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "actors/candid/conformance.hpp"
#include "actors/candid/did_parser.hpp"
#include "actors/candid/did_printer.hpp"
#include "tests/fuzz/timing/timed_input.hpp"

using namespace moxzi;
using namespace moxzi::candid;

void moxzi::fuzz::check_input(const uint8_t* data, size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  (void)run_conformance(text);
  std::vector<std::string> files;
  for (size_t at = 0; at <= size;) {
    const auto end = std::min(text.find('\xFF', at), size);
    files.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  const did_loader load = [&files](const std::string& path) -> result<std::string> {
    for (size_t i = 0; i < files.size(); ++i) {
      if (std::to_string(i) == path) return files[i];
    }
    return fail(base_errc::io, "no such file");
  };
  const auto first = parse_did(files[0], load, "0");
  if (!first) return;
  const auto printed = did_text(*first);
  const auto second = parse_did(printed);
  if (!second || did_text(*second) != printed) std::abort();
  if (!check_compatible(*first, *second) || !check_compatible(*second, *first)) std::abort();
}
