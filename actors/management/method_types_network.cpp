#include <utility>

#include "actors/management/forms.hpp"
#include "actors/management/method_types.hpp"

// Outcalls, keys, and what is said about the node.

namespace moxzi::actors::management {

namespace {

form<http_method> http_method_form(declarations& in) {
  return enum_of<http_method>(in, {},
                              {{"get", http_method::get},
                               {"head", http_method::head},
                               {"post", http_method::post},
                               {"put", http_method::put},
                               {"delete", http_method::remove},
                               {"patch", http_method::patch}});
}

form<public_key_reply> key_form(declarations& in, std::string_view name) {
  return record_of<public_key_reply>(
    in, name,
    {bound("public_key", &public_key_reply::public_key, blob_form(in)),
     bound("chain_code", &public_key_reply::chain_code, blob_form(in))});
}

form<signature_reply> signature_form(declarations& in, std::string_view name) {
  return record_of<signature_reply>(
    in, name, {bound("signature", &signature_reply::signature, blob_form(in))});
}

form<schnorr_aux> aux_form(declarations& in) {
  const auto root = record_of<schnorr_aux>(
    in, {}, {bound("merkle_root_hash", &schnorr_aux::merkle_root_hash, blob_form(in))});
  const choice<schnorr_aux> one{
    "bip341", root, root.read, [](const schnorr_aux&) { return true; }, root.append, {}};
  return variant_of<schnorr_aux>(in, "schnorr_aux", {one});
}

} // namespace

void method_types::declare_outcalls(declarations& in) {
  const auto header = record_of<http_header>(in, "http_header",
                                             {bound("name", &http_header::name, text_form()),
                                              bound("value", &http_header::value, text_form())});
  using reply = http_request_reply;
  const auto response = record_of<reply>(in, "http_request_result",
                                         {bound("status", &reply::status, nat_form()),
                                          bound("headers", &reply::headers, vec_of(in, header)),
                                          bound("body", &reply::body, blob_form(in))});
  transform = {
    record_of<transform_args>(in, {},
                              {bound("response", &transform_args::response, response),
                               bound("context", &transform_args::context, blob_form(in))}),
    response};
  const auto function = func_form(in, {transform.args}, {response}, candid::query);
  const auto transforming =
    record_of<http_transform>(in, {},
                              {bound("function", &http_transform::function, function),
                               bound("context", &http_transform::context, blob_form(in))});
  using args = http_request_args;
  http_request = {
    record_of<args>(
      in, "http_request_args",
      {bound("url", &args::url, text_form()),
       bound("max_response_bytes", &args::max_response_bytes, opt_of(in, nat64_form())),
       bound("method", &args::method, http_method_form(in)),
       bound("headers", &args::headers, vec_of(in, header)),
       bound("body", &args::body, opt_of(in, blob_form(in))),
       bound("transform", &args::transform, opt_of(in, transforming)),
       bound("is_replicated", &args::is_replicated, opt_of(in, boolean_form()))}),
    response};
}

void method_types::declare_keys(declarations& in) {
  const auto curve =
    enum_of<ecdsa_curve>(in, "ecdsa_curve", {{"secp256k1", ecdsa_curve::secp256k1}});
  const auto algorithm =
    enum_of<schnorr_algorithm>(in, "schnorr_algorithm",
                               {{"bip340secp256k1", schnorr_algorithm::bip340secp256k1},
                                {"ed25519", schnorr_algorithm::ed25519}});
  const auto ecdsa_id = record_of<ecdsa_key_id>(
    in, {},
    {bound("curve", &ecdsa_key_id::curve, curve), bound("name", &ecdsa_key_id::name, text_form())});
  const auto schnorr_id =
    record_of<schnorr_key_id>(in, {},
                              {bound("algorithm", &schnorr_key_id::algorithm, algorithm),
                               bound("name", &schnorr_key_id::name, text_form())});
  const auto path = vec_of(in, blob_form(in));
  const auto owner = opt_of(in, principal_form());
  using ecdsa_key = ecdsa_public_key_args;
  ecdsa_public_key = {
    record_of<ecdsa_key>(in, "ecdsa_public_key_args",
                         {bound("canister_id", &ecdsa_key::canister_id, owner),
                          bound("derivation_path", &ecdsa_key::derivation_path, path),
                          bound("key_id", &ecdsa_key::key_id, ecdsa_id)}),
    key_form(in, "ecdsa_public_key_result")};
  using ecdsa = sign_with_ecdsa_args;
  sign_with_ecdsa = {record_of<ecdsa>(in, "sign_with_ecdsa_args",
                                      {bound("message_hash", &ecdsa::message_hash, blob_form(in)),
                                       bound("derivation_path", &ecdsa::derivation_path, path),
                                       bound("key_id", &ecdsa::key_id, ecdsa_id)}),
                     signature_form(in, "sign_with_ecdsa_result")};
  using schnorr_key = schnorr_public_key_args;
  schnorr_public_key = {
    record_of<schnorr_key>(in, "schnorr_public_key_args",
                           {bound("canister_id", &schnorr_key::canister_id, owner),
                            bound("derivation_path", &schnorr_key::derivation_path, path),
                            bound("key_id", &schnorr_key::key_id, schnorr_id)}),
    key_form(in, "schnorr_public_key_result")};
  using schnorr = sign_with_schnorr_args;
  sign_with_schnorr = {
    record_of<schnorr>(in, "sign_with_schnorr_args",
                       {bound("message", &schnorr::message, blob_form(in)),
                        bound("derivation_path", &schnorr::derivation_path, path),
                        bound("key_id", &schnorr::key_id, schnorr_id),
                        bound("aux", &schnorr::aux, opt_of(in, aux_form(in)))}),
    signature_form(in, "sign_with_schnorr_result")};
}

void method_types::declare_node(declarations& in) {
  const auto metrics = record_of<node_metrics>(
    in, "node_metrics",
    {bound("node_id", &node_metrics::node_id, principal_form()),
     bound("num_blocks_proposed_total", &node_metrics::num_blocks_proposed_total, nat64_form()),
     bound("num_block_failures_total", &node_metrics::num_block_failures_total, nat64_form())});
  using day = node_metrics_entry;
  const auto entry =
    record_of<day>(in, {},
                   {bound("timestamp_nanos", &day::timestamp_nanos, nat64_form()),
                    bound("node_metrics", &day::node_metrics, vec_of(in, metrics))});
  using history = node_metrics_history_args;
  node_metrics_history = {
    record_of<history>(
      in, "node_metrics_history_args",
      {bound("subnet_id", &history::subnet_id, principal_form()),
       bound("start_at_timestamp_nanos", &history::start_at_timestamp_nanos, nat64_form())}),
    vec_of(in, entry)};
  subnet_info = {
    record_of<subnet_info_args>(
      in, "subnet_info_args", {bound("subnet_id", &subnet_info_args::subnet_id, principal_form())}),
    record_of<subnet_info_reply>(
      in, "subnet_info_result",
      {bound("replica_version", &subnet_info_reply::replica_version, text_form()),
       bound("registry_version", &subnet_info_reply::registry_version, nat64_form())})};
  const auto range =
    record_of<canister_id_range>(in, "canister_id_range",
                                 {bound("start", &canister_id_range::start, principal_form()),
                                  bound("end", &canister_id_range::end, principal_form())});
  list_canisters = {{},
                    record_of<list_canisters_reply>(
                      in, "list_canisters_result",
                      {bound("canisters", &list_canisters_reply::canisters, vec_of(in, range))})};
}

} // namespace moxzi::actors::management
