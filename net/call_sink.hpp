#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "net/answer_gate.hpp"
#include "net/client_shares.hpp"
#include "net/http_call.hpp"
#include "net/http_core.hpp"

namespace moxzi::net {

/// Where the answer to a request is to go. Belongs to the server's thread, except that whoever has
/// the answer reads `session` and `number`, which do not change.
struct answer_place {
  std::weak_ptr<http_session> session;
  uint64_t number = 0; ///< of the session's request
  client_key client;
  /// Nobody waits any more: the answer goes to the store under `id`, unless that is empty, and the
  /// client gets back its share.
  bool is_detached = false;
  std::string id;
};

/// The sink of one request. If it goes without having been used, its client still gets an answer.
/// It keeps the core alive, so that an answer can always be posted; what is posted keeps only the
/// place, since it may stay in the core's own queue.
class call_sink final : public answer_sink {
public:
  /// Without a gate, every answer goes through the server's thread.
  call_sink(std::shared_ptr<http_core> core, std::shared_ptr<answer_place> to,
            std::shared_ptr<answer_gate> gate)
      : core_(std::move(core)), to_(std::move(to)), gate_(std::move(gate)) {
    // nop
  }
  ~call_sink() override;

  void answer(http_answer what) noexcept override;

private:
  std::shared_ptr<http_core> core_;
  std::shared_ptr<answer_place> to_;
  std::shared_ptr<answer_gate> gate_;
  std::atomic<bool> answered_{false};
};

} // namespace moxzi::net
