// Times the reading and writing of the device's calls as Candid:
//   binding_bench      prints one JSON line a row
// `again`: a program that was seen before, as in a training loop; `anew`: one that was not.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "actors/management/device_interface.hpp"
#include "tests/actors/management/page.hpp"

using namespace moxzi;
using namespace moxzi::actors::management;

namespace {

double now_us() {
  const auto t = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(t).count();
}

/// The median of `rounds` means of `times` calls.
template <class F>
void row(std::string_view name, size_t bytes, F once) {
  constexpr int rounds = 21;
  constexpr int times = 500;
  std::vector<double> means;
  for (int r = 0; r < rounds; ++r) {
    const auto start = now_us();
    for (int i = 0; i < times; ++i) once();
    means.push_back((now_us() - start) / times);
  }
  std::ranges::sort(means);
  fmt::print("{{\"name\":\"{}\",\"ours_us\":{:.2f},\"best_us\":{:.2f},\"bytes\":{}}}\n", name,
             means[rounds / 2], means[0], bytes);
}

int failures = 0;

void decode_once(device_interface& reader, std::string_view method, byte_view argument) {
  if (!reader.decode(method, argument)) ++failures;
}

} // namespace

int main() {
  const auto run = from_hex(page::run).value();
  const auto params = from_hex(page::params).value();
  device_interface reader;
  row("binding.run.again", run.size(), [&] { decode_once(reader, "moxzi_device_run", run); });
  row("binding.run.anew", run.size(), [&] {
    device_interface fresh;
    decode_once(fresh, "moxzi_device_run", run);
  });
  row("binding.params", params.size(), [&] { decode_once(reader, "moxzi_device_params", params); });
  const device_request request = device::run_request{};
  const device::run_reply reply{.scalars = {5.5}, .step = 1};
  row("binding.reply", encode_reply(request, reply, 1).size(), [&] {
    if (encode_reply(request, reply, 1).empty()) ++failures;
  });
  if (failures > 0) {
    fmt::print(stderr, "{} calls were refused\n", failures);
    return 1;
  }
  return 0;
}
