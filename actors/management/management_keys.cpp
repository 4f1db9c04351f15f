#include <array>

#include "actors/management/management.hpp"

// Randomness, keys and signatures.

namespace moxzi::actors::management {

namespace {

using keys::key_algorithm;
using keys::key_place;

key_algorithm algorithm_of(schnorr_algorithm what) noexcept {
  return what == schnorr_algorithm::ed25519 ? key_algorithm::schnorr_ed25519
                                            : key_algorithm::schnorr_bip340;
}

rejection no_key(const error& why) {
  return rejected(reject_code::canister_reject, "MX406", why.message);
}

} // namespace

byte_string management_state::draw() {
  std::array<uint8_t, 32> bytes{};
  setup_.randomness->fill(bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void management_state::give_randomness(const call_ptr& call) {
  reply(call, method_types::get().raw_rand.reply, draw());
}

void management_state::show_key(const call_ptr& call, const candid::form<public_key_reply>& form,
                                const key_place& where) {
  auto key = keys_->public_key(where);
  if (!key) return refuse(call, no_key(key.error()));
  reply(call, form, {std::move(key->key), std::move(key->chain_code)});
}

void management_state::show_ecdsa_key(const call_ptr& call, ecdsa_public_key_args args) {
  show_key(call, method_types::get().ecdsa_public_key.reply,
           {key_algorithm::ecdsa_secp256k1, std::move(args.key_id.name),
            args.canister_id.value_or(call->caller()), std::move(args.derivation_path)});
}

void management_state::show_schnorr_key(const call_ptr& call, schnorr_public_key_args args) {
  show_key(call, method_types::get().schnorr_public_key.reply,
           {algorithm_of(args.key_id.algorithm), std::move(args.key_id.name),
            args.canister_id.value_or(call->caller()), std::move(args.derivation_path)});
}

void management_state::sign_ecdsa(const call_ptr& call, sign_with_ecdsa_args args) {
  const key_place where{key_algorithm::ecdsa_secp256k1, std::move(args.key_id.name), call->caller(),
                        std::move(args.derivation_path)};
  const cycles price{setup_.prices.sign_with_ecdsa};
  if (!has_fee(call, price)) return;
  auto signature = keys_->sign(where, args.message_hash, draw());
  if (!signature) return refuse(call, no_key(signature.error()));
  take_fee(call, price);
  reply(call, method_types::get().sign_with_ecdsa.reply, {*std::move(signature)});
}

void management_state::sign_schnorr(const call_ptr& call, sign_with_schnorr_args args) {
  const key_place where{algorithm_of(args.key_id.algorithm), std::move(args.key_id.name),
                        call->caller(), std::move(args.derivation_path)};
  keys::taproot_root root;
  if (args.aux) root = std::move(args.aux->merkle_root_hash);
  const cycles price{setup_.prices.sign_with_schnorr};
  if (!has_fee(call, price)) return;
  auto signature = keys_->sign(where, args.message, draw(), root);
  if (!signature) return refuse(call, no_key(signature.error()));
  take_fee(call, price);
  reply(call, method_types::get().sign_with_schnorr.reply, {*std::move(signature)});
}

} // namespace moxzi::actors::management
