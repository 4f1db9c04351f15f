#include "actors/wasm/gunzip.hpp"

#include <algorithm>

#include <zlib.h>

#include "actors/wasm/module_info.hpp"

namespace moxzi::actors {

namespace {

constexpr int gzip_only = 16 + MAX_WBITS;
constexpr size_t piece_bytes = 1u << 20;

} // namespace

result<byte_string> gunzip(byte_view packed, size_t bytes_max) {
  z_stream stream{};
  if (inflateInit2(&stream, gzip_only) != Z_OK)
    return fail(wasm_errc::out_of_memory, "no memory to unpack the module");
  // zlib does not write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(std::min<size_t>(packed.size(), UINT32_MAX));
  byte_string out;
  int state = Z_OK;
  while (state == Z_OK && out.size() <= bytes_max) {
    const auto before = out.size();
    out.resize(before + piece_bytes);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = piece_bytes;
    state = inflate(&stream, Z_NO_FLUSH);
    out.resize(before + piece_bytes - stream.avail_out);
  }
  const bool is_whole = state == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  if (out.size() > bytes_max)
    return fail(wasm_errc::over_limit, "unpacked, the module has more than {} bytes", bytes_max);
  if (!is_whole) return fail(wasm_errc::invalid_module, "the gzip around the module is damaged");
  return out;
}

} // namespace moxzi::actors
