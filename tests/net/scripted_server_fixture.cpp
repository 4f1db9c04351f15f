#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/assert.hpp"
#include "tests/net/scripted_server.hpp"

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;
using error_code = boost::system::error_code;

namespace moxzi::net::testing {

namespace {

void add_extension(X509* to, int what, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, to, to, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, what, value);
  moxzi_assert(extension != nullptr);
  X509_add_ext(to, extension, -1);
  X509_EXTENSION_free(extension);
}

/// Writes a new key and a certificate of it.
void write_certificate(const std::string& key_file, const std::string& certificate_file) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* made = X509_new();
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  X509_gmtime_adj(X509_getm_notBefore(made), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made), 3600);
  X509_set_pubkey(made, key);
  auto* name = X509_get_subject_name(made);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("moxzi test"), -1, -1, 0);
  X509_set_issuer_name(made, name);
  add_extension(made, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(made, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  X509_sign(made, key, EVP_sha256());
  std::FILE* out = std::fopen(key_file.c_str(), "w");
  PEM_write_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(out);
  out = std::fopen(certificate_file.c_str(), "w");
  PEM_write_X509(out, made);
  std::fclose(out);
  X509_free(made);
  EVP_PKEY_free(key);
}

size_t body_bytes(const std::string& header) {
  const auto at = header.find("Content-Length: ");
  return at == std::string::npos ? 0 : std::stoul(header.substr(at + 16));
}

template <class Stream>
void serve(Stream& stream, const scripted_server::script& what) {
  error_code ec;
  std::string request;
  const auto header = asio::read_until(stream, asio::dynamic_buffer(request), "\r\n\r\n", ec);
  if (ec) return;
  const auto whole = header + body_bytes(request.substr(0, header));
  if (request.size() < whole) {
    asio::read(stream, asio::dynamic_buffer(request),
               asio::transfer_exactly(whole - request.size()), ec);
  }
  asio::write(stream, asio::buffer(what(request)), ec);
}

} // namespace

struct scripted_server::state {
  asio::io_context io;
  tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), 0}};
  std::optional<ssl::context> trust;
  std::string certificate;
  script what;
  std::thread thread;

  void run() {
    while (true) {
      tcp::socket socket{io};
      error_code ec;
      acceptor.accept(socket, ec);
      if (ec) return;
      if (!trust) {
        serve(socket, what);
        continue;
      }
      ssl::stream<tcp::socket> stream{std::move(socket), *trust};
      stream.handshake(ssl::stream_base::server, ec);
      if (ec) continue;
      serve(stream, what);
      stream.shutdown(ec);
    }
  }
};

scripted_server::scripted_server(script what, bool with_tls) : state_(std::make_unique<state>()) {
  state_->what = std::move(what);
  if (with_tls) {
    const auto folder = std::filesystem::temp_directory_path();
    const auto stem = (folder / fmt::format("moxzi-{}-{}", getpid(), port())).string();
    state_->certificate = stem + ".crt";
    write_certificate(stem + ".key", state_->certificate);
    state_->trust.emplace(ssl::context::tls_server);
    state_->trust->use_certificate_chain_file(state_->certificate);
    state_->trust->use_private_key_file(stem + ".key", ssl::context::pem);
    std::filesystem::remove(stem + ".key");
  }
  state_->thread = std::thread{[this] { state_->run(); }};
}

scripted_server::~scripted_server() {
  // A blocking accept only ends for a visitor.
  error_code ignored;
  ::shutdown(state_->acceptor.native_handle(), SHUT_RDWR);
  state_->thread.join();
  if (!state_->certificate.empty()) std::filesystem::remove(state_->certificate);
}

unsigned scripted_server::port() const noexcept {
  return state_->acceptor.local_endpoint().port();
}

std::string scripted_server::url() const {
  return state_->trust ? fmt::format("https://localhost:{}", port())
                       : fmt::format("http://127.0.0.1:{}", port());
}

const std::string& scripted_server::certificate_file() const noexcept {
  return state_->certificate;
}

std::string http_response(const std::string& body, const std::string& headers,
                          const std::string& status) {
  return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n{}\r\n{}", status, body.size(), headers,
                     body);
}

} // namespace moxzi::net::testing
