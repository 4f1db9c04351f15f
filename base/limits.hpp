#pragma once

#include <cstddef>
#include <cstdint>

/// Every limit of the product, with its reason.
namespace moxzi::limits {

// -- messages (the Internet Computer's own figures where it has one) -----------

/// Largest argument that enters from outside, and largest HTTP body.
inline constexpr size_t ingress_bytes_max = 2u << 20;
/// Largest argument of a call between actors of one machine.
inline constexpr size_t call_bytes_max = 10u << 20;
/// Largest reply of an update call.
inline constexpr size_t reply_bytes_max = 2u << 20;
/// Largest reply of a query.
inline constexpr size_t query_reply_bytes_max = 3u << 20;
/// Longest method name.
inline constexpr size_t method_name_bytes_max = 20'000;
/// Longest text of a reject.
inline constexpr size_t reject_text_bytes_max = 8u << 10;
/// Calls that may wait for one actor, and calls one actor may have open to one other.
inline constexpr size_t queue_length_max = 500;
/// Answers an actor remembers, so that a request sent twice is applied once, and their bytes.
inline constexpr size_t answers_kept_max = 1'000;
inline constexpr size_t answers_kept_bytes_max = 8u << 20;
/// Longest time a call with a bounded wait may wait (the Internet Computer caps at 300 s too).
inline constexpr uint32_t bounded_wait_seconds_max = 300;

// -- execution -----------------------------------------------------------------

/// wasm instructions (fuel) of one message; `--instruction-limit` changes the first.
inline constexpr uint64_t update_instructions_max = 40'000'000'000;
inline constexpr uint64_t query_instructions_max = 5'000'000'000;
inline constexpr uint64_t install_instructions_max = 300'000'000'000;
inline constexpr uint64_t inspect_instructions_max = 200'000'000;
/// Heap of one actor (`--heap-mb`) and its stable memory.
inline constexpr uint64_t heap_bytes_max = 6ull << 30;
inline constexpr uint64_t stable_bytes_max = 512ull << 30;
/// Between two heartbeats of an actor whose code has one.
inline constexpr uint64_t heartbeat_interval_ns = 1'000'000'000;
/// Module size, and what `debug_print` keeps.
inline constexpr size_t module_bytes_max = 100u << 20;
inline constexpr size_t debug_line_bytes_max = 32u << 10;

// -- Candid --------------------------------------------------------------------

/// What decoding may cost: this many steps for each byte of the message, and a share for all. A
/// step is a value, an entry of the type table, or a skipped byte.
inline constexpr size_t candid_steps_per_byte = 4;
inline constexpr size_t candid_steps_free = 50'000;
/// Entries of a message's type table; also at most half as many as the message has bytes.
inline constexpr size_t candid_types_max = 10'000;
/// Fields, tags, methods and parameters of all entries together.
inline constexpr size_t candid_members_max = 65'536;
/// How deep values, types and texts may nest.
inline constexpr int candid_depth_max = 512;
/// Values that take no bytes (null, reserved, empty records) in one message.
inline constexpr size_t candid_empty_values_max = 1'000'000;
/// Bits of one `nat` or `int`: printing one of this size takes well under a millisecond.
inline constexpr size_t candid_integer_bits_max = 65'536;
/// Text of one `.did` file.
inline constexpr size_t did_bytes_max = 1u << 20;
/// Values that one JSON body, or a reply shown as JSON, may have; one takes 40 bytes while it is
/// there, and a million some 50 ms. As many as `[1,1,…]` has in the largest body.
inline constexpr size_t json_values_max = 1u << 20;
/// Values that one text may have; one takes up to 240 bytes while it is read.
inline constexpr size_t text_values_max = 1u << 20;
/// Levels of arrays and objects in JSON, read or written.
inline constexpr int json_depth_max = 128;

// -- stopping ------------------------------------------------------------------

/// An execution that has not ended this long after the stop began is given up; the whole stop takes
/// at most 2 s.
inline constexpr uint32_t stop_grace_ms = 500;
/// A stop that has not ended by then is cut short; the rest of the 2 s is for the kernel, which
/// takes back gigabytes at some two a second.
inline constexpr uint32_t stop_budget_ms = 1'000;

// -- starting ------------------------------------------------------------------

/// Compiled modules kept between runs; letters.mo's takes 1.1 MB.
inline constexpr size_t cached_modules_max = 128;

// -- records -------------------------------------------------------------------

/// Inputs that a node without a state directory remembers.
inline constexpr size_t memory_journal_bytes_max = 64u << 20;

// -- HTTP ----------------------------------------------------------------------

/// A request's header, and its target.
inline constexpr size_t http_header_bytes_max = 16u << 10;
inline constexpr size_t http_target_bytes_max = 8u << 10;
/// Connections open at a time; more get 503.
inline constexpr size_t http_connections_max = 2'000;
/// Of these, what one address (of IPv6: one /64) may hold, and how many of its calls may wait at a
/// time: fewer than one actor's queue takes, so that nobody fills it alone.
inline constexpr size_t http_connections_per_client_max = 1'500;
inline constexpr size_t http_waiting_per_client_max = 400;
/// Calls that were asked for with `async=1`, or outlived their client's wait: how many are kept, by
/// one address, with how many bytes of answers, and how long after the answer. A call that is never
/// answered is forgotten after the last one.
inline constexpr size_t http_calls_kept_max = 1'000;
inline constexpr size_t http_calls_kept_per_client_max = 250;
inline constexpr size_t http_answers_kept_bytes_max = 64u << 20;
inline constexpr uint32_t http_answer_kept_ms = 300'000;
inline constexpr uint32_t http_call_kept_ms = 3'600'000;
/// Bytes of answers that clients have not taken yet: of one address, and of all. Answers of up to
/// `http_small_answer_bytes` do not count; a large one above the bounds becomes a 503.
inline constexpr size_t http_unsent_bytes_per_client_max = 64u << 20;
inline constexpr size_t http_unsent_bytes_max = 256u << 20;
inline constexpr size_t http_small_answer_bytes = 64u << 10;
/// From a request's first byte to the end of its header.
inline constexpr uint32_t http_header_timeout_ms = 10'000;
/// A connection between two requests is closed after this.
inline constexpr uint32_t http_idle_timeout_ms = 60'000;
/// Slower bodies are cut: a thousand slow clients must not hold the connections.
inline constexpr uint32_t http_body_bytes_per_second_min = 1'024;
/// A call that has no answer by then gets 504; `timeout_ms` may ask for less or up to this.
inline constexpr uint32_t call_timeout_ms = 300'000;

// -- metrics -------------------------------------------------------------------

/// Actors, and methods of each, that are counted by name; more are counted together.
inline constexpr size_t metric_actors_max = 1'000;
inline constexpr size_t metric_methods_max = 100;

// -- device --------------------------------------------------------------------

/// Operations of one program, and registers it may ask back.
inline constexpr size_t program_ops_max = 10'000;
/// Elements of one tensor: indices fit 32 bits in every library below.
inline constexpr int64_t tensor_elements_max = (int64_t{1} << 31) - 1;
/// Values in the argument of one call: the longest program, and parameters by the ten thousand.
inline constexpr size_t device_request_values_max = 500'000;
/// Type tables and programs of calls that are kept to be recognised: their bytes (read, they take
/// some fifteen times as much) and how many.
inline constexpr size_t device_interface_bytes_max = 2u << 20;
inline constexpr size_t device_interface_entries_max = 256;
/// Length of a parameter's or optimizer's name.
inline constexpr size_t device_name_bytes_max = 128;
/// Parameters and optimizers of one owner: what they cost beside their contents stays small.
inline constexpr size_t owner_names_max = 100'000;
/// Multiplications that making orthogonal contents may take (twice this many): half a minute.
inline constexpr double orthogonal_work_max = 0x1p34;
/// What a millisecond of the device costs where cycles are charged (`--device-cycles-per-ms`).
inline constexpr uint64_t device_cycles_per_ms = 100'000'000;
/// Device memory that kept plans may hold before the oldest are dropped.
inline constexpr uint64_t plan_bytes_max = 4ull << 30;

// -- the management canister ---------------------------------------------------

/// Parts of a derivation path, as on the Internet Computer.
inline constexpr size_t derivation_path_max = 255;
/// One chunk of a module, and how many one actor's store holds; as on the Internet Computer.
inline constexpr size_t chunk_bytes_max = 1u << 20;
inline constexpr size_t chunks_max = 100;

/// The wait for the list of all actors.
inline constexpr uint32_t list_timeout_ms = 10'000;

// -- outcalls ------------------------------------------------------------------

/// An outcall's URL, its headers (each name and value, all of them, how many), and headers and body
/// of its request or response together: the Internet Computer's figures.
inline constexpr size_t outcall_url_bytes_max = 8'192;
inline constexpr size_t outcall_header_bytes_max = 8u << 10;
inline constexpr size_t outcall_headers_bytes_max = 48u << 10;
inline constexpr size_t outcall_headers_max = 64;
inline constexpr size_t outcall_bytes_max = 2'000'000;
/// From the call to its whole response, and how many may be open.
inline constexpr uint32_t outcall_timeout_ms = 30'000;
inline constexpr size_t outcalls_open_max = 500;

} // namespace moxzi::limits
