#include "net/http_tls.hpp"

#include <cerrno>
#include <cstring>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

namespace ssl = boost::asio::ssl;
using error_code = boost::system::error_code;

namespace moxzi::net {

namespace {

// Mozilla's "intermediate" list, its ephemeral suites with authenticated encryption.
constexpr char suites_1_2[] =
  "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
  "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";

result<void> check_key_file(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0)
    return fail(base_errc::io, "{}: {}", path, std::strerror(errno));
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return fail(base_errc::io,
                "{}: others than its owner may use this key; 'chmod 600 {}' takes that away", path,
                path);
  return {};
}

} // namespace

result<void> check_tls_files(const tls_files& files) {
  if (auto made = make_tls_server(files); !made) return made.error();
  return {};
}

result<std::shared_ptr<ssl::context>> make_tls_server(const tls_files& files) {
  if (auto good = check_key_file(files.key); !good) return good.error();
  error_code ec;
  auto out = std::make_shared<ssl::context>(ssl::context::tls_server);
  auto* native = out->native_handle();
  SSL_CTX_set_min_proto_version(native, files.allow_tls_1_2 ? TLS1_2_VERSION : TLS1_3_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET
                                | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(native, 0);
  if (SSL_CTX_set_cipher_list(native, suites_1_2) != 1)
    return fail(base_errc::io, "TLS: the cipher suites are not in this OpenSSL");
  out->use_certificate_chain_file(files.certificate, ec);
  if (ec) return fail(base_errc::io, "{}: no certificate: {}", files.certificate, ec.message());
  // A daemon has nobody to ask.
  bool is_encrypted = false;
  out->set_password_callback(
    [&is_encrypted](size_t, ssl::context::password_purpose) {
      is_encrypted = true;
      return std::string{};
    },
    ec);
  out->use_private_key_file(files.key, ssl::context::pem, ec);
  SSL_CTX_set_default_passwd_cb(native, nullptr); // it refers to this function's variable
  if (ec && is_encrypted)
    return fail(base_errc::io,
                "{0}: the key is encrypted; 'openssl pkey -in {0} -out FILE' makes one that is not",
                files.key);
  if (ec) return fail(base_errc::io, "{}: no private key: {}", files.key, ec.message());
  if (SSL_CTX_check_private_key(native) != 1) {
    ERR_clear_error();
    return fail(base_errc::io, "{}: this is not the key of the certificate in {}", files.key,
                files.certificate);
  }
  return out;
}

} // namespace moxzi::net
