#include <memory>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>

#include "base/digest.hpp"
#include "tests/actors/keys/verify.hpp"

namespace moxzi::actors::keys {

namespace {

template <auto Free>
struct freed {
  template <class T>
  void operator()(T* what) const noexcept {
    Free(what);
  }
};
using pkey = std::unique_ptr<EVP_PKEY, freed<EVP_PKEY_free>>;
using pkey_context = std::unique_ptr<EVP_PKEY_CTX, freed<EVP_PKEY_CTX_free>>;
using number = std::unique_ptr<BIGNUM, freed<BN_free>>;
using point = std::unique_ptr<EC_POINT, freed<EC_POINT_free>>;

const unsigned char* start(byte_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

number read(byte_view bytes) {
  return number{BN_bin2bn(start(bytes), static_cast<int>(bytes.size()), nullptr)};
}

} // namespace

bool verify_ecdsa(byte_view key, byte_view hash, byte_view signature) {
  const std::unique_ptr<OSSL_PARAM_BLD, freed<OSSL_PARAM_BLD_free>> build{OSSL_PARAM_BLD_new()};
  OSSL_PARAM_BLD_push_utf8_string(build.get(), OSSL_PKEY_PARAM_GROUP_NAME, "secp256k1", 0);
  OSSL_PARAM_BLD_push_octet_string(build.get(), OSSL_PKEY_PARAM_PUB_KEY, key.data(), key.size());
  const std::unique_ptr<OSSL_PARAM, freed<OSSL_PARAM_free>> params{
    OSSL_PARAM_BLD_to_param(build.get())};
  const pkey_context maker{EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr)};
  EVP_PKEY* made = nullptr;
  EVP_PKEY_fromdata_init(maker.get());
  if (EVP_PKEY_fromdata(maker.get(), &made, EVP_PKEY_PUBLIC_KEY, params.get()) != 1) return false;
  const pkey owned{made};
  const std::unique_ptr<ECDSA_SIG, freed<ECDSA_SIG_free>> pair{ECDSA_SIG_new()};
  ECDSA_SIG_set0(pair.get(), read(signature.substr(0, 32)).release(),
                 read(signature.substr(32)).release());
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(pair.get(), &der);
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> held{
    der, [](unsigned char* what) { OPENSSL_free(what); }};
  const pkey_context checker{EVP_PKEY_CTX_new(owned.get(), nullptr)};
  EVP_PKEY_verify_init(checker.get());
  return EVP_PKEY_verify(checker.get(), der, static_cast<size_t>(size), start(hash), hash.size())
         == 1;
}

bool verify_bip340(byte_view key, byte_view message, byte_view signature) {
  const std::unique_ptr<EC_GROUP, freed<EC_GROUP_free>> group{
    EC_GROUP_new_by_curve_name(NID_secp256k1)};
  const auto make_point = [&group] { return point{EC_POINT_new(group.get())}; };
  const auto p = make_point();
  const auto even = "\x02" + byte_string{key};
  if (EC_POINT_oct2point(group.get(), p.get(), start(even), even.size(), nullptr) != 1)
    return false;
  const auto tag = byte_string{as_bytes(sha256("BIP0340/challenge"))};
  const auto challenge = sha256(tag + tag + byte_string{signature.substr(0, 32)} + byte_string{key}
                                + byte_string{message});
  const auto e = read(as_bytes(challenge));
  const auto s = read(signature.substr(32));
  BN_set_negative(e.get(), 1);
  const auto r = make_point();
  if (EC_POINT_mul(group.get(), r.get(), s.get(), p.get(), e.get(), nullptr) != 1) return false;
  byte_string found(33, '\0');
  EC_POINT_point2oct(group.get(), r.get(), POINT_CONVERSION_COMPRESSED,
                     reinterpret_cast<unsigned char*>(found.data()), found.size(), nullptr);
  return found == "\x02" + byte_string{signature.substr(0, 32)};
}

bool verify_ed25519(byte_view key, byte_view message, byte_view signature) {
  const pkey owned{EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, start(key), key.size())};
  const std::unique_ptr<EVP_MD_CTX, freed<EVP_MD_CTX_free>> checker{EVP_MD_CTX_new()};
  return owned && EVP_DigestVerifyInit(checker.get(), nullptr, nullptr, nullptr, owned.get()) == 1
         && EVP_DigestVerify(checker.get(), start(signature), signature.size(), start(message),
                             message.size())
              == 1;
}

} // namespace moxzi::actors::keys
