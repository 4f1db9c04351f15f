#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shapescript::lsp {

/// A message longer than this is skipped: a whole program of the largest size fits, escaped.
inline constexpr size_t message_bytes_max = 100u << 20;

/// A header line longer than this is no header line.
inline constexpr size_t header_bytes_max = 4096;

/// What arrived: a message's body, or what was wrong with its frame.
struct incoming {
  std::string body;
  std::string problem; ///< empty if the frame was right
};

/// Cuts a stream of bytes into messages, each `Content-Length: N`, an empty line and N bytes. After
/// a broken frame it goes on with the next header that it finds, so that no input ends it.
class message_reader {
public:
  /// Takes more of the stream and appends what is complete to `out`.
  void feed(std::string_view bytes, std::vector<incoming>& out);

private:
  bool take_header(std::vector<incoming>& out);
  bool take_body(std::vector<incoming>& out);
  void read_line(std::string_view line, std::vector<incoming>& out);

  std::string held_;
  size_t at_ = 0; // what of `held_` is used up
  bool in_body_ = false;
  bool has_length_ = false;
  bool garbage_ = false; // said once for a run of lines that are no header
  size_t length_ = 0;
  size_t skip_ = 0; // of a message that is too long
};

/// A body with the header that it is sent with.
std::string framed(std::string_view body);

} // namespace shapescript::lsp
