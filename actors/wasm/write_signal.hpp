#pragma once

namespace moxzi::actors {

class memory_image;

/// The signal that a write to a closed part of a heap raises (SIGSEGV).
namespace write_signal {

/// Takes the signal. To be called when the engine has been made, which takes it too: what is not
/// for a heap goes on to who had it before.
void install();
bool is_installed() noexcept;

/// While one lives, this thread may write to the image that `current` points to at the time.
class scope {
public:
  explicit scope(memory_image* const* current) noexcept;
  ~scope();
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

private:
  memory_image* const* before_;
};

} // namespace write_signal
} // namespace moxzi::actors
