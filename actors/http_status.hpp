#pragma once

#include <cstdint>

#include "base/reject.hpp"
#include "net/messages.hpp"

namespace moxzi::actors {

/// The HTTP status of a call that was refused: 400 where the request itself is wrong (code 0), 403
/// for who is no controller, 404 for an actor, method or section that does not exist, 409 for a
/// stopping actor, 429 for a full queue, 503 for a node that is too busy, 422 for everything the
/// actor itself, or what it called, refused.
uint16_t http_status(const rejection& why) noexcept;

/// The answer with that status and the error object.
net::http_answer http_refusal(const rejection& why);

} // namespace moxzi::actors
