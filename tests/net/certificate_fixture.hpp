#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/tls_files.hpp"

namespace moxzi::net::test {

/// A self-made certificate for localhost and its key, in a folder of their own.
class certificate {
public:
  /// With a pass phrase, the key is encrypted.
  explicit certificate(const std::string& pass_phrase = {}) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
      std::filesystem::temp_directory_path()
      / (std::string{"moxzi-tls-"} + test->name() + "-" + std::to_string(::getpid()) + pass_phrase);
    std::filesystem::create_directories(folder_);
    std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{EVP_EC_gen("P-256"), EVP_PKEY_free};
    std::unique_ptr<X509, decltype(&X509_free)> made{X509_new(), X509_free};
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 3'600);
    X509_set_pubkey(made.get(), key.get());
    auto* name = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(made.get(), name);
    X509_sign(made.get(), key.get(), EVP_sha256());
    write(files().certificate, [&](FILE* to) { PEM_write_X509(to, made.get()); });
    write(files().key, [&](FILE* to) {
      auto* phrase = reinterpret_cast<const unsigned char*>(pass_phrase.data());
      PEM_write_PrivateKey(to, key.get(), pass_phrase.empty() ? nullptr : EVP_aes_256_cbc(), phrase,
                           static_cast<int>(pass_phrase.size()), nullptr, nullptr);
    });
    ::chmod(files().key.c_str(), 0600);
  }
  ~certificate() {
    std::filesystem::remove_all(folder_);
  }
  tls_files files() const {
    return {(folder_ / "cert.pem").string(), (folder_ / "key.pem").string()};
  }

private:
  template <class Write>
  static void write(const std::string& path, Write what) {
    FILE* to = std::fopen(path.c_str(), "w");
    what(to);
    std::fclose(to);
  }
  std::filesystem::path folder_;
};

} // namespace moxzi::net::test
