#pragma once

#include <string>

#include "base/result.hpp"

namespace moxzi::net {

/// What a server needs to speak TLS.
struct tls_files {
  std::string certificate; ///< PEM: its own first, then those that lead to a known authority
  std::string key;         ///< PEM; readable by its owner alone
  bool allow_tls_1_2 = false;
};

/// Can a server use them?
result<void> check_tls_files(const tls_files& files);

} // namespace moxzi::net
