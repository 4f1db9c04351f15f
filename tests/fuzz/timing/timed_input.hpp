#pragma once

#include <cstddef>
#include <cstdint>

/// Fuzzers whose inputs are held to a time.
///
/// Such a fuzzer defines `check_input`; the rest is here. Times are those of the thread on the CPU,
/// so it does not matter what else the machine does, and count all that `check_input` does. An
/// input that is quick enough under the sanitizers is quick enough. One that is not is timed again
/// by a program built from the same sources without sanitizers, as code is shipped (`time_NAME`):
/// if it is slow there too, the fuzzer aborts, and libFuzzer keeps the input like that of any other
/// crash.
namespace moxzi::fuzz {

/// What any input may take.
inline constexpr double input_ms_max = 50;

/// What the fuzzer does with an input; aborts if something is wrong. To be defined by each.
void check_input(const uint8_t* data, size_t size);

/// The CPU time that `check_input` takes.
double input_ms(const uint8_t* data, size_t size);

} // namespace moxzi::fuzz
