// `.did` files: what is read prints as something that is read again, as the same interface.

#include <cstdlib>

#include "actors/candid/conformance.hpp"
#include "actors/candid/did_parser.hpp"
#include "actors/candid/did_printer.hpp"
#include "tests/fuzz/timing/timed_input.hpp"

using namespace moxzi;
using namespace moxzi::candid;

void moxzi::fuzz::check_input(const uint8_t* data, size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  (void)run_conformance(text);
  const auto first = parse_did(text);
  if (!first) return;
  const auto printed = did_text(*first);
  const auto second = parse_did(printed);
  if (!second || did_text(*second) != printed) std::abort();
  if (!check_compatible(*first, *second) || !check_compatible(*second, *first)) std::abort();
}
