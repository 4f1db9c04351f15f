#pragma once

#include <memory>

#include <boost/asio/ssl/context.hpp>

#include "base/result.hpp"
#include "net/tls_files.hpp"

namespace moxzi::net {

/// A server's side of TLS: 1.3 only, unless 1.2 is allowed, then with forward-secret AEAD suites
/// alone. No tickets, no compression, no renegotiation. Fails, naming the file and why.
result<std::shared_ptr<boost::asio::ssl::context>> make_tls_server(const tls_files& files);

} // namespace moxzi::net
