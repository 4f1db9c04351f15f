#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace moxzi::candid {

/// A place in JSON text (RFC 8259). Numbers are handed out as they are written, so that nothing is
/// rounded on the way. The first failure sticks.
class json_source {
public:
  /// A byte order mark before the text is passed over.
  explicit json_source(std::string_view text) noexcept : text_(text) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    if (text_.starts_with(mark)) text_.remove_prefix(mark.size());
  }

  /// The next character that is no blank; 0 at the end.
  char peek() noexcept;
  /// Takes the character if it is next.
  bool accept(char c) noexcept;
  bool expect(char c);
  /// `null`, `true` or `false`.
  bool accept_word(std::string_view word) noexcept;
  /// A string, escapes resolved; must be UTF-8 without lone surrogates.
  bool string(std::string& out);
  /// A number as written.
  bool number(std::string_view& out);
  /// Reads over any value.
  bool skip();
  /// The value that comes next, shortened, for messages.
  std::string glimpse();

  /// To be called around each array and object; false when they nest too deeply.
  bool enter();
  void leave() noexcept {
    --depth_;
  }

  bool at_end() noexcept {
    return peek() == '\0' && at_ == text_.size();
  }
  size_t position() const noexcept {
    return at_;
  }
  void rewind(size_t position) noexcept {
    at_ = position;
  }
  /// Why the text is no JSON; empty if nothing failed.
  const std::string& failure() const noexcept {
    return failure_;
  }
  bool fail(std::string_view reason);

private:
  bool escape(std::string& out);
  bool code_unit(uint32_t& out);
  bool skip_object();
  bool skip_array();

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string failure_;
};

/// The number in a key `_5_`, as fields without a name are written.
std::optional<uint32_t> id_of_key(std::string_view key) noexcept;

/// Appends a string in quotes.
void append_json_string(std::string& out, std::string_view text);

} // namespace moxzi::candid
