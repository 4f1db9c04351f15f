#pragma once

#include <optional>
#include <string_view>

#include <boost/beast/http/fields.hpp>

#include "net/http_limits.hpp"
#include "net/http_target.hpp"

namespace moxzi::net {

/// What a request's header says beside its request line.
struct header_facts {
  std::optional<refusal> refused;        ///< what two readers might understand differently
  std::optional<refusal> option_refused; ///< an option that cannot be, or is given twice
  bool expects_continue = false;
  bool is_direct = true; ///< neither a proxy nor a page of another site asks
  std::string_view content_type;
  call_options options;
};

/// Looks at all fields of a header once. Beast lets pass what another reader of the same bytes
/// might see differently; this does not.
header_facts read_fields(const boost::beast::http::fields& fields, unsigned version,
                         const http_limits& limits);

/// True if the header's `Host` names this machine: a page of another site, reached under a name of
/// its own that leads here, does not.
bool is_local_host(std::string_view host) noexcept;

/// True if a request line ends in a version of HTTP, though not in one of ours.
bool names_a_version(std::string_view header) noexcept;

} // namespace moxzi::net
