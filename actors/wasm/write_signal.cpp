#include "actors/wasm/write_signal.hpp"

#include <signal.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

#include "actors/wasm/memory_image.hpp"

namespace moxzi::actors::write_signal {

namespace {

constinit thread_local memory_image* const* writable = nullptr;
std::atomic<bool> installed{false};
struct sigaction before;

void pass_on(int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0)
    before.sa_sigaction(signal, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(signal);
  else
    ::signal(signal, SIG_DFL); // raised again on return, and then it ends the process
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const int reason = errno;
  auto* image = writable != nullptr ? *writable : nullptr;
  if (image == nullptr || !image->open(info->si_addr)) pass_on(signal, info, context);
  errno = reason;
}

} // namespace

void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction ours {};
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    ::sigemptyset(&ours.sa_mask);
    installed = ::sigaction(SIGSEGV, &ours, &before) == 0;
  });
}

bool is_installed() noexcept {
  return installed;
}

scope::scope(memory_image* const* current) noexcept : before_(std::exchange(writable, current)) {
  // nop
}

scope::~scope() {
  writable = before_;
}

} // namespace moxzi::actors::write_signal
